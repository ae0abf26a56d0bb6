"""EndTxn (key 26), versions 0-4, flexible from 3.

Commit or abort a transaction.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, INT16, INT32, INT64, STRING, Message, field, struct


@struct
class EndTxnRequest(Message):
    API_KEY: ClassVar[int] = 26
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 3

    transactional_id: str = field(STRING, "0+")
    producer_id: int = field(INT64, "0+")
    producer_epoch: int = field(INT16, "0+")
    committed: bool = field(BOOL, "0+")


@struct
class EndTxnResponse(Message):
    API_KEY: ClassVar[int] = 26
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 3

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
