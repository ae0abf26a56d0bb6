"""The controller deletes topics: their replicas first, then their nodes."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.cluster.replica_state_machine import PartitionAndReplica
from dataplane.cluster.requests import DELETE_REGARDLESS_OF_EPOCH, Stop
from dataplane.cluster.topic_deletion import offline_replicas, refusals
from dataplane.cluster.writes import split, topic_node_paths
from dataplane.model.ids import TopicPartition
from dataplane.ports.coordinator import Create, Delete

if TYPE_CHECKING:
    import uuid
    from collections.abc import Collection, Mapping, Sequence

    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.offline_replicas import OfflineReplicaRetries
    from dataplane.cluster.replica_state_machine import ReplicaStateMachine
    from dataplane.cluster.responses import DeletionResults
    from dataplane.model.errors import KafkaError

log = logging.getLogger(__name__)


class TopicDeletionManager:
    """Which topics are to be deleted is in the context, which of their replicas have been is in
    the replica state machine; here are the futures of those who wait for it.
    """

    def __init__(
        self,
        context: ControllerContext,
        zk: ControllerZkClient,
        batch: ControllerBrokerRequestBatch,
        replica_states: ReplicaStateMachine,
        retries: OfflineReplicaRetries,
    ) -> None:
        self._context = context
        self._zk = zk
        self._batch = batch
        self._replica_states = replica_states
        self._retries = retries
        self._waiters: dict[str, list[asyncio.Future[None]]] = {}

    def stop(self) -> None:
        """Nobody is waited for any more: the next controller goes on."""
        for waiters in self._waiters.values():
            for waiter in waiters:
                waiter.cancel()

    async def delete_topics(
        self, asked: Mapping[str, uuid.UUID]
    ) -> dict[str, asyncio.Future[None] | KafkaError]:
        """Mark topics for deletion and begin. A future ends when its topic is gone from ZooKeeper.

        `asked`: topic ids by name, zero for whatever topic has the name.
        """
        results: dict[str, asyncio.Future[None] | KafkaError] = {}
        refused = refusals(self._context, asked)
        marked = []
        for name in asked:
            if name in refused:
                results[name] = refused[name]
                continue
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.setdefault(name, []).append(waiter)
            results[name] = waiter
            if not self._context.is_queued_for_deletion(name):
                marked.append(name)
        await self._zk.write([[Create(znodes.delete_topic_path(name))] for name in marked])
        for name in marked:
            log.info("deleting topic %s", name)
        await self.enqueue(marked)
        return results

    async def enqueue(self, marked: Collection[str]) -> None:
        """Begin with topics whose marks are in ZooKeeper."""
        self._context.topics_to_be_deleted.update(marked)
        await self.start(list(marked))

    async def start(self, names: Sequence[str], *, tries_offline: bool = False) -> None:
        """Have the replicas of marked topics deleted, as far as nothing holds that up now.

        `tries_offline`: also those whose log directory had failed; it may have healed.
        """
        stop = Stop(DELETE_REGARDLESS_OF_EPOCH, delete=True)
        context = self._context
        for name in names:
            partitions = context.topics[name].partitions
            offline = set() if tries_offline else offline_replicas(context, name)
            if context.is_deletion_started(name):
                self._batch.enqueue_update_metadata(
                    TopicPartition(name, index) for index in partitions
                )
            for replica in self._replica_states.start(name, partitions, context.live, offline):
                self._batch.enqueue_stop_replica(replica.partition, [replica.broker], stop)
        self._batch.send()
        await self._remove_nodes([n for n in names if self._replica_states.is_done(n)])

    async def resume(self) -> None:
        """Deletions that waited for a broker, for a reassignment, or for a controller."""
        await self.start(sorted(self._context.topics_to_be_deleted))

    async def replicas_deleted(self, broker: int, results: DeletionResults) -> None:
        """A broker has answered StopReplica. What it could not delete it is asked again later."""
        failed = {
            partition
            for partition, succeeded in results
            if not succeeded
            and self._replica_states.is_started(PartitionAndReplica(partition, broker))
        }
        if broker in self._context.brokers:
            lost, _back = self._context.replicas_answered(broker, failed, ())
            if lost:
                self._retries.reset()
        await self._remove_nodes(sorted(self._replica_states.answered(broker, results)))

    async def _remove_nodes(self, names: Sequence[str]) -> None:
        """Topics whose data is gone leave ZooKeeper. What is there is looked up, not remembered: an
        interrupted removal has left any part of it.
        """
        if not names:
            return
        paths = {
            name: topic_node_paths(name, sorted(self._context.topics[name].partitions))
            for name in names
        }
        found = await read_all(
            self._zk.coordinator, [(path, path) for those in paths.values() for path in those]
        )
        groups = [[Delete(path) for path in those if path in found] for those in paths.values()]
        await self._zk.write(piece for group in groups for piece in split(group))
        for name in names:
            self._replica_states.forget(name)
            self._context.remove_topic(name)
            log.info("deleted topic %s", name)
            for waiter in self._waiters.pop(name, []):
                if not waiter.done():
                    waiter.set_result(None)
