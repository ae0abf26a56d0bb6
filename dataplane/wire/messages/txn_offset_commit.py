"""TxnOffsetCommit (key 28), versions 0-4, flexible from 3.

A producer commits a group's offsets within its transaction.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class TxnOffsetCommitRequestPartition:
    partition_index: int = field(INT32, "0+")
    committed_offset: int = field(INT64, "0+")
    committed_leader_epoch: int = field(INT32, "2+", default=-1)
    committed_metadata: str | None = field(STRING, "0+", nullable="0+")


@struct
class TxnOffsetCommitRequestTopic:
    name: str = field(STRING, "0+")
    partitions: list[TxnOffsetCommitRequestPartition] = field(
        array(TxnOffsetCommitRequestPartition), "0+"
    )


@struct
class TxnOffsetCommitRequest(Message):
    API_KEY: ClassVar[int] = 28
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 3

    transactional_id: str = field(STRING, "0+")
    group_id: str = field(STRING, "0+")
    producer_id: int = field(INT64, "0+")
    producer_epoch: int = field(INT16, "0+")
    generation_id: int = field(INT32, "3+", default=-1)
    member_id: str = field(STRING, "3+")
    group_instance_id: str | None = field(STRING, "3+", nullable="3+", default=None)
    topics: list[TxnOffsetCommitRequestTopic] = field(array(TxnOffsetCommitRequestTopic), "0+")


@struct
class TxnOffsetCommitResponsePartition:
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")


@struct
class TxnOffsetCommitResponseTopic:
    name: str = field(STRING, "0+")
    partitions: list[TxnOffsetCommitResponsePartition] = field(
        array(TxnOffsetCommitResponsePartition), "0+"
    )


@struct
class TxnOffsetCommitResponse(Message):
    API_KEY: ClassVar[int] = 28
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 3

    throttle_time_ms: int = field(INT32, "0+")
    topics: list[TxnOffsetCommitResponseTopic] = field(array(TxnOffsetCommitResponseTopic), "0+")
