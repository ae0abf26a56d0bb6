"""DeleteGroups (key 42), versions 0-2, flexible from 2.

Delete empty groups.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, STRING, Message, array, field, struct


@struct
class DeleteGroupsRequest(Message):
    API_KEY: ClassVar[int] = 42
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    groups_names: list[str] = field(array(STRING), "0+")


@struct
class DeletableGroupResult:
    group_id: str = field(STRING, "0+")
    error_code: int = field(INT16, "0+")


@struct
class DeleteGroupsResponse(Message):
    API_KEY: ClassVar[int] = 42
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    throttle_time_ms: int = field(INT32, "0+")
    results: list[DeletableGroupResult] = field(array(DeletableGroupResult), "0+")
