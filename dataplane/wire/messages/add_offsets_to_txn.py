"""AddOffsetsToTxn (key 25), versions 0-4, flexible from 3.

Add a group's offsets to a transaction.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, INT64, STRING, Message, field, struct


@struct
class AddOffsetsToTxnRequest(Message):
    API_KEY: ClassVar[int] = 25
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 3

    transactional_id: str = field(STRING, "0+")
    producer_id: int = field(INT64, "0+")
    producer_epoch: int = field(INT16, "0+")
    group_id: str = field(STRING, "0+")


@struct
class AddOffsetsToTxnResponse(Message):
    API_KEY: ClassVar[int] = 25
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 3

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
