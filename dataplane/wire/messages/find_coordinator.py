"""FindCoordinator (key 10), versions 0-6, flexible from 3.

Which broker coordinates a group or a transactional id.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT8, INT16, INT32, STRING, Message, array, field, struct


@struct
class FindCoordinatorRequest(Message):
    API_KEY: ClassVar[int] = 10
    VERSIONS: ClassVar[tuple[int, int]] = (0, 6)
    FLEXIBLE: ClassVar[int] = 3

    key: str = field(STRING, "0-3")
    key_type: int = field(INT8, "1+")
    coordinator_keys: list[str] = field(array(STRING), "4+")


@struct
class Coordinator:
    key: str = field(STRING, "4+")
    node_id: int = field(INT32, "4+")
    host: str = field(STRING, "4+")
    port: int = field(INT32, "4+")
    error_code: int = field(INT16, "4+")
    error_message: str | None = field(STRING, "4+", nullable="4+")


@struct
class FindCoordinatorResponse(Message):
    API_KEY: ClassVar[int] = 10
    VERSIONS: ClassVar[tuple[int, int]] = (0, 6)
    FLEXIBLE: ClassVar[int] = 3

    throttle_time_ms: int = field(INT32, "1+")
    error_code: int = field(INT16, "0-3")
    error_message: str | None = field(STRING, "1-3", nullable="1-3", default="NONE")
    node_id: int = field(INT32, "0-3")
    host: str = field(STRING, "0-3")
    port: int = field(INT32, "0-3")
    coordinators: list[Coordinator] = field(array(Coordinator), "4+")
