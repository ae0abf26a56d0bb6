"""IncrementalAlterConfigs (key 44), versions 0-1, flexible from 1.

Set, delete, append to, subtract from single configurations.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, INT8, INT16, INT32, STRING, Message, array, field, struct


@struct
class AlterableConfig:
    name: str = field(STRING, "0+")
    config_operation: int = field(INT8, "0+")
    value: str | None = field(STRING, "0+", nullable="0+")


@struct
class AlterConfigsResource:
    resource_type: int = field(INT8, "0+")
    resource_name: str = field(STRING, "0+")
    configs: list[AlterableConfig] = field(array(AlterableConfig), "0+")


@struct
class IncrementalAlterConfigsRequest(Message):
    API_KEY: ClassVar[int] = 44
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 1

    resources: list[AlterConfigsResource] = field(array(AlterConfigsResource), "0+")
    validate_only: bool = field(BOOL, "0+")


@struct
class AlterConfigsResourceResponse:
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    resource_type: int = field(INT8, "0+")
    resource_name: str = field(STRING, "0+")


@struct
class IncrementalAlterConfigsResponse(Message):
    API_KEY: ClassVar[int] = 44
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 1

    throttle_time_ms: int = field(INT32, "0+")
    responses: list[AlterConfigsResourceResponse] = field(array(AlterConfigsResourceResponse), "0+")
