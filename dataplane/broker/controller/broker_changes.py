"""What a controller does when brokers come and go."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller.load import load_brokers
from dataplane.cluster.registration_changes import registration_changes
from dataplane.cluster.topic_changes import never_led

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataplane.broker.controller.known_brokers import KnownBrokers
    from dataplane.broker.controller.partition_reassignment import PartitionReassignment
    from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.broker.controller.topic_deletion_manager import TopicDeletionManager
    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.image import BrokerInfo
    from dataplane.cluster.replica_state_machine import ReplicaStateMachine

log = logging.getLogger(__name__)


class BrokerChanges:
    """Brings channels, partitions and brokers in line with the registrations."""

    def __init__(
        self,
        context: ControllerContext,
        zk: ControllerZkClient,
        batch: ControllerBrokerRequestBatch,
        *,
        partition_states: PartitionStateMachine,
        replica_states: ReplicaStateMachine,
        reassignment: PartitionReassignment,
        topic_deletion: TopicDeletionManager,
        known_brokers: KnownBrokers,
    ) -> None:
        self._context = context
        self._zk = zk
        self._batch = batch
        self._partition_states = partition_states
        self._replica_states = replica_states
        self._reassignment = reassignment
        self._topic_deletion = topic_deletion
        self._known_brokers = known_brokers

    async def brokers_changed(self) -> None:
        """Registrations came or went. A bounced broker is treated as gone, then as arrived."""
        now = await load_brokers(self._zk.coordinator)
        changes = registration_changes(self._context.brokers, now)
        if changes.gone:
            await self._gone(changes.gone)
        if changes.arrived:
            await self._arrived(changes.arrived)
        if changes.gone or changes.arrived:
            await self._known_brokers.store(self._context.brokers)
        if changes.renewed:
            self._context.set_brokers(now)
            self._batch.enqueue_brokers(metadata_first=True)
            self._batch.send()

    async def _gone(self, gone: Collection[int]) -> None:
        context = self._context
        for broker in gone:
            await self._batch.remove_broker(broker)
        context.set_brokers({b: info for b, info in context.brokers.items() if b not in gone})
        self._replica_states.broker_gone(gone)
        affected = context.partitions_on(gone)
        changes = await self._partition_states.repair(affected)
        log.info("brokers gone: %s; %d partitions change", sorted(gone), len(changes))
        self._batch.enqueue_brokers()
        self._batch.enqueue(changes)
        self._batch.enqueue_update_metadata(p for p in affected if p not in changes)
        self._batch.send()

    async def _arrived(self, arrived: dict[int, BrokerInfo]) -> None:
        context = self._context
        log.info("brokers arrived: %s", {broker: info.epoch for broker, info in arrived.items()})
        context.set_brokers({**context.brokers, **arrived})
        affected = context.partitions_on(arrived)
        changes = await self._partition_states.repair(sorted({*affected, *never_led(context)}))
        self._batch.enqueue_brokers(metadata_first=True, except_for=arrived)
        for info in arrived.values():
            self._batch.add_broker(info)
            self._batch.enqueue_all_metadata(info.id)
        self._batch.enqueue(changes)
        rest = [partition for partition in affected if partition not in changes]
        for partition in rest:
            for broker in arrived:
                state = context.state(partition)
                if state is not None and broker in state.replicas:
                    self._batch.enqueue_leader_and_isr(partition, broker)
        self._batch.enqueue_update_metadata(rest)
        await self.resume()

    async def resume(self) -> None:
        """What waited for a broker may go on. Stops are enqueued before anything is sent: see
        `PendingRequests.in_order`.
        """
        await self._topic_deletion.resume()
        self._batch.send()
        await self._reassignment.complete_ready()
