"""OffsetCommit (key 8), versions 0-9, flexible from 8.

Store consumed positions of a group.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class OffsetCommitRequestPartition:
    partition_index: int = field(INT32, "0+")
    committed_offset: int = field(INT64, "0+")
    committed_leader_epoch: int = field(INT32, "6+", default=-1)
    commit_timestamp: int = field(INT64, "1", default=-1)
    committed_metadata: str | None = field(STRING, "0+", nullable="0+")


@struct
class OffsetCommitRequestTopic:
    name: str = field(STRING, "0+")
    partitions: list[OffsetCommitRequestPartition] = field(
        array(OffsetCommitRequestPartition), "0+"
    )


@struct
class OffsetCommitRequest(Message):
    API_KEY: ClassVar[int] = 8
    VERSIONS: ClassVar[tuple[int, int]] = (0, 9)
    FLEXIBLE: ClassVar[int] = 8

    group_id: str = field(STRING, "0+")
    generation_id_or_member_epoch: int = field(INT32, "1+", default=-1)
    member_id: str = field(STRING, "1+")
    group_instance_id: str | None = field(STRING, "7+", nullable="7+", default=None)
    retention_time_ms: int = field(INT64, "2-4", default=-1)
    topics: list[OffsetCommitRequestTopic] = field(array(OffsetCommitRequestTopic), "0+")


@struct
class OffsetCommitResponsePartition:
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")


@struct
class OffsetCommitResponseTopic:
    name: str = field(STRING, "0+")
    partitions: list[OffsetCommitResponsePartition] = field(
        array(OffsetCommitResponsePartition), "0+"
    )


@struct
class OffsetCommitResponse(Message):
    API_KEY: ClassVar[int] = 8
    VERSIONS: ClassVar[tuple[int, int]] = (0, 9)
    FLEXIBLE: ClassVar[int] = 8

    throttle_time_ms: int = field(INT32, "3+")
    topics: list[OffsetCommitResponseTopic] = field(array(OffsetCommitResponseTopic), "0+")
