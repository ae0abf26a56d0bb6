"""What the partitions of a decided transaction have to learn."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.model.ids import TopicPartition


@dataclasses.dataclass(frozen=True, slots=True)
class Markers:
    """A decided transaction, and the partitions that have to learn of it.

    The host sends markers until every partition has one, then calls `markers_written`.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_commit: bool
    partitions: frozenset[TopicPartition]
