"""Requests to brokers about partitions, as the context knows them when they are enqueued."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.cluster.requests import metadata_update

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from dataplane.broker.controller.channel_manager import ControllerChannelManager
    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.image import BrokerInfo
    from dataplane.cluster.requests import MetadataUpdate, Stop
    from dataplane.model.ids import TopicPartition


class ControllerBrokerRequestBatch:
    """Fills the brokers' request queues; `send` lets them go."""

    def __init__(self, context: ControllerContext, channels: ControllerChannelManager) -> None:
        self._context = context
        self._channels = channels

    def enqueue(
        self,
        partitions: Iterable[TopicPartition],
        *,
        new_on: Collection[tuple[TopicPartition, int]] = (),
    ) -> None:
        """LeaderAndIsr to the replicas, UpdateMetadata to all brokers.

        `new_on`: replicas that have no data yet.
        """
        for partition in partitions:
            update = metadata_update(self._context, partition)
            for replica in update.state.replicas:
                is_new = bool(new_on) and (partition, replica) in new_on
                self._enqueue_leader_and_isr(
                    partition,
                    replica,
                    dataclasses.replace(update, is_new=True) if is_new else update,
                )
            self._enqueue_update_metadata(partition, update)

    def enqueue_leader_and_isr(self, partition: TopicPartition, replica: int) -> None:
        """To one replica, if its broker is live and the topic is there to stay."""
        self._enqueue_leader_and_isr(partition, replica, metadata_update(self._context, partition))

    def enqueue_update_metadata(self, partitions: Iterable[TopicPartition]) -> None:
        """To all brokers."""
        for partition in partitions:
            self._enqueue_update_metadata(partition, metadata_update(self._context, partition))

    def enqueue_stop_replica(
        self, partition: TopicPartition, replicas: Iterable[int], stop: Stop
    ) -> None:
        for replica in replicas:
            queue = self._channels.queue(replica)
            if queue is not None:
                queue.add_stop_replica(partition, stop)

    def enqueue_brokers(
        self, *, metadata_first: bool = False, except_for: Collection[int] = ()
    ) -> None:
        """The live brokers, to all brokers but those named."""
        for broker, queue in self._channels.queues():
            if broker not in except_for:
                queue.add_brokers(metadata_first=metadata_first)

    def add_broker(self, broker: BrokerInfo) -> None:
        """Open a channel; its first LeaderAndIsr and UpdateMetadata are full."""
        channel = self._channels.add_broker(broker)
        channel.queue.add_brokers(metadata_first=True, full=True)

    async def remove_broker(self, broker: int) -> None:
        """Close its channel; what was not sent is dropped."""
        await self._channels.remove_broker(broker)

    def enqueue_all_metadata(self, broker: int) -> None:
        """Every partition, to one broker."""
        queue = self._channels.queue(broker)
        if queue is not None:
            for partition, _ in self._context.partitions():
                queue.add_update_metadata(partition, metadata_update(self._context, partition))

    def send(self) -> None:
        """Send what was enqueued, merged per broker with what has not left yet."""
        self._channels.wake()

    def _enqueue_leader_and_isr(
        self, partition: TopicPartition, replica: int, update: MetadataUpdate
    ) -> None:
        queue = self._channels.queue(replica)
        if queue is not None and update.is_servable:
            queue.add_leader_and_isr(partition, update)

    def _enqueue_update_metadata(self, partition: TopicPartition, update: MetadataUpdate) -> None:
        for _broker, queue in self._channels.queues():
            queue.add_update_metadata(partition, update)
