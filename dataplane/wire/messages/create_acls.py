"""CreateAcls (key 30), versions 0-3, flexible from 2.

Create ACLs.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT8, INT16, INT32, STRING, Message, array, field, struct


@struct
class AclCreation:
    resource_type: int = field(INT8, "0+")
    resource_name: str = field(STRING, "0+")
    resource_pattern_type: int = field(INT8, "1+", default=3)
    principal: str = field(STRING, "0+")
    host: str = field(STRING, "0+")
    operation: int = field(INT8, "0+")
    permission_type: int = field(INT8, "0+")


@struct
class CreateAclsRequest(Message):
    API_KEY: ClassVar[int] = 30
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    creations: list[AclCreation] = field(array(AclCreation), "0+")


@struct
class AclCreationResult:
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+")


@struct
class CreateAclsResponse(Message):
    API_KEY: ClassVar[int] = 30
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    throttle_time_ms: int = field(INT32, "0+")
    results: list[AclCreationResult] = field(array(AclCreationResult), "0+")
