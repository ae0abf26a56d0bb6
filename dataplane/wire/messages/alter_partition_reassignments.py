"""AlterPartitionReassignments (key 45), version 0, flexible from 0.

Start or cancel moves of replicas.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, STRING, Message, array, field, struct


@struct
class ReassignablePartition:
    partition_index: int = field(INT32, "0+")
    replicas: list[int] | None = field(array(INT32), "0+", nullable="0+", default=None)


@struct
class ReassignableTopic:
    name: str = field(STRING, "0+")
    partitions: list[ReassignablePartition] = field(array(ReassignablePartition), "0+")


@struct
class AlterPartitionReassignmentsRequest(Message):
    API_KEY: ClassVar[int] = 45
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    timeout_ms: int = field(INT32, "0+", default=60000)
    topics: list[ReassignableTopic] = field(array(ReassignableTopic), "0+")


@struct
class ReassignablePartitionResponse:
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)


@struct
class ReassignableTopicResponse:
    name: str = field(STRING, "0+")
    partitions: list[ReassignablePartitionResponse] = field(
        array(ReassignablePartitionResponse), "0+"
    )


@struct
class AlterPartitionReassignmentsResponse(Message):
    API_KEY: ClassVar[int] = 45
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+")
    responses: list[ReassignableTopicResponse] = field(array(ReassignableTopicResponse), "0+")
