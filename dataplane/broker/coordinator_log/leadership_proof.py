"""Proof that this broker leads a partition now, before something is answered from memory alone.

A leader that was deposed and does not know it yet (its session expired, or the controller cannot
reach it) cannot commit a write: its followers follow somebody else. But it can answer reads, and
what it has in memory may be older than what its successor has acknowledged. For committed offsets
that means to go back, and for a transactional consumer to process records again. So they are read
as they are written, by agreement: ZooKeeper names every leader before it leads.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.cluster import znodes
from dataplane.model.errors import ErrorCode
from dataplane.model.partition import PartitionState
from dataplane.ports.coordinator import BadVersionError, Check, CoordinatorError, NoNodeError

if TYPE_CHECKING:
    from dataplane.broker.replicas.partition import Partition
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.coordinator import Coordinator

_log = logging.getLogger(__name__)

TIMEOUT_S: Final = 2.0


class LeadershipProof:
    """One question to ZooKeeper at a time for each partition; who comes meanwhile shares the next.

    So there are two tasks for each partition at most, however many ask.
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._running: dict[TopicPartition, asyncio.Task[ErrorCode]] = {}
        self._next: dict[TopicPartition, asyncio.Task[ErrorCode]] = {}

    @property
    def under_way(self) -> int:
        """Questions that are asked, or about to be."""
        return len(self._running) + len(self._next)

    async def ask(self, partition: Partition) -> ErrorCode:
        """NONE if the partition was led here at a moment after the call.

        NOT_COORDINATOR when somebody else leads it; COORDINATOR_LOAD_IN_PROGRESS when ZooKeeper
        does not say, or knows of an epoch in which this broker is about to lead it.
        """
        topic_partition = partition.topic_partition
        task = self._next.get(topic_partition)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._in_turn(partition))
            self._next[topic_partition] = task
        return await asyncio.shield(task)

    async def _in_turn(self, partition: Partition) -> ErrorCode:
        topic_partition = partition.topic_partition
        earlier = self._running.get(topic_partition)
        if earlier is not None:
            await asyncio.wait((earlier,))
        self._running[topic_partition] = self._next.pop(topic_partition)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._answer(partition)
        except (CoordinatorError, TimeoutError) as error:
            _log.debug("whether %s is led here: %r", topic_partition, error)
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        finally:
            del self._running[topic_partition]

    async def _answer(self, partition: Partition) -> ErrorCode:
        core, topic_partition = partition.core, partition.topic_partition
        if core is None:
            return ErrorCode.NOT_COORDINATOR
        path = znodes.state_path(topic_partition.topic, topic_partition.partition)
        try:
            # A check goes through ZooKeeper's own leader, where a read may be behind.
            await self._coordinator.multi([Check(path, core.partition_epoch)])
        except NoNodeError:
            return ErrorCode.NOT_COORDINATOR
        except BadVersionError:
            data, stat = await self._coordinator.get(path)
            assigned = PartitionState(index=topic_partition.partition)
            state = znodes.decode_state(assigned, data, stat.version)
            if state.leader != core.broker_id:
                return ErrorCode.NOT_COORDINATOR
            if state.leader_epoch != core.leader_epoch:
                return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return ErrorCode.NONE if partition.core is core else ErrorCode.NOT_COORDINATOR
