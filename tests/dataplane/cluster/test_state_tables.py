"""The partition and replica tables: every legal move is allowed, every other one raises."""

from __future__ import annotations

import itertools

import pytest

from dataplane.cluster import partition_states, replica_states
from dataplane.cluster.partition_states import PartitionStatus, status_of
from dataplane.cluster.replica_states import ReplicaStatus
from dataplane.model.partition import PartitionState
from dataplane.model.transitions import IllegalTransitionError

PARTITION_MOVES = list(itertools.product(PartitionStatus, PartitionStatus))
REPLICA_MOVES = list(itertools.product(ReplicaStatus, ReplicaStatus))

# Written out once more, from Kafka's documentation, so that the code's table has a witness.
PARTITION_LEGAL = {
    ("NonExistent", "New"),
    ("New", "Online"),
    ("Online", "Online"),
    ("Offline", "Online"),
    ("New", "Offline"),
    ("Online", "Offline"),
    ("Offline", "Offline"),
    ("Offline", "NonExistent"),
}
REPLICA_LEGAL = {
    ("NonExistent", "New"),
    *(
        (before, after)
        for before in ("New", "Online", "Offline", "DeletionIneligible")
        for after in ("Online", "Offline")
    ),
    ("Offline", "DeletionStarted"),
    ("DeletionStarted", "DeletionSuccessful"),
    ("Offline", "DeletionIneligible"),
    ("DeletionStarted", "DeletionIneligible"),
    ("DeletionSuccessful", "NonExistent"),
}


@pytest.mark.parametrize(("before", "after"), PARTITION_MOVES)
def test_partition_moves(before, after):
    if (before.value, after.value) in PARTITION_LEGAL:
        partition_states.check_transition("t-0", before, after)
    else:
        with pytest.raises(IllegalTransitionError, match=f"{before.value} → {after.value}"):
            partition_states.check_transition("t-0", before, after)


@pytest.mark.parametrize(("before", "after"), REPLICA_MOVES)
def test_replica_moves(before, after):
    if (before.value, after.value) in REPLICA_LEGAL:
        replica_states.check_transition("t-0@1", before, after)
    else:
        with pytest.raises(IllegalTransitionError, match=f"{before.value} → {after.value}"):
            replica_states.check_transition("t-0@1", before, after)


def test_status_follows_from_state_and_live_brokers():
    state = PartitionState(index=0, leader=1, replicas=(1, 2), isr=(1, 2))
    assert status_of(None, {1}) is PartitionStatus.NON_EXISTENT
    assert status_of(PartitionState(index=0, leader_epoch=-1), {1}) is PartitionStatus.NEW
    assert status_of(state, {1}) is PartitionStatus.ONLINE
    assert status_of(state, {2}) is PartitionStatus.OFFLINE
