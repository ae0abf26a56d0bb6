"""The durable part of a shard: what the records of one offsets partition add up to.

Only `replay` changes it, whether the records come from the log at load time or from a write that
has just been committed; so a shard that is loaded elsewhere holds the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.records import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    decode_group_value,
    decode_key,
    decode_offset_value,
)
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    from dataplane.groups.records import CoordinatorRecord


class DurableState:
    """Committed offsets by group, and the last stored metadata of each group."""

    def __init__(self) -> None:
        self.offsets: dict[str, dict[TopicPartition, OffsetCommitValue]] = {}
        self.groups: dict[str, GroupMetadataValue] = {}

    def replay(self, record: CoordinatorRecord) -> None:
        """Apply one record. ValueError when its bytes are not of a version that is known."""
        key = decode_key(record.key)
        if isinstance(key, OffsetCommitKey):
            self._replay_offset(key, record.value)
        elif isinstance(key, GroupMetadataKey):
            if record.value is None:
                self.groups.pop(key.group, None)
            else:
                self.groups[key.group] = decode_group_value(record.value)

    def _replay_offset(self, key: OffsetCommitKey, value: bytes | None) -> None:
        partition = TopicPartition(key.topic, key.partition)
        if value is not None:
            self.offsets.setdefault(key.group, {})[partition] = decode_offset_value(value)
            return
        committed = self.offsets.get(key.group)
        if committed is None:
            return
        committed.pop(partition, None)
        if not committed:
            del self.offsets[key.group]
