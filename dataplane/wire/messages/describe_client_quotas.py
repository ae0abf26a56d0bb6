"""DescribeClientQuotas (key 48), versions 0-1, flexible from 1.

Which quotas entities have.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import (
    BOOL,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    STRING,
    Message,
    array,
    field,
    struct,
)


@struct
class ComponentData:
    entity_type: str = field(STRING, "0+")
    match_type: int = field(INT8, "0+")
    match: str | None = field(STRING, "0+", nullable="0+")


@struct
class DescribeClientQuotasRequest(Message):
    API_KEY: ClassVar[int] = 48
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 1

    components: list[ComponentData] = field(array(ComponentData), "0+")
    strict: bool = field(BOOL, "0+")


@struct
class EntityData:
    entity_type: str = field(STRING, "0+")
    entity_name: str | None = field(STRING, "0+", nullable="0+")


@struct
class ValueData:
    key: str = field(STRING, "0+")
    value: float = field(FLOAT64, "0+")


@struct
class EntryData:
    entity: list[EntityData] = field(array(EntityData), "0+")
    values: list[ValueData] = field(array(ValueData), "0+")


@struct
class DescribeClientQuotasResponse(Message):
    API_KEY: ClassVar[int] = 48
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 1

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    entries: list[EntryData] | None = field(array(EntryData), "0+", nullable="0+")
