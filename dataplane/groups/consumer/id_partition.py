"""One partition by its topic's id: what assignments of consumer groups are made of.

A topic that is deleted and created again has another id, so nobody keeps partitions of the old one.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class IdPartition(NamedTuple):
    """`topic` is the 16 bytes of the topic's id: dealing out 10,000 partitions looks up as many
    hashes, and that of a UUID is computed in Python each time.
    """

    topic: bytes
    partition: int


Assignment = frozenset[IdPartition]
NOTHING: Assignment = frozenset()


def by_topic(partitions: Assignment) -> dict[uuid.UUID, list[int]]:
    """Topic id → its partitions; both in order, so that equal assignments have equal bytes."""
    grouped: dict[bytes, list[int]] = {}
    for topic, partition in sorted(partitions):
        grouped.setdefault(topic, []).append(partition)
    return {uuid.UUID(bytes=topic): indexes for topic, indexes in grouped.items()}


def of_topics(topics: Iterable[tuple[uuid.UUID, Iterable[int]]]) -> Assignment:
    """The opposite of `by_topic`."""
    return frozenset(
        IdPartition(topic, index)
        for topic_id, indexes in topics
        for topic in (topic_id.bytes,)
        for index in indexes
    )
