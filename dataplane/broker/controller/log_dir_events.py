"""The controller learns which replicas cannot be served, because a log directory has failed.

A broker leaves a notification; it is asked about every replica that it has, by LeaderAndIsr, and
those whose directory has failed answer KAFKA_STORAGE_ERROR. They are offline from then on: they
lead nothing, leave the ISR and may not join it. A controller that takes over learns the same from
the answers to its first LeaderAndIsr.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.metadata.log_dir_events import decode_event
from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.cluster.offline_replicas import questions
from dataplane.cluster.writes import split
from dataplane.ports.coordinator import Delete, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.broker.controller.partition_reassignment import PartitionReassignment
    from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.broker.controller.topic_deletion_manager import TopicDeletionManager
    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.offline_replicas import OfflineReplicaRetries
    from dataplane.cluster.replica_state_machine import ReplicaStateMachine
    from dataplane.cluster.responses import LeaderAndIsrResult
    from dataplane.ports.clock import Clock

log = logging.getLogger(__name__)


class LogDirEventNotifications:
    """Reads and removes the notifications in ZooKeeper."""

    def __init__(
        self,
        context: ControllerContext,
        zk: ControllerZkClient,
        batch: ControllerBrokerRequestBatch,
    ) -> None:
        self._context = context
        self._zk = zk
        self._batch = batch

    async def forget(self) -> None:
        """At a take-over: everybody is asked about everything anyway."""
        await self._remove(await self._paths())

    async def notified(self) -> None:
        """Ask those who left a notification about all their replicas, and remove it."""
        paths = await self._paths()
        found = await read_all(self._zk.coordinator, [(path, path) for path in paths])
        brokers: set[int] = set()
        for path, (data, _) in found.items():
            try:
                brokers.add(decode_event(data))
            except (ValueError, KeyError, TypeError) as error:
                log.warning("notification %s cannot be understood: %s", path, error)
        for broker in sorted(brokers):
            log.info("broker %d has lost a log directory", broker)
            for partition in self._context.partitions_on([broker]):
                self._batch.enqueue_leader_and_isr(partition, broker)
        self._batch.send()
        await self._remove(found)

    async def _paths(self) -> list[str]:
        try:
            names = await self._zk.coordinator.children(znodes.LOG_DIR_EVENTS)
        except NoNodeError:
            return []
        return [f"{znodes.LOG_DIR_EVENTS}/{name}" for name in sorted(names)]

    async def _remove(self, paths: Iterable[str]) -> None:
        await self._zk.write(split([Delete(path) for path in paths]))


class OfflineReplicas:
    """Replicas go offline and come back by the answers to LeaderAndIsr."""

    def __init__(
        self,
        context: ControllerContext,
        batch: ControllerBrokerRequestBatch,
        *,
        partition_states: PartitionStateMachine,
        replica_states: ReplicaStateMachine,
        reassignment: PartitionReassignment,
        topic_deletion: TopicDeletionManager,
        retries: OfflineReplicaRetries,
        clock: Clock,
    ) -> None:
        self._context = context
        self._batch = batch
        self._partition_states = partition_states
        self._replica_states = replica_states
        self._reassignment = reassignment
        self._topic_deletion = topic_deletion
        self._retries = retries
        self._clock = clock

    async def answered(self, broker: int, answer: LeaderAndIsrResult) -> None:
        """Replicas of a broker went offline, or came back: elect, shrink, send."""
        info = self._context.brokers.get(broker)
        if info is None or info.epoch != answer.broker_epoch:
            return  # answered in an earlier life
        lost, back = self._context.replicas_answered(broker, answer.failed, answer.taken_up)
        if not lost and not back:
            return
        log.warning(
            "broker %d: %d replicas offline, their log directory failed; %d back",
            broker,
            *map(len, (lost, back)),
        )
        self._retries.reset()
        self._replica_states.replicas_lost(broker, lost)
        affected = sorted(lost | back)
        changes = self._partition_states.decide_repairs(affected)
        await self._partition_states.apply(changes)
        self._batch.enqueue(changes)
        self._batch.enqueue_update_metadata(p for p in affected if p not in changes)
        self._batch.send()
        if back:
            await self._reassignment.complete_ready()
            await self._topic_deletion.resume()

    async def ask_again(self) -> None:
        """Whether offline replicas can be served by now; asked less and less often."""
        if not self._context.brokers_with_offline:
            return
        if not self._retries.is_due(self._clock.monotonic_ms()):
            return
        asked = questions(self._context)
        for partition, broker in asked.leader_and_isr:
            self._batch.enqueue_leader_and_isr(partition, broker)
        self._batch.send()
        await self._topic_deletion.start(asked.deletions, tries_offline=True)
