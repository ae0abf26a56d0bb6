"""DescribeLogDirs (key 35), versions 0-4, flexible from 2.

Sizes of replicas in each log directory.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class DescribableLogDirTopic:
    topic: str = field(STRING, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class DescribeLogDirsRequest(Message):
    API_KEY: ClassVar[int] = 35
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 2

    topics: list[DescribableLogDirTopic] | None = field(
        array(DescribableLogDirTopic), "0+", nullable="0+"
    )


@struct
class DescribeLogDirsPartition:
    partition_index: int = field(INT32, "0+")
    partition_size: int = field(INT64, "0+")
    offset_lag: int = field(INT64, "0+")
    is_future_key: bool = field(BOOL, "0+")


@struct
class DescribeLogDirsTopic:
    name: str = field(STRING, "0+")
    partitions: list[DescribeLogDirsPartition] = field(array(DescribeLogDirsPartition), "0+")


@struct
class DescribeLogDirsResult:
    error_code: int = field(INT16, "0+")
    log_dir: str = field(STRING, "0+")
    topics: list[DescribeLogDirsTopic] = field(array(DescribeLogDirsTopic), "0+")
    total_bytes: int = field(INT64, "4+", default=-1)
    usable_bytes: int = field(INT64, "4+", default=-1)


@struct
class DescribeLogDirsResponse(Message):
    API_KEY: ClassVar[int] = 35
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 2

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "3+")
    results: list[DescribeLogDirsResult] = field(array(DescribeLogDirsResult), "0+")
