"""SaslAuthenticate (key 36), versions 0-2, flexible from 2.

One step of a SASL exchange.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BYTES, INT16, INT64, STRING, Message, field, struct


@struct
class SaslAuthenticateRequest(Message):
    API_KEY: ClassVar[int] = 36
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    auth_bytes: bytes = field(BYTES, "0+")


@struct
class SaslAuthenticateResponse(Message):
    API_KEY: ClassVar[int] = 36
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+")
    auth_bytes: bytes = field(BYTES, "0+")
    session_lifetime_ms: int = field(INT64, "1+")
