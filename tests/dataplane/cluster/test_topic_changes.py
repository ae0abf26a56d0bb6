"""What a topic's node adds to what the controller knows."""

from __future__ import annotations

from dataplane.cluster.context import NEVER_LED
from dataplane.cluster.topic_changes import (
    added_partitions,
    assigned_states,
    never_led,
    replicas_without_data,
)
from dataplane.cluster.znodes import TopicNode
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from tests.dataplane.cluster.test_failover import context, p

NODE = TopicNode(None, {0: (1, 2), 1: (2, 3)}, adding={1: (3,)}, removing={1: (2,)})


def test_a_node_says_who_holds_what_and_nobody_has_led_yet():
    states = assigned_states("t", NODE)
    assert states == {
        TopicPartition("t", 0): PartitionState(index=0, replicas=(1, 2), leader_epoch=NEVER_LED),
        TopicPartition("t", 1): PartitionState(
            index=1, replicas=(2, 3), adding=(3,), removing=(2,), leader_epoch=NEVER_LED
        ),
    }


def test_only_what_is_not_held_is_added():
    made = context({1, 2}, p(0, 1, (1, 3)))
    added = added_partitions(made, "t", NODE)
    assert list(added) == [TopicPartition("t", 1)]
    assert not added["t", 1].is_reassigning


def test_replicas_of_partitions_that_never_had_a_leader_have_no_data():
    made = context({1, 2}, p(0, 1, (1, 2)))
    made.put(TopicPartition("t", 1), added_partitions(made, "t", NODE)["t", 1])
    fresh = TopicPartition("t", 1)
    everything = [TopicPartition("t", 0), fresh, TopicPartition("t", 9)]
    assert never_led(made) == {fresh}
    assert replicas_without_data(made, everything) == {(fresh, 2), (fresh, 3)}
