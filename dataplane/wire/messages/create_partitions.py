"""CreatePartitions (key 37), versions 0-3, flexible from 2.

Add partitions to topics.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, INT16, INT32, STRING, Message, array, field, struct


@struct
class CreatePartitionsAssignment:
    broker_ids: list[int] = field(array(INT32), "0+")


@struct
class CreatePartitionsTopic:
    name: str = field(STRING, "0+")
    count: int = field(INT32, "0+")
    assignments: list[CreatePartitionsAssignment] | None = field(
        array(CreatePartitionsAssignment), "0+", nullable="0+"
    )


@struct
class CreatePartitionsRequest(Message):
    API_KEY: ClassVar[int] = 37
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    topics: list[CreatePartitionsTopic] = field(array(CreatePartitionsTopic), "0+")
    timeout_ms: int = field(INT32, "0+")
    validate_only: bool = field(BOOL, "0+")


@struct
class CreatePartitionsTopicResult:
    name: str = field(STRING, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)


@struct
class CreatePartitionsResponse(Message):
    API_KEY: ClassVar[int] = 37
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    throttle_time_ms: int = field(INT32, "0+")
    results: list[CreatePartitionsTopicResult] = field(array(CreatePartitionsTopicResult), "0+")
