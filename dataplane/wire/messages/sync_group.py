"""SyncGroup (key 14), versions 0-5, flexible from 4.

Hand out and receive the assignment of a generation.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BYTES, INT16, INT32, STRING, Message, array, field, struct


@struct
class SyncGroupRequestAssignment:
    member_id: str = field(STRING, "0+")
    assignment: bytes = field(BYTES, "0+")


@struct
class SyncGroupRequest(Message):
    API_KEY: ClassVar[int] = 14
    VERSIONS: ClassVar[tuple[int, int]] = (0, 5)
    FLEXIBLE: ClassVar[int] = 4

    group_id: str = field(STRING, "0+")
    generation_id: int = field(INT32, "0+")
    member_id: str = field(STRING, "0+")
    group_instance_id: str | None = field(STRING, "3+", nullable="3+", default=None)
    protocol_type: str | None = field(STRING, "5+", nullable="5+", default=None)
    protocol_name: str | None = field(STRING, "5+", nullable="5+", default=None)
    assignments: list[SyncGroupRequestAssignment] = field(array(SyncGroupRequestAssignment), "0+")


@struct
class SyncGroupResponse(Message):
    API_KEY: ClassVar[int] = 14
    VERSIONS: ClassVar[tuple[int, int]] = (0, 5)
    FLEXIBLE: ClassVar[int] = 4

    throttle_time_ms: int = field(INT32, "1+")
    error_code: int = field(INT16, "0+")
    protocol_type: str | None = field(STRING, "5+", nullable="5+", default=None)
    protocol_name: str | None = field(STRING, "5+", nullable="5+", default=None)
    assignment: bytes = field(BYTES, "0+")
