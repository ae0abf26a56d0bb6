"""What the clients know: of each record whether it was acknowledged, refused, or nobody can say."""

from __future__ import annotations

import dataclasses
import enum
import uuid

PartitionId = tuple[uuid.UUID, int]


class Fate(enum.Enum):
    """UNKNOWN is not FAILED: a timeout or a broken connection says nothing."""

    PENDING = "pending"
    ACKNOWLEDGED = "acknowledged"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclasses.dataclass(slots=True)
class Sent:
    """One record that a producer tried to write."""

    value: bytes
    topic: str
    partition: int
    acks: int
    is_idempotent: bool
    is_sent_once: bool
    topic_id: uuid.UUID
    fate: Fate = Fate.PENDING
    offset: int = -1


@dataclasses.dataclass(slots=True)
class SeenRecord:
    value: bytes
    leader_epoch: int


class Oracle:
    """Every record sent, by its value, and every record that a consumer has read."""

    def __init__(self) -> None:
        self.sent: dict[bytes, Sent] = {}
        self.seen: dict[PartitionId, dict[int, SeenRecord]] = {}
        self.deleted_topics: set[uuid.UUID] = set()
        self.counts: dict[str, int] = {}

    def count(self, what: str, by: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + by

    def acknowledged(self, *, acks: int = -1) -> list[Sent]:
        return [
            sent
            for sent in self.sent.values()
            if sent.fate is Fate.ACKNOWLEDGED
            and sent.acks == acks
            and sent.topic_id not in self.deleted_topics
        ]
