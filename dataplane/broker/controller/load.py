"""Reads the cluster's truth from ZooKeeper, many nodes at a time."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.cluster.image import ZERO_UUID
from dataplane.cluster.topic_changes import assigned_states

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.failover import Changes
    from dataplane.cluster.image import BrokerInfo
    from dataplane.model.ids import TopicPartition
    from dataplane.model.partition import PartitionState
    from dataplane.ports.coordinator import Coordinator

log = logging.getLogger(__name__)


async def load_brokers(coordinator: Coordinator) -> dict[int, BrokerInfo]:
    """The registered brokers. One that vanishes between the two reads is left out."""
    names = await coordinator.children(znodes.BROKER_IDS)
    ids = [(int(name), znodes.broker_path(int(name))) for name in names if name.isdigit()]
    return {
        broker: znodes.decode_broker(broker, data, stat.czxid)
        for broker, (data, stat) in (await read_all(coordinator, ids)).items()
    }


async def load_topics(
    coordinator: Coordinator, context: ControllerContext, only: Sequence[str] | None = None
) -> None:
    """Topics, assignments, partition states and the marks of deletion, into `context`.

    With `only` no more than these topics.
    """
    names = await coordinator.children(znodes.TOPICS) if only is None else only
    nodes = await read_all(coordinator, [(name, znodes.topic_path(name)) for name in names])
    assigned: Changes = {}
    for name, (data, _) in nodes.items():
        node = znodes.decode_topic(data)
        context.add_topic(name, node.topic_id or ZERO_UUID)
        assigned.update(assigned_states(name, node))
    for partition, state in (await load_states(coordinator, assigned)).items():
        context.put(partition, state)
    if only is not None:
        return
    marked = await coordinator.children(znodes.DELETE_TOPICS)
    context.topics_to_be_deleted = {name for name in marked if name in context.topics}
    for name in set(marked) - context.topics_to_be_deleted:
        log.info("topic %s is marked for deletion but gone already", name)
        context.add_topic(name, ZERO_UUID)
        context.topics_to_be_deleted.add(name)


async def load_states(
    coordinator: Coordinator, assigned: Mapping[TopicPartition, PartitionState]
) -> dict[TopicPartition, PartitionState]:
    """What the partitions' state nodes say; a partition without one stays as it is given."""
    found = await read_all(
        coordinator, [(tp, znodes.state_path(tp.topic, tp.partition)) for tp in assigned]
    )
    return {
        partition: znodes.decode_state(state, found[partition][0], found[partition][1].version)
        if partition in found
        else state
        for partition, state in assigned.items()
    }
