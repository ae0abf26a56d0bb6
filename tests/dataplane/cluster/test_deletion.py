"""Topic deletion: done when every replica says so, halted while one cannot."""

from __future__ import annotations

from dataplane.cluster.deletion import Replica, TopicDeletions
from dataplane.cluster.replica_states import ReplicaStatus
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

TP = TopicPartition("t", 0)


def partitions(**fields):
    return {0: PartitionState(index=0, replicas=(1, 2), **fields)}


def test_done_when_all_have_answered():
    deletions = TopicDeletions()
    told = deletions.start("t", partitions(), {1, 2})
    assert told == [Replica(TP, 1), Replica(TP, 2)]
    assert deletions.answered(1, [(TP, True)]) == set()
    assert deletions.answered(1, [(TP, True)]) == set()
    assert deletions.answered(2, [(TP, True)]) == {"t"}
    deletions.forget("t")
    assert deletions.answered(2, [(TP, True)]) == set()


def test_halted_by_a_dead_broker_until_it_is_back():
    deletions = TopicDeletions()
    assert deletions.start("t", partitions(), {1}) == [Replica(TP, 1)]
    assert deletions.status(Replica(TP, 2)) is ReplicaStatus.DELETION_INELIGIBLE
    deletions.answered(1, [(TP, True)])
    assert deletions.start("t", partitions(), {1}) == []
    assert deletions.start("t", partitions(), {1, 2}) == [Replica(TP, 2)]
    assert deletions.answered(2, [(TP, True)]) == {"t"}


def test_a_broker_that_dies_or_fails_meanwhile_is_asked_again():
    deletions = TopicDeletions()
    deletions.start("t", partitions(), {1, 2})
    deletions.broker_gone({1})
    assert deletions.answered(1, [(TP, True)]) == set()
    deletions.answered(2, [(TP, False)])
    assert deletions.start("t", partitions(), {1, 2}) == [Replica(TP, 1), Replica(TP, 2)]


def test_a_running_reassignment_is_waited_for():
    deletions = TopicDeletions()
    assert deletions.start("t", partitions(adding=(2,)), {1, 2}) == []
    assert deletions.start("t", partitions(), {1, 2}) != []
