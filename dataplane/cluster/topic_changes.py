"""What a topic's node says that the controller does not know yet."""

from __future__ import annotations

from collections.abc import Iterable

from dataplane.cluster.context import NEVER_LED, ControllerContext
from dataplane.cluster.failover import Changes
from dataplane.cluster.znodes import TopicNode
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState


def assigned_states(topic: str, node: TopicNode) -> Changes:
    """The node's partitions before their state nodes are read."""
    return {
        TopicPartition(topic, index): PartitionState(
            index=index,
            replicas=replicas,
            adding=node.adding.get(index, ()),
            removing=node.removing.get(index, ()),
            leader_epoch=NEVER_LED,
        )
        for index, replicas in node.replicas.items()
    }


def added_partitions(context: ControllerContext, topic: str, node: TopicNode) -> Changes:
    """Partitions that somebody else has written into the node of a topic that is under control.

    As in Kafka nothing else that may have changed there is looked at.
    """
    held = context.topics[topic].partitions
    return {
        TopicPartition(topic, index): PartitionState(
            index=index, replicas=replicas, leader_epoch=NEVER_LED
        )
        for index, replicas in node.replicas.items()
        if index not in held
    }


def never_led(context: ControllerContext) -> set[TopicPartition]:
    """Partitions that have no state node, because no replica was live when they were made."""
    return {p for p, state in context.partitions() if state.leader_epoch == NEVER_LED}


def replicas_without_data(
    context: ControllerContext, partitions: Iterable[TopicPartition]
) -> set[tuple[TopicPartition, int]]:
    """Replicas of those among the partitions that never had a leader."""
    return {
        (partition, replica)
        for partition in partitions
        if (state := context.state(partition)) is not None and state.leader_epoch == NEVER_LED
        for replica in state.replicas
    }
