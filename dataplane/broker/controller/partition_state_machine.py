"""Changes of partition states: written to ZooKeeper, taken up in memory, sent to brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster import znodes
from dataplane.cluster.context import NEVER_LED
from dataplane.cluster.election import is_unclean
from dataplane.cluster.failover import Changes, repair
from dataplane.cluster.writes import stamped, state_groups
from dataplane.ports.coordinator import Create

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.context import ControllerContext
    from dataplane.model.ids import TopicPartition


class PartitionStateMachine:
    """The one place that changes the states of partitions under control.

    Its methods raise ControllerMovedError and OutcomeUnknownError; then the context has not
    changed. `unclean_allowed(topic)`: whether a replica that is not in sync may lead;
    `on_unclean(partition)`: one leads now, and records may be lost.
    """

    def __init__(
        self,
        context: ControllerContext,
        zk: ControllerZkClient,
        batch: ControllerBrokerRequestBatch,
        on_unclean: Callable[[TopicPartition], None],
        *,
        unclean_allowed: Callable[[str], bool],
    ) -> None:
        self._context = context
        self._zk = zk
        self._batch = batch
        self._unclean_allowed = unclean_allowed
        self._on_unclean = on_unclean

    async def apply(self, changes: Changes, *, assignments: bool = False) -> Changes:
        """Write new states and take them up; nothing is enqueued yet. Returns them as written.

        With `assignments` the replica sets changed too: the topics' nodes are written in the same
        multi as their partitions' states.
        """
        written = stamped(self._context, changes)
        await self._zk.write(state_groups(self._context, written, assignments=assignments))
        for partition, state in written.items():
            before = self._context.state(partition)
            self._context.put(partition, state)
            if before is not None and is_unclean(before, state):
                self._on_unclean(partition)
        return written

    async def commit(
        self,
        changes: Changes,
        *,
        assignments: bool = False,
        new_on: Collection[tuple[TopicPartition, int]] = (),
        metadata_only: bool = False,
    ) -> None:
        """Write new states, take them up, send them to the brokers.

        `new_on`: replicas that have no data yet. `metadata_only`: the leader knows by itself.
        """
        if not changes:
            return
        written = await self.apply(changes, assignments=assignments)
        if metadata_only:
            self._batch.enqueue_update_metadata(written)
        else:
            self._batch.enqueue(written, new_on=new_on)
        self._batch.send()

    def decide_repairs(self, partitions: Iterable[TopicPartition]) -> Changes:
        """What must change for these partitions to fit the live brokers; nothing is written."""
        return repair(self._context, partitions, self._unclean_allowed)

    async def repair(self, partitions: Iterable[TopicPartition]) -> Changes:
        """Elect and shrink where it is needed, as `apply` does; nothing is enqueued yet."""
        changes = self.decide_repairs(partitions)
        await self._ensure_partition_nodes(changes)
        return await self.apply(changes)

    async def _ensure_partition_nodes(self, changes: Changes) -> None:
        """A topic whose creation was interrupted may lack the parents of its state nodes."""
        for partition in changes:
            state = self._context.state(partition)
            if state is None or state.leader_epoch != NEVER_LED:
                continue
            for path in (
                znodes.partitions_path(partition.topic),
                znodes.partition_path(partition.topic, partition.partition),
            ):
                if await self._zk.coordinator.exists(path) is None:
                    await self._zk.write([[Create(path)]])
