"""From what is asked to be committed, or deleted, to the record that is stored.

Consumers commit all the time, so these records are written by hand, byte for byte as by `records`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from dataplane.groups.records import (
    NO_TIMESTAMP,
    OFFSET_KEY_VERSION,
    OFFSET_VALUE_VERSION,
    CoordinatorRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    offset_record,
)

if TYPE_CHECKING:
    from dataplane.groups.requests import OffsetToCommit
    from dataplane.model.ids import TopicPartition

_VERSION_AND_LENGTH = struct.Struct(">hh").pack
_LENGTH = struct.Struct(">h").pack
_PARTITION = struct.Struct(">i").pack
_OFFSET = struct.Struct(">hqih").pack  # version, offset, leader epoch, length of the metadata
_TIMESTAMP = struct.Struct(">q").pack


def commit_record(
    group_id: str, partition: TopicPartition, asked: OffsetToCommit, now_ms: int
) -> OffsetRecord:
    offset, leader_epoch, metadata, committed_ms, retention_ms = asked
    if committed_ms == NO_TIMESTAMP:
        committed_ms = now_ms
    if retention_ms >= 0:
        return _expiring_record(group_id, partition, asked, committed_ms)
    text = metadata.encode()
    return OffsetRecord(
        _key(group_id, partition),
        _OFFSET(OFFSET_VALUE_VERSION, offset, leader_epoch, len(text))
        + text
        + _TIMESTAMP(committed_ms),
        group_id,
        partition,
        OffsetCommitValue(
            offset=offset,
            leader_epoch=leader_epoch,
            metadata=metadata,
            commit_timestamp_ms=committed_ms,
        ),
    )


def commit_tombstone(group_id: str, partition: TopicPartition) -> CoordinatorRecord:
    return CoordinatorRecord(_key(group_id, partition), None)


def _key(group_id: str, partition: TopicPartition) -> bytes:
    group, topic = group_id.encode(), partition.topic.encode()
    return (
        _VERSION_AND_LENGTH(OFFSET_KEY_VERSION, len(group))
        + group
        + _LENGTH(len(topic))
        + topic
        + _PARTITION(partition.partition)
    )


def _expiring_record(
    group_id: str, partition: TopicPartition, asked: OffsetToCommit, committed_ms: int
) -> OffsetRecord:
    """Of an old client, which says how long it is to be kept. That version has no leader epoch."""
    stored = OffsetCommitValue(
        offset=asked.offset,
        metadata=asked.metadata,
        commit_timestamp_ms=committed_ms,
        expire_timestamp_ms=committed_ms + asked.retention_ms,
    )
    key = OffsetCommitKey(group=group_id, topic=partition.topic, partition=partition.partition)
    record = offset_record(key, stored)
    return OffsetRecord(record.key, record.value, group_id, partition, stored)
