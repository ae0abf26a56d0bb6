"""From what is asked to be committed, or deleted, to the record that is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.records import (
    NO_TIMESTAMP,
    CoordinatorRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    offset_record,
    offset_tombstone,
)

if TYPE_CHECKING:
    from dataplane.groups.requests import OffsetToCommit
    from dataplane.model.ids import TopicPartition


def commit_record(
    group_id: str, partition: TopicPartition, asked: OffsetToCommit, now_ms: int
) -> CoordinatorRecord:
    return offset_record(_key(group_id, partition), _stored_value(asked, now_ms))


def commit_tombstone(group_id: str, partition: TopicPartition) -> CoordinatorRecord:
    return offset_tombstone(_key(group_id, partition))


def _key(group_id: str, partition: TopicPartition) -> OffsetCommitKey:
    return OffsetCommitKey(group=group_id, topic=partition.topic, partition=partition.partition)


def _stored_value(asked: OffsetToCommit, now_ms: int) -> OffsetCommitValue:
    committed_ms = (
        now_ms if asked.commit_timestamp_ms == NO_TIMESTAMP else asked.commit_timestamp_ms
    )
    expires_ms = NO_TIMESTAMP if asked.retention_ms < 0 else committed_ms + asked.retention_ms
    return OffsetCommitValue(
        offset=asked.offset,
        leader_epoch=asked.leader_epoch,
        metadata=asked.metadata,
        commit_timestamp_ms=committed_ms,
        expire_timestamp_ms=expires_ms,
    )
