"""Keeps the followers on this broker level with their leaders: one fetcher per leading broker."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.broker.replica_fetcher import ReplicaFetcher

if TYPE_CHECKING:
    from dataplane.broker.partition import Partition
    from dataplane.broker.services import BrokerServices
    from dataplane.model.ids import TopicPartition
    from dataplane.replication.follower_session import PartitionKey

_log = logging.getLogger(__name__)


class ReplicaFetchers:
    """Gives each followed partition to the fetcher of its leader."""

    def __init__(self, services: BrokerServices) -> None:
        self._services = services
        self._fetchers: dict[int, ReplicaFetcher] = {}
        self._followed: dict[TopicPartition, tuple[int, PartitionKey]] = {}
        services.metadata.on_change(self._on_metadata)

    def follow(self, partition: Partition) -> None:
        """Fetch from the leader named by the partition's state; stop if there is none."""
        state = partition.state
        topic_partition = partition.topic_partition
        leader = state.leader if state is not None else -1
        place = leader, (partition.topic_id, topic_partition.partition)
        if self._followed.get(topic_partition) != place:
            self.remove(topic_partition)
        if leader < 0:
            return
        self._followed[topic_partition] = place
        fetcher = self._fetchers.get(leader)
        if fetcher is None:
            fetcher = self._fetchers[leader] = ReplicaFetcher(self._services, leader)
        fetcher.add(partition)

    def remove(self, topic_partition: TopicPartition) -> None:
        place = self._followed.pop(topic_partition, None)
        if place is None:
            return
        leader, key = place
        fetcher = self._fetchers[leader]
        fetcher.remove(key)
        if fetcher.is_empty:
            del self._fetchers[leader]
            fetcher.stop()

    async def stop(self) -> None:
        fetchers, self._fetchers = list(self._fetchers.values()), {}
        self._followed.clear()
        for fetcher in fetchers:
            fetcher.stop()
        await asyncio.gather(*(fetcher.wait_stopped() for fetcher in fetchers))

    def hurry(self) -> None:
        """What held fetches back may be gone: ask again now, not after the backoff."""
        for fetcher in self._fetchers.values():
            fetcher.hurry()

    def _on_metadata(self, before: object, after: object) -> None:
        """A leader that has come back is asked again at once."""
        del before, after
        self.hurry()
