import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.types import TP
from controlplane.groups.rules import (
    FIRST,
    NONE,
    REREAD,
    SKIP,
    STRATEGIES,
    PartitionFacts,
    plan_reset,
    plan_restore,
    totals,
)


def fact(committed, start=10, end=100, at=None, partition=0):
    return PartitionFacts(
        tp=TP("t", partition), committed=committed, log_start=start, log_end=end, at_timestamp=at
    )


CASES = [
    # committed, strategy, value, at_timestamp -> to, effect, records
    (50, "earliest", None, None, 10, REREAD, 40),
    (50, "latest", None, None, 100, SKIP, 50),
    (50, "shift", -20, None, 30, REREAD, 20),
    (50, "shift", -200, None, 10, REREAD, 40),
    (50, "shift", 500, None, 100, SKIP, 50),
    (50, "offset", 70, None, 70, SKIP, 20),
    (50, "offset", 5, None, 10, REREAD, 40),
    (50, "offset", 50, None, 50, NONE, 0),
    (50, "timestamp", 1, 60, 60, SKIP, 10),
    (50, "timestamp", 1, None, 100, SKIP, 50),
    (None, "earliest", None, None, 10, FIRST, 90),
    (None, "latest", None, None, 100, SKIP, 90),
    (None, "offset", 40, None, 40, SKIP, 30),
    (None, "timestamp", 1, 10, 10, FIRST, 90),
    (None, "shift", 5, None, None, NONE, 0),
    (3, "earliest", None, None, 10, NONE, 0),  # what lies below the log start is lost, not skipped
]


@pytest.mark.parametrize("case", CASES)
def test_targets_and_effects(case):
    committed, strategy, value, at, to, effect, records = case
    (row,) = plan_reset([fact(committed, at=at)], strategy=strategy, value=value)
    assert (row.to_offset, row.effect, row.records) == (to, effect, records)
    assert row.reason


@given(
    st.integers(0, 200) | st.none(),
    st.integers(0, 100),
    st.integers(0, 100),
    st.sampled_from(STRATEGIES),
    st.integers(-300, 300),
)
def test_targets_stay_in_the_log(committed, start, length, strategy, value):
    found = fact(committed, start, start + length, at=None)
    (row,) = plan_reset([found], strategy=strategy, value=value)
    if row.to_offset is not None:
        assert start <= row.to_offset <= start + length
    assert 0 <= row.records <= length
    assert (row.effect == NONE) == (row.records == 0)


@given(st.integers(10, 100) | st.none(), st.sampled_from(["earliest", "latest"]))
def test_restoring_a_reset_ends_where_it_began(committed, strategy):
    (row,) = plan_reset([fact(committed)], strategy=strategy, value=None)
    (back,) = plan_restore([fact(row.to_offset)], {TP("t", 0): row.from_offset})
    assert back.to_offset == committed


def test_totals():
    rows = plan_reset([fact(50, partition=0), fact(20, partition=1)], strategy="offset", value=40)
    assert (totals(rows).reread, totals(rows).skipped) == (10, 20)


def test_what_was_never_read_has_its_own_count():
    rows = plan_reset([fact(50), fact(None, partition=1)], strategy="offset", value=40)
    found = totals(rows)
    assert (found.reread, found.skipped, found.first_read, found.uncommitted) == (10, 30, 60, 1)


def test_without_a_commit_there_is_nothing_to_shift_from():
    (row,) = plan_reset([fact(None)], strategy="shift", value=-5)
    assert (row.to_offset, row.reason) == (None, "no commit to shift from")


def test_a_strategy_without_its_value_is_a_programmers_error():
    with pytest.raises(ValueError, match="needs a value"):
        plan_reset([fact(1)], strategy="shift", value=None)
