"""DeleteAcls (key 31), versions 0-3, flexible from 2.

Delete ACLs that match filters.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT8, INT16, INT32, STRING, Message, array, field, struct


@struct
class DeleteAclsFilter:
    resource_type_filter: int = field(INT8, "0+")
    resource_name_filter: str | None = field(STRING, "0+", nullable="0+")
    pattern_type_filter: int = field(INT8, "1+", default=3)
    principal_filter: str | None = field(STRING, "0+", nullable="0+")
    host_filter: str | None = field(STRING, "0+", nullable="0+")
    operation: int = field(INT8, "0+")
    permission_type: int = field(INT8, "0+")


@struct
class DeleteAclsRequest(Message):
    API_KEY: ClassVar[int] = 31
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    filters: list[DeleteAclsFilter] = field(array(DeleteAclsFilter), "0+")


@struct
class DeleteAclsMatchingAcl:
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    resource_type: int = field(INT8, "0+")
    resource_name: str = field(STRING, "0+")
    pattern_type: int = field(INT8, "1+", default=3)
    principal: str = field(STRING, "0+")
    host: str = field(STRING, "0+")
    operation: int = field(INT8, "0+")
    permission_type: int = field(INT8, "0+")


@struct
class DeleteAclsFilterResult:
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    matching_acls: list[DeleteAclsMatchingAcl] = field(array(DeleteAclsMatchingAcl), "0+")


@struct
class DeleteAclsResponse(Message):
    API_KEY: ClassVar[int] = 31
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    throttle_time_ms: int = field(INT32, "0+")
    filter_results: list[DeleteAclsFilterResult] = field(array(DeleteAclsFilterResult), "0+")
