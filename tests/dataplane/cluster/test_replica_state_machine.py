"""Topic deletion: done when every replica says so, halted while one cannot."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster.replica_state_machine import PartitionAndReplica, ReplicaStateMachine
from dataplane.cluster.replica_states import ReplicaStatus
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

TP = TopicPartition("t", 0)


def partitions(**fields):
    return {0: PartitionState(index=0, replicas=(1, 2), **fields)}


def test_done_when_all_have_answered():
    deletions = ReplicaStateMachine()
    started = deletions.start("t", partitions(), {1, 2})
    assert started == [PartitionAndReplica(TP, 1), PartitionAndReplica(TP, 2)]
    assert deletions.answered(1, [(TP, True)]) == set()
    assert deletions.answered(1, [(TP, True)]) == set()
    assert deletions.answered(2, [(TP, True)]) == {"t"}
    deletions.forget("t")
    assert deletions.answered(2, [(TP, True)]) == set()


def test_halted_by_a_dead_broker_until_it_is_back():
    deletions = ReplicaStateMachine()
    assert deletions.start("t", partitions(), {1}) == [PartitionAndReplica(TP, 1)]
    assert deletions.status(PartitionAndReplica(TP, 2)) is ReplicaStatus.DELETION_INELIGIBLE
    deletions.answered(1, [(TP, True)])
    assert deletions.start("t", partitions(), {1}) == []
    assert deletions.start("t", partitions(), {1, 2}) == [PartitionAndReplica(TP, 2)]
    assert deletions.answered(2, [(TP, True)]) == {"t"}


def test_a_broker_that_dies_or_fails_meanwhile_is_asked_again():
    deletions = ReplicaStateMachine()
    deletions.start("t", partitions(), {1, 2})
    deletions.broker_gone({1})
    assert deletions.answered(1, [(TP, True)]) == set()
    deletions.answered(2, [(TP, False)])
    assert deletions.start("t", partitions(), {1, 2}) == [
        PartitionAndReplica(TP, 1),
        PartitionAndReplica(TP, 2),
    ]


def test_a_running_reassignment_is_waited_for():
    deletions = ReplicaStateMachine()
    assert deletions.start("t", partitions(adding=(2,)), {1, 2}) == []
    assert deletions.start("t", partitions(), {1, 2}) != []


def test_a_failed_directory_halts_until_it_is_back():
    deletions = ReplicaStateMachine()
    lost = PartitionAndReplica(TP, 2)
    assert deletions.start("t", partitions(), {1, 2}, [lost]) == [PartitionAndReplica(TP, 1)]
    assert deletions.status(lost) is ReplicaStatus.DELETION_INELIGIBLE
    assert deletions.start("t", partitions(), {1, 2}) == [lost]
    deletions.replicas_lost(2, {TP})
    assert deletions.status(lost) is ReplicaStatus.DELETION_INELIGIBLE
    assert deletions.answered(2, [(TP, True)]) == set()  # what was said before it was lost
    assert deletions.start("t", partitions(), {1, 2}, [lost]) == []
    deletions.answered(1, [(TP, True)])
    assert deletions.start("t", partitions(), {1, 2}) == [lost]
    assert deletions.answered(2, [(TP, True)]) == {"t"}


EVENTS = st.lists(
    st.tuples(st.sampled_from(("die", "return", "lose", "yes", "no", "resume")), st.integers(1, 3)),
    max_size=30,
)


@given(EVENTS)
def test_whatever_halts_it_a_deletion_ends_when_everybody_is_back(events):
    deletions = ReplicaStateMachine()
    states = {i: PartitionState(index=i, replicas=(1, 2, 3)) for i in range(2)}
    tps = [TopicPartition("t", index) for index in states]
    live, offline, finished = {1, 2, 3}, set(), False
    deletions.start("t", states, live)
    for event, broker in events:
        if event == "die":
            live.discard(broker)
            offline = {replica for replica in offline if replica.broker != broker}
            deletions.broker_gone([broker])
        elif event == "return":
            live.add(broker)
            deletions.start("t", states, live, offline)
        elif event == "lose" and broker in live:
            offline.add(PartitionAndReplica(tps[0], broker))
            deletions.replicas_lost(broker, {tps[0]})
        elif event in {"yes", "no"} and broker in live:
            finished |= deletions.answered(broker, [(tp, event == "yes") for tp in tps]) == {"t"}
        elif event == "resume":
            for started in deletions.start("t", states, live, offline):
                assert started.broker in live
                assert started not in offline
    if finished:
        assert deletions.is_done("t")
        return
    deletions.start("t", states, {1, 2, 3})
    for broker in (1, 2, 3):
        finished |= deletions.answered(broker, [(tp, True) for tp in tps]) == {"t"}
    assert finished
