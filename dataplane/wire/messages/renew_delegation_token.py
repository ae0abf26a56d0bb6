"""RenewDelegationToken (key 39), versions 0-2, flexible from 2.

Let a token live on.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BYTES, INT16, INT32, INT64, Message, field, struct


@struct
class RenewDelegationTokenRequest(Message):
    API_KEY: ClassVar[int] = 39
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    hmac: bytes = field(BYTES, "0+")
    renew_period_ms: int = field(INT64, "0+")


@struct
class RenewDelegationTokenResponse(Message):
    API_KEY: ClassVar[int] = 39
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    error_code: int = field(INT16, "0+")
    expiry_timestamp_ms: int = field(INT64, "0+")
    throttle_time_ms: int = field(INT32, "0+")
