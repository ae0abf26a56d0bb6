"""JoinGroup (key 11), versions 0-9, flexible from 6.

Enter a classic group or a new generation of it.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, BYTES, INT16, INT32, STRING, Message, array, field, struct


@struct
class JoinGroupRequestProtocol:
    name: str = field(STRING, "0+")
    metadata: bytes = field(BYTES, "0+")


@struct
class JoinGroupRequest(Message):
    API_KEY: ClassVar[int] = 11
    VERSIONS: ClassVar[tuple[int, int]] = (0, 9)
    FLEXIBLE: ClassVar[int] = 6

    group_id: str = field(STRING, "0+")
    session_timeout_ms: int = field(INT32, "0+")
    rebalance_timeout_ms: int = field(INT32, "1+", default=-1)
    member_id: str = field(STRING, "0+")
    group_instance_id: str | None = field(STRING, "5+", nullable="5+", default=None)
    protocol_type: str = field(STRING, "0+")
    protocols: list[JoinGroupRequestProtocol] = field(array(JoinGroupRequestProtocol), "0+")
    reason: str | None = field(STRING, "8+", nullable="8+", default=None)


@struct
class JoinGroupResponseMember:
    member_id: str = field(STRING, "0+")
    group_instance_id: str | None = field(STRING, "5+", nullable="5+", default=None)
    metadata: bytes = field(BYTES, "0+")


@struct
class JoinGroupResponse(Message):
    API_KEY: ClassVar[int] = 11
    VERSIONS: ClassVar[tuple[int, int]] = (0, 9)
    FLEXIBLE: ClassVar[int] = 6

    throttle_time_ms: int = field(INT32, "2+")
    error_code: int = field(INT16, "0+")
    generation_id: int = field(INT32, "0+", default=-1)
    protocol_type: str | None = field(STRING, "7+", nullable="7+", default=None)
    protocol_name: str | None = field(STRING, "0+", nullable="7+")
    leader: str = field(STRING, "0+")
    skip_assignment: bool = field(BOOL, "9+")
    member_id: str = field(STRING, "0+")
    members: list[JoinGroupResponseMember] = field(array(JoinGroupResponseMember), "0+")
