"""Every move between group states that the table does not have is refused."""

import itertools

import pytest

from dataplane.groups.group import ClassicGroup
from dataplane.groups.states import LEGAL_MOVES, GroupState
from dataplane.model.transitions import IllegalTransitionError

KAFKA = {
    ("Empty", "PreparingRebalance"),
    ("Empty", "Dead"),
    ("PreparingRebalance", "CompletingRebalance"),
    ("PreparingRebalance", "Empty"),
    ("PreparingRebalance", "Dead"),
    ("CompletingRebalance", "Stable"),
    ("CompletingRebalance", "PreparingRebalance"),
    ("CompletingRebalance", "Dead"),
    ("Stable", "PreparingRebalance"),
    ("Stable", "Dead"),
    ("Dead", "Dead"),
}


@pytest.mark.parametrize(("before", "after"), list(itertools.product(GroupState, GroupState)))
def test_each_move_is_legal_or_refused(before, after):
    group = ClassicGroup("g", now_ms=0)
    group.state = before
    if (before.value, after.value) in KAFKA:
        group.move_to(after, now_ms=7)
        assert group.state is after
        assert group.state_timestamp_ms == 7
    else:
        with pytest.raises(IllegalTransitionError, match=f"from {before.value} to {after.value}"):
            group.move_to(after, now_ms=7)
        assert group.state is before


def test_every_state_has_a_row():
    assert set(LEGAL_MOVES) == set(GroupState)
