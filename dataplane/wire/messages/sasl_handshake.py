"""SaslHandshake (key 17), versions 0-1, never flexible.

Choose a SASL mechanism.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, STRING, Message, array, field, struct


@struct
class SaslHandshakeRequest(Message):
    API_KEY: ClassVar[int] = 17
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)

    mechanism: str = field(STRING, "0+")


@struct
class SaslHandshakeResponse(Message):
    API_KEY: ClassVar[int] = 17
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)

    error_code: int = field(INT16, "0+")
    mechanisms: list[str] = field(array(STRING), "0+")
