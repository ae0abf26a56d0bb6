"""What becomes of partitions when brokers die or return, for any history."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster.context import NEVER_LED, ControllerContext
from dataplane.cluster.failover import imbalanced, repair
from dataplane.cluster.image import BrokerInfo
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState


def context(live, *partitions, topic="t"):
    made = ControllerContext(epoch=1, epoch_version=1)
    made.set_brokers({b: BrokerInfo(b, epoch=b) for b in live})
    made.add_topic(topic, uuid.uuid4())
    for state in partitions:
        made.put(TopicPartition(topic, state.index), state)
    return made


def p(index, leader, replicas, isr=None, epoch=0):
    return PartitionState(
        index=index, leader=leader, replicas=replicas, isr=isr or replicas, leader_epoch=epoch
    )


def everything(made):
    return [partition for partition, _ in made.partitions()]


def clean(_topic):
    return False


def test_only_what_does_not_fit_changes():
    made = context({1, 2}, p(0, 1, (1, 2)), p(1, 3, (3, 1)), p(2, 1, (1, 3)), p(3, 3, (3,)))
    changes = repair(made, everything(made), clean)
    assert {tp.partition for tp in changes} == {1, 2, 3}
    assert (changes["t", 1].leader, changes["t", 1].isr) == (1, (1,))
    assert (changes["t", 2].leader, changes["t", 2].isr) == (1, (1,))
    assert (changes["t", 3].leader, changes["t", 3].isr) == (-1, (3,))


def test_both_members_of_an_isr_may_come_back_first():
    made = context({9}, p(0, 1, (1, 2)))
    down = repair(made, everything(made), clean)
    made.put(TopicPartition("t", 0), down["t", 0])
    assert down["t", 0].isr == (1, 2)
    made.set_brokers({2: BrokerInfo(2)})
    assert repair(made, everything(made), clean)["t", 0].leader == 2


def test_topics_being_deleted_are_left_alone():
    made = context({1}, p(0, 2, (2, 1)))
    made.topics_to_be_deleted.add("t")
    assert repair(made, everything(made), clean) == {}


def test_never_led_partitions_get_a_first_leader():
    made = context({1, 2}, PartitionState(index=0, replicas=(3, 2), leader_epoch=NEVER_LED))
    assert repair(made, everything(made), clean)["t", 0].leader == 2


def test_imbalance_is_measured_per_broker():
    states = [p(n, 2 if n < 3 else 1, (1, 2)) for n in range(10)]
    made = context({1, 2}, *states)
    assert {tp.partition for tp in imbalanced(made, 10)} == {0, 1, 2}
    assert imbalanced(made, 30) == {}
    made.shutting_down.add(1)
    assert imbalanced(made, 10) == {}


@st.composite
def histories(draw):
    brokers = range(5)
    replicas = st.lists(st.sampled_from(brokers), min_size=1, max_size=3, unique=True).map(tuple)
    assigned = draw(st.lists(replicas, min_size=1, max_size=6))
    lives = draw(st.lists(st.frozensets(st.sampled_from(brokers)), min_size=1, max_size=8))
    return assigned, lives


@given(histories())
def test_whatever_comes_and_goes_leaders_are_live_in_sync_and_epochs_only_grow(history):
    assigned, lives = history
    made = context(range(5), *(p(n, r[0], r) for n, r in enumerate(assigned)))
    for live in lives:
        made.set_brokers({b: BrokerInfo(b) for b in live})
        before = dict(made.partitions())
        for partition, state in repair(made, everything(made), clean).items():
            made.put(partition, state)
            assert state.leader_epoch == before[partition].leader_epoch + 1
        for partition, state in made.partitions():
            assert state.isr
            if state.leader == -1:
                assert not set(state.isr) & live
            else:
                assert state.leader in live
                assert state.leader in state.isr
                assert set(state.isr) <= live
            # A clean election never takes a replica that was out of sync.
            assert set(state.isr) <= set(before[partition].isr)
        assert repair(made, everything(made), clean) == {}
