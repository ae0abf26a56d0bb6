"""What may be done about a reassignment, and when: every other combination raises."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from dataplane.cluster import reassignment
from dataplane.cluster.reassignment_states import (
    VALID_AFTER,
    VALID_BEFORE,
    Move,
    ReassignmentStatus,
    check_move,
    check_outcome,
    status_of,
)
from dataplane.model.partition import PartitionState
from dataplane.model.transitions import IllegalTransitionError

ALL = frozenset(range(6))
STATES = {
    ReassignmentStatus.SETTLED: PartitionState(index=0, leader=1, replicas=(1, 2), isr=(1, 2)),
    ReassignmentStatus.COPYING: PartitionState(
        index=0, leader=1, replicas=(3, 2, 1), isr=(1, 2), adding=(3,), removing=(1,)
    ),
    ReassignmentStatus.CAUGHT_UP: PartitionState(
        index=0, leader=1, replicas=(3, 2, 1), isr=(1, 2, 3), adding=(3,), removing=(1,)
    ),
}

# Written out once more, so that the code's table has a witness.
BEFORE = {
    ("Settled", "begin"),
    ("Copying", "replace"),
    ("CaughtUp", "replace"),
    ("Copying", "cancel"),
    ("CaughtUp", "cancel"),
    ("CaughtUp", "complete"),
}
AFTER = {
    *(("begin", status.value) for status in ReassignmentStatus),
    *(("replace", status.value) for status in ReassignmentStatus),
    ("cancel", "Settled"),
    ("complete", "Settled"),
}


@pytest.mark.parametrize("status", ReassignmentStatus)
def test_the_status_follows_from_the_replica_sets(status):
    assert status_of(STATES[status]) is status


@pytest.mark.parametrize(("status", "move"), list(itertools.product(ReassignmentStatus, Move)))
def test_what_may_be_done_when(status, move):
    if (status.value, move.value) in BEFORE:
        check_move(STATES[status], move)
    else:
        with pytest.raises(IllegalTransitionError, match=f"{move.value} while {status.value}"):
            check_move(STATES[status], move)


@pytest.mark.parametrize(("move", "status"), list(itertools.product(Move, ReassignmentStatus)))
def test_where_a_move_may_lead(move, status):
    if (move.value, status.value) in AFTER:
        check_outcome(move, STATES[status])
    else:
        with pytest.raises(IllegalTransitionError, match=f"{move.value} → {status.value}"):
            check_outcome(move, STATES[status])


def test_every_move_has_its_rows():
    assert set(VALID_BEFORE) == set(VALID_AFTER) == set(Move)


@pytest.mark.parametrize("status", ReassignmentStatus)
def test_cancel_and_complete_obey_the_table(status):
    for move, work in ((Move.CANCEL, reassignment.cancel), (Move.COMPLETE, reassignment.complete)):
        if (status.value, move.value) in BEFORE:
            after = work(STATES[status], ALL)
            assert status_of(after) is ReassignmentStatus.SETTLED
            assert after.leader_epoch == STATES[status].leader_epoch + 1
        else:
            with pytest.raises(IllegalTransitionError):
                work(STATES[status], ALL)


def test_a_replica_that_falls_behind_again_is_waited_for_again():
    behind = dataclasses.replace(STATES[ReassignmentStatus.CAUGHT_UP], isr=(1, 2))
    assert not reassignment.is_complete(behind)
    with pytest.raises(IllegalTransitionError):
        reassignment.complete(behind, ALL)


def test_cancelled_after_it_caught_up_the_new_replica_goes_and_the_old_ones_stay():
    back = reassignment.cancel(STATES[ReassignmentStatus.CAUGHT_UP], ALL)
    assert (back.replicas, back.isr, back.leader) == ((2, 1), (1, 2), 1)
