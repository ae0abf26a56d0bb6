"""Brings partitions in line with the brokers that live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster import znodes
from dataplane.cluster.context import NEVER_LED
from dataplane.cluster.failover import Changes, repair
from dataplane.ports.coordinator import Create

if TYPE_CHECKING:
    from dataplane.broker.controller.controller import Controller
    from dataplane.model.ids import TopicPartition


async def repair_partitions(controller: Controller, partitions: list[TopicPartition]) -> Changes:
    """Elect and shrink where it is needed, in ZooKeeper and in memory; nobody is told yet."""
    changes = repair(controller.context, partitions, controller.unclean_allowed)
    await _ensure_partition_nodes(controller, changes)
    return await controller.apply(changes)


async def _ensure_partition_nodes(controller: Controller, changes: Changes) -> None:
    """A topic whose creation was interrupted may lack the parents of its state nodes."""
    for partition in changes:
        state = controller.context.state(partition)
        if state is None or state.leader_epoch != NEVER_LED:
            continue
        for path in (
            znodes.partitions_path(partition.topic),
            znodes.partition_path(partition.topic, partition.partition),
        ):
            if await controller.coordinator.exists(path) is None:
                await controller.write([[Create(path)]])
