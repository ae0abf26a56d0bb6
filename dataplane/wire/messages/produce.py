"""Produce (key 0), versions 0-11, flexible from 9.

Append record batches.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import (
    INT16,
    INT32,
    INT64,
    RECORDS,
    STRING,
    Message,
    RecordsLike,
    array,
    field,
    struct,
)


@struct
class PartitionProduceData:
    index: int = field(INT32, "0+")
    records: RecordsLike | None = field(RECORDS, "0+", nullable="0+")


@struct
class TopicProduceData:
    name: str = field(STRING, "0+")
    partition_data: list[PartitionProduceData] = field(array(PartitionProduceData), "0+")


@struct
class ProduceRequest(Message):
    API_KEY: ClassVar[int] = 0
    VERSIONS: ClassVar[tuple[int, int]] = (0, 11)
    FLEXIBLE: ClassVar[int] = 9

    transactional_id: str | None = field(STRING, "3+", nullable="3+", default=None)
    acks: int = field(INT16, "0+")
    timeout_ms: int = field(INT32, "0+")
    topic_data: list[TopicProduceData] = field(array(TopicProduceData), "0+")


@struct
class BatchIndexAndErrorMessage:
    batch_index: int = field(INT32, "8+")
    batch_index_error_message: str | None = field(STRING, "8+", nullable="8+", default=None)


@struct
class LeaderIdAndEpoch:
    leader_id: int = field(INT32, "10+", default=-1)
    leader_epoch: int = field(INT32, "10+", default=-1)


@struct
class PartitionProduceResponse:
    index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    base_offset: int = field(INT64, "0+")
    log_append_time_ms: int = field(INT64, "2+", default=-1)
    log_start_offset: int = field(INT64, "5+", default=-1)
    record_errors: list[BatchIndexAndErrorMessage] = field(array(BatchIndexAndErrorMessage), "8+")
    error_message: str | None = field(STRING, "8+", nullable="8+", default=None)
    current_leader: LeaderIdAndEpoch = field(LeaderIdAndEpoch, "10+", tag=0)


@struct
class TopicProduceResponse:
    name: str = field(STRING, "0+")
    partition_responses: list[PartitionProduceResponse] = field(
        array(PartitionProduceResponse), "0+"
    )


@struct
class NodeEndpoint:
    node_id: int = field(INT32, "10+")
    host: str = field(STRING, "10+")
    port: int = field(INT32, "10+")
    rack: str | None = field(STRING, "10+", nullable="10+", default=None)


@struct
class ProduceResponse(Message):
    API_KEY: ClassVar[int] = 0
    VERSIONS: ClassVar[tuple[int, int]] = (0, 11)
    FLEXIBLE: ClassVar[int] = 9

    responses: list[TopicProduceResponse] = field(array(TopicProduceResponse), "0+")
    throttle_time_ms: int = field(INT32, "1+")
    node_endpoints: list[NodeEndpoint] = field(array(NodeEndpoint), "10+", tag=0)
