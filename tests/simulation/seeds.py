"""Running seeds: one here, many over several processes."""

from __future__ import annotations

import gc
import sys
import warnings

from tests.simulation.simulation import Result, Simulation


def run_seed(seed: int, *, detail: bool = False) -> Result:
    """One seed in this process."""
    # What is thrown away with a dead broker would complain about being thrown away.
    sys.unraisablehook = lambda _unraisable: None
    warnings.simplefilter("ignore")
    result = Simulation(seed, detail=detail).run()
    gc.collect()
    return result


def run_traced(seed: int) -> Result:
    """A seed that fails runs again, for its trace in detail."""
    result = run_seed(seed)
    if result.violations:
        result = run_seed(seed, detail=True)
    else:
        result.trace = []
    return result
