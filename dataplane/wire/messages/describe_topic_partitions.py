"""DescribeTopicPartitions (key 75), version 0, flexible from 0.

Topics and their partitions, page by page.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from dataplane.wire.schema import (
    BOOL,
    INT16,
    INT32,
    STRING,
    UUID,
    Message,
    array,
    field,
    struct,
)


@struct
class TopicRequest:
    name: str = field(STRING, "0+")


@struct
class Cursor:
    topic_name: str = field(STRING, "0+")
    partition_index: int = field(INT32, "0+")


@struct
class DescribeTopicPartitionsRequest(Message):
    API_KEY: ClassVar[int] = 75
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    topics: list[TopicRequest] = field(array(TopicRequest), "0+")
    response_partition_limit: int = field(INT32, "0+", default=2000)
    cursor: Cursor | None = field(Cursor, "0+", nullable="0+", default=None)


@struct
class DescribeTopicPartitionsResponsePartition:
    error_code: int = field(INT16, "0+")
    partition_index: int = field(INT32, "0+")
    leader_id: int = field(INT32, "0+")
    leader_epoch: int = field(INT32, "0+", default=-1)
    replica_nodes: list[int] = field(array(INT32), "0+")
    isr_nodes: list[int] = field(array(INT32), "0+")
    eligible_leader_replicas: list[int] | None = field(
        array(INT32), "0+", nullable="0+", default=None
    )
    last_known_elr: list[int] | None = field(array(INT32), "0+", nullable="0+", default=None)
    offline_replicas: list[int] = field(array(INT32), "0+")


@struct
class DescribeTopicPartitionsResponseTopic:
    error_code: int = field(INT16, "0+")
    name: str | None = field(STRING, "0+", nullable="0+")
    topic_id: uuid.UUID = field(UUID, "0+")
    is_internal: bool = field(BOOL, "0+")
    partitions: list[DescribeTopicPartitionsResponsePartition] = field(
        array(DescribeTopicPartitionsResponsePartition), "0+"
    )
    topic_authorized_operations: int = field(INT32, "0+", default=-2147483648)


@struct
class DescribeTopicPartitionsResponse(Message):
    API_KEY: ClassVar[int] = 75
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    topics: list[DescribeTopicPartitionsResponseTopic] = field(
        array(DescribeTopicPartitionsResponseTopic), "0+"
    )
    next_cursor: Cursor | None = field(Cursor, "0+", nullable="0+", default=None)
