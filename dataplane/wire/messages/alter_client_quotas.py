"""AlterClientQuotas (key 49), versions 0-1, flexible from 1.

Set and remove quotas of entities.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, FLOAT64, INT16, INT32, STRING, Message, array, field, struct


@struct
class EntityData:
    entity_type: str = field(STRING, "0+")
    entity_name: str | None = field(STRING, "0+", nullable="0+")


@struct
class OpData:
    key: str = field(STRING, "0+")
    value: float = field(FLOAT64, "0+")
    remove: bool = field(BOOL, "0+")


@struct
class AlteredEntry:
    entity: list[EntityData] = field(array(EntityData), "0+")
    ops: list[OpData] = field(array(OpData), "0+")


@struct
class AlterClientQuotasRequest(Message):
    API_KEY: ClassVar[int] = 49
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 1

    entries: list[AlteredEntry] = field(array(AlteredEntry), "0+")
    validate_only: bool = field(BOOL, "0+")


@struct
class AlterationResult:
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    entity: list[EntityData] = field(array(EntityData), "0+")


@struct
class AlterClientQuotasResponse(Message):
    API_KEY: ClassVar[int] = 49
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 1

    throttle_time_ms: int = field(INT32, "0+")
    entries: list[AlterationResult] = field(array(AlterationResult), "0+")
