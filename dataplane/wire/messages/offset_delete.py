"""OffsetDelete (key 47), version 0, never flexible.

Delete committed positions of a group.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, STRING, Message, array, field, struct


@struct
class OffsetDeleteRequestPartition:
    partition_index: int = field(INT32, "0+")


@struct
class OffsetDeleteRequestTopic:
    name: str = field(STRING, "0+")
    partitions: list[OffsetDeleteRequestPartition] = field(
        array(OffsetDeleteRequestPartition), "0+"
    )


@struct
class OffsetDeleteRequest(Message):
    API_KEY: ClassVar[int] = 47
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)

    group_id: str = field(STRING, "0+")
    topics: list[OffsetDeleteRequestTopic] = field(array(OffsetDeleteRequestTopic), "0+")


@struct
class OffsetDeleteResponsePartition:
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")


@struct
class OffsetDeleteResponseTopic:
    name: str = field(STRING, "0+")
    partitions: list[OffsetDeleteResponsePartition] = field(
        array(OffsetDeleteResponsePartition), "0+"
    )


@struct
class OffsetDeleteResponse(Message):
    API_KEY: ClassVar[int] = 47
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)

    error_code: int = field(INT16, "0+")
    throttle_time_ms: int = field(INT32, "0+")
    topics: list[OffsetDeleteResponseTopic] = field(array(OffsetDeleteResponseTopic), "0+")
