"""ExpireDelegationToken (key 40), versions 0-2, flexible from 2.

Let a token end sooner, or at once.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BYTES, INT16, INT32, INT64, Message, field, struct


@struct
class ExpireDelegationTokenRequest(Message):
    API_KEY: ClassVar[int] = 40
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    hmac: bytes = field(BYTES, "0+")
    expiry_time_period_ms: int = field(INT64, "0+")


@struct
class ExpireDelegationTokenResponse(Message):
    API_KEY: ClassVar[int] = 40
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    error_code: int = field(INT16, "0+")
    expiry_timestamp_ms: int = field(INT64, "0+")
    throttle_time_ms: int = field(INT32, "0+")
