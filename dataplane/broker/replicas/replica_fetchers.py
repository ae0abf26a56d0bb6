"""Keeps the followers on this broker caught up with their leaders.

For each leading broker there are at most `num.replica.fetchers` fetchers; a partition keeps to one
of them, chosen by its name. The number may change while the broker runs.
"""

from __future__ import annotations

import asyncio
import zlib
from typing import TYPE_CHECKING, NamedTuple

from dataplane.broker.delayed.purgatory import DelayedOperationPurgatory
from dataplane.broker.replicas.replica_fetcher import ReplicaFetcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.replicas.fetcher_context import FetcherContext
    from dataplane.broker.replicas.partition import Partition
    from dataplane.model.ids import TopicPartition
    from dataplane.replication.fetch_session_handler import PartitionKey

FetcherKey = tuple[int, int]  # the leader's id, and which of the fetchers there


class _Followed(NamedTuple):
    fetcher: FetcherKey
    key: PartitionKey
    partition: Partition


class ReplicaFetchers:
    """Gives each followed partition to a fetcher of its leader."""

    def __init__(self, context: FetcherContext, metadata_cache: MetadataCache) -> None:
        self._context = context
        self._fetchers: dict[FetcherKey, ReplicaFetcher] = {}
        self._followed: dict[TopicPartition, _Followed] = {}
        self._number = context.config.get_int("num.replica.fetchers")
        self._purgatory = DelayedOperationPurgatory()
        metadata_cache.on_change(self._on_metadata)
        context.configs.on_change(self._on_config)
        self._register_metrics()

    def follow(self, partition: Partition) -> None:
        """Fetch from the leader named by the partition's state; stop if there is none."""
        state = partition.state
        topic_partition = partition.topic_partition
        leader = state.leader if state is not None else -1
        place = leader, self._fetcher_of(topic_partition)
        key = partition.topic_id, topic_partition.partition
        followed = _Followed(place, key, partition)
        before = self._followed.get(topic_partition)
        if before is not None and before[:2] != followed[:2]:
            self.remove(topic_partition)
        if leader < 0:
            return
        self._followed[topic_partition] = followed
        fetcher = self._fetchers.get(place)
        if fetcher is None:
            fetcher = self._fetchers[place] = ReplicaFetcher(
                self._context, *place, purgatory=self._purgatory
            )
        fetcher.add(partition)

    def remove(self, topic_partition: TopicPartition) -> None:
        followed = self._followed.pop(topic_partition, None)
        if followed is None:
            return
        fetcher = self._fetchers[followed.fetcher]
        fetcher.remove(followed.key)
        if fetcher.is_empty:
            del self._fetchers[followed.fetcher]
            fetcher.stop()

    async def stop(self) -> None:
        fetchers, self._fetchers = list(self._fetchers.values()), {}
        self._followed.clear()
        for fetcher in fetchers:
            fetcher.stop()
        await asyncio.gather(*(fetcher.wait_stopped() for fetcher in fetchers))

    def wake(self) -> None:
        """What held fetches back may be gone: ask again now, not after the backoff."""
        for fetcher in self._fetchers.values():
            fetcher.wake()

    def _fetcher_of(self, topic_partition: TopicPartition) -> int:
        """Neighbours of one topic go to different ones; a partition's is always the same."""
        hashed = zlib.crc32(topic_partition.topic.encode()) + topic_partition.partition
        return hashed % self._number

    def _on_metadata(self, before: object, after: object) -> None:
        """A leader that has come back is asked again at once."""
        del before, after
        self.wake()

    def _on_config(self, entity_type: str, name: str) -> None:
        """Another number of fetchers: share the partitions out again."""
        del name
        number = self._context.config.get_int("num.replica.fetchers")
        if entity_type != "brokers" or number == self._number:
            return
        self._number = number
        for followed in list(self._followed.values()):
            self.follow(followed.partition)

    def _register_metrics(self) -> None:
        def by_fetcher(
            read: Callable[[ReplicaFetcher], float],
        ) -> Callable[[], Mapping[tuple[str, ...], float]]:
            return lambda: {
                (str(leader), str(number)): read(fetcher)
                for (leader, number), fetcher in self._fetchers.items()
            }

        metrics = self._context.metrics
        metrics.gauge(
            "penstock_replica_fetcher_partitions",
            "Partitions that a fetcher follows.",
            by_fetcher(lambda fetcher: len(fetcher.lags)),
            labels=("leader", "fetcher"),
        )
        metrics.gauge(
            "kafka_server_replicafetchermanager_maxlag",
            "Records up to the leader's high watermark that the fetcher's last replica lacks.",
            by_fetcher(lambda fetcher: max(fetcher.lags, default=0)),
            labels=("leader", "fetcher"),
        )
        metrics.gauge(
            "penstock_replica_fetcher_failed_partitions",
            "Partitions that a fetcher leaves out for a while, because the last answer failed.",
            by_fetcher(lambda fetcher: fetcher.failed),
            labels=("leader", "fetcher"),
        )
