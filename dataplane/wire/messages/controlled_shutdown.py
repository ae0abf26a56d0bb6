"""ControlledShutdown (key 7), versions 0-3, flexible from 3.

A broker asks to be relieved.

Version 0 of the request is the only request whose header has no client id.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class RemainingPartition:
    topic_name: str = field(STRING, "0+")
    partition_index: int = field(INT32, "0+")


@struct
class ControlledShutdownRequest(Message):
    API_KEY: ClassVar[int] = 7
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 3

    broker_id: int = field(INT32, "0+")
    broker_epoch: int = field(INT64, "2+", default=-1)


@struct
class ControlledShutdownResponse(Message):
    API_KEY: ClassVar[int] = 7
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 3

    error_code: int = field(INT16, "0+")
    remaining_partitions: list[RemainingPartition] = field(array(RemainingPartition), "0+")
