"""A few seeds in every test run, and every seed that has found a bug."""

from __future__ import annotations

import pytest

from tests.simulation.seeds import run_seed

SEEDS = (2, 4)

# Seeds that broke something once; README.md says what. Plans may have changed since: the unit test
# of each bug's class is what holds it.
REGRESSIONS = (3, 14, 17, 43, 46, 62, 114, 266)


@pytest.mark.parametrize("seed", sorted({*SEEDS, *REGRESSIONS}))
def test_no_violation(seed):
    result = run_seed(seed)
    assert not result.violations, f"again: make simulate SEEDS=1 SEED={seed}"
    assert result.counts.get("records read", 0) > 0
