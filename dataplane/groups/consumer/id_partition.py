"""One partition by its topic's id: what assignments of consumer groups are made of.

A topic that is deleted and created again has another id, so nobody keeps partitions of the old one.
"""

from __future__ import annotations

import uuid
from typing import NamedTuple


class IdPartition(NamedTuple):
    topic_id: uuid.UUID
    partition: int


Assignment = frozenset[IdPartition]
NOTHING: Assignment = frozenset()


def by_topic(partitions: Assignment) -> dict[uuid.UUID, list[int]]:
    """Topic id → its partitions; both in order, so that equal assignments have equal bytes."""
    grouped: dict[uuid.UUID, list[int]] = {}
    for topic_id, partition in sorted(partitions):
        grouped.setdefault(topic_id, []).append(partition)
    return grouped
