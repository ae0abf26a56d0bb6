"""Markers on their way: which partition of which decided transaction waits for which broker.

Plain bookkeeping of the sender. A marker is due at the leader of its partition, as the image of the
cluster has it at that moment; a partition without a leader waits at `NOWHERE`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.cluster.topic_names import TRANSACTIONS_TOPIC
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.cluster.image import ClusterImage
    from dataplane.transactions.markers import Markers

NOWHERE: Final = -1
GONE: Final = -2


class MarkerJob:
    """One decided transaction; `left` are the partitions without a marker."""

    __slots__ = ("coordinator_epoch", "is_dropped", "left", "markers", "on_written", "retries")

    def __init__(
        self,
        markers: Markers,
        coordinator_epoch: Callable[[], int],
        on_written: Callable[[Markers], None],
    ) -> None:
        self.markers = markers
        self.coordinator_epoch = coordinator_epoch
        self.on_written = on_written
        self.left = set(markers.partitions)
        self.retries = 0
        self.is_dropped = False


class MarkerQueue:
    """What is due at each broker, oldest transaction first."""

    def __init__(self) -> None:
        self._due: dict[int, dict[MarkerJob, set[TopicPartition]]] = {}

    def add(self, broker_id: int, job: MarkerJob, partition: TopicPartition) -> None:
        self._due.setdefault(broker_id, {}).setdefault(job, set()).add(partition)

    def take(self, broker_id: int, most: int) -> dict[MarkerJob, set[TopicPartition]]:
        """Up to `most` transactions that wait for this broker; dropped ones are left out."""
        waiting = self._due.get(broker_id, {})
        taken: dict[MarkerJob, set[TopicPartition]] = {}
        for job in list(waiting):
            if len(taken) >= most:
                break
            partitions = waiting.pop(job)
            if not job.is_dropped:
                taken[job] = partitions
        if not waiting:
            self._due.pop(broker_id, None)
        return taken

    def clear(self) -> None:
        self._due.clear()


def destination(image: ClusterImage, partition: TopicPartition) -> int:
    """The broker that leads; NOWHERE: none does, or it is not known; GONE: it was deleted."""
    topic = image.topics.get(partition.topic)
    if topic is None or partition.partition >= len(topic.partitions):
        # An image that does not hold the coordinator's own topic says nothing about others.
        return GONE if TRANSACTIONS_TOPIC in image.topics else NOWHERE
    leader = topic.partitions[partition.partition].leader
    return leader if leader in image.brokers else NOWHERE


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        grouped.setdefault(topic, []).append(index)
    return grouped
