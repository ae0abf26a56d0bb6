"""The durable part of a shard: what the records of one offsets partition add up to.

Only `replay` changes it, whether the records come from the log at load time or from a write that
has just been committed; so a shard that is loaded elsewhere holds the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.consumer.group import ConsumerGroup
from dataplane.groups.consumer.records import decode
from dataplane.groups.pending_offsets import PendingOffsets
from dataplane.groups.records import (
    CoordinatorRecord,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    decode_group_value,
    decode_key,
    decode_offset_value,
)
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    from dataplane.groups.records import StoredRecord


class DurableState:
    """Committed offsets by group; classic groups as last stored; consumer groups."""

    def __init__(self) -> None:
        self.offsets: dict[str, dict[TopicPartition, OffsetCommitValue]] = {}
        self.groups: dict[str, GroupMetadataValue] = {}
        self.consumer_groups: dict[str, ConsumerGroup] = {}
        self.pending = PendingOffsets()

    def replay(self, record: StoredRecord) -> None:
        """Apply one record. ValueError when its bytes are not of a version that is known."""
        if type(record) is OffsetRecord:
            self._store(record.group_id, record.partition, record.stored)
            return
        key = decode_key(record.key)
        if key is None:
            self._replay_consumer_group(CoordinatorRecord(record.key, record.value))
        elif isinstance(key, OffsetCommitKey):
            self._replay_offset(key, record.value)
        elif isinstance(key, GroupMetadataKey):
            if record.value is None:
                self.groups.pop(key.group, None)
            else:
                self.groups[key.group] = decode_group_value(record.value)

    def replay_in_transaction(self, producer_id: int, record: StoredRecord) -> None:
        """Keep one record of a transaction until its marker. ValueError as of `replay`."""
        key = decode_key(record.key)
        if isinstance(key, OffsetCommitKey) and record.value is not None:
            place = (key.group, TopicPartition(key.topic, key.partition))
            self.pending.put(producer_id, place, decode_offset_value(record.value))

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> set[str]:
        """Apply or drop what the producer's transaction has committed; the groups concerned."""
        ended = self.pending.end(producer_id, is_commit=is_commit)
        for (group_id, partition), value in ended.items():
            self.offsets.setdefault(group_id, {})[partition] = value
        return {group_id for group_id, _partition in ended}

    def _replay_offset(self, key: OffsetCommitKey, value: bytes | None) -> None:
        partition = TopicPartition(key.topic, key.partition)
        if value is not None:
            self._store(key.group, partition, decode_offset_value(value))
            return
        self.pending.supersede((key.group, partition))
        committed = self.offsets.get(key.group)
        if committed is None:
            return
        committed.pop(partition, None)
        if not committed:
            del self.offsets[key.group]

    def _store(self, group_id: str, partition: TopicPartition, value: OffsetCommitValue) -> None:
        self.pending.supersede((group_id, partition))
        committed = self.offsets.get(group_id)
        if committed is None:
            committed = self.offsets[group_id] = {}
        committed[partition] = value

    def _replay_consumer_group(self, record: CoordinatorRecord) -> None:
        found = decode(record)
        if found is None:
            return  # of a kind that is not served: share groups
        key, value = found
        group = self.consumer_groups.get(key.group_id)
        if group is None:
            if value is None:
                return
            group = self.consumer_groups[key.group_id] = ConsumerGroup(key.group_id)
        group.apply(key, value)
        if group.is_blank:
            del self.consumer_groups[key.group_id]
