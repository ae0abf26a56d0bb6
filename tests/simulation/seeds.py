"""Running seeds: one here, many over several processes."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable

from tests.simulation.simulation import Result, Simulation


def run_seed(
    seed: int, *, detail: bool = False, prepare: Callable[[Simulation], None] | None = None
) -> Result:
    """One seed in this process. `prepare` may add to the simulation, and must not keep it."""
    hook = sys.unraisablehook
    # What is thrown away with a dead broker would complain about being thrown away.
    sys.unraisablehook = lambda _unraisable: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim = Simulation(seed, detail=detail)
            if prepare is not None:
                prepare(sim)
            result = sim.run()
            del sim
            gc.collect()
    finally:
        sys.unraisablehook = hook
    return result


def run_traced(seed: int) -> Result:
    """A seed that fails runs again, for its trace in detail, and has to do the same."""
    result = run_seed(seed)
    if not result.violations:
        result.trace = []
        return result
    again = run_seed(seed, detail=True)
    if again.digest != result.digest:
        again.violations += [*result.violations, "determinism: the second run did something else"]
    return again
