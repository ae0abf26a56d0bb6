"""DescribeProducers (key 61), version 0, flexible from 0.

What partitions remember of the producers that wrote to them.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class TopicRequest:
    name: str = field(STRING, "0+")
    partition_indexes: list[int] = field(array(INT32), "0+")


@struct
class DescribeProducersRequest(Message):
    API_KEY: ClassVar[int] = 61
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    topics: list[TopicRequest] = field(array(TopicRequest), "0+")


@struct
class ProducerState:
    producer_id: int = field(INT64, "0+")
    producer_epoch: int = field(INT32, "0+")
    last_sequence: int = field(INT32, "0+", default=-1)
    last_timestamp: int = field(INT64, "0+", default=-1)
    coordinator_epoch: int = field(INT32, "0+")
    current_txn_start_offset: int = field(INT64, "0+", default=-1)


@struct
class PartitionResponse:
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    active_producers: list[ProducerState] = field(array(ProducerState), "0+")


@struct
class TopicResponse:
    name: str = field(STRING, "0+")
    partitions: list[PartitionResponse] = field(array(PartitionResponse), "0+")


@struct
class DescribeProducersResponse(Message):
    API_KEY: ClassVar[int] = 61
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    topics: list[TopicResponse] = field(array(TopicResponse), "0+")
