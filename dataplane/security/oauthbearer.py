"""SASL OAUTHBEARER (RFC 7628), server side: the client's message, and the exchange around it.

Whether the token in the message is good is for `validate` to say: `jwt_tokens.py` for signed ones.
A refusal takes two steps, as the RFC has it: a JSON status, then the client's single 0x01.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from dataplane.security.sasl_exchange import Identity, SaslRefusedError, Step

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    TokenValidator = Callable[[str], Awaitable[Identity]]

_SEPARATOR: Final = "\x01"
_SCHEME = re.compile(r"bearer +([-._~+/A-Za-z0-9]+=*)", re.IGNORECASE)
_EXTENSION_NAME = re.compile(r"[A-Za-z]+")
_EXTENSION_VALUE = re.compile(r"[\x21-\x7e \t\r\n]*")
_INVALID_TOKEN: Final = json.dumps({"status": "invalid_token"}).encode()


class BearerMessage(NamedTuple):
    """The client's first message. `token` is a secret; `authorization_id` may be empty."""

    authorization_id: str
    token: str

    def __repr__(self) -> str:
        return f"BearerMessage({self.authorization_id!r}, a token)"


def parse_message(message: bytes) -> BearerMessage:
    """`n,[a=name],` 0x01 `auth=Bearer …` 0x01 [`name=value` 0x01 …] 0x01. SaslRefusedError."""
    try:
        text = message.decode()
    except UnicodeDecodeError as error:
        raise SaslRefusedError("the message is not UTF-8") from error
    header, separator, rest = text.partition(_SEPARATOR)
    parts = header.split(",")
    if not separator or not rest.endswith(2 * _SEPARATOR) or len(parts) != 3 or parts[2]:
        raise SaslRefusedError("malformed client first message")
    if parts[0] not in ("n", "y"):
        raise SaslRefusedError("channel binding is not supported")
    if parts[1] and not parts[1].startswith("a="):
        raise SaslRefusedError("malformed client first message")
    pairs: dict[str, str] = {}
    for item in rest[:-2].split(_SEPARATOR):
        name, equals, value = item.partition("=")
        if not equals or name in pairs or not _EXTENSION_NAME.fullmatch(name):
            raise SaslRefusedError("malformed client first message")
        if not _EXTENSION_VALUE.fullmatch(value):
            raise SaslRefusedError("malformed client first message")
        pairs[name] = value
    scheme = _SCHEME.fullmatch(pairs.get("auth", ""))
    if scheme is None:
        raise SaslRefusedError("the message holds no bearer token")
    name = parts[1][2:].replace("=2C", ",").replace("=3D", "=")
    return BearerMessage(name, scheme[1])


class OAuthBearerExchange:
    """One exchange. `validate` gives the identity of a token, or raises SaslRefusedError."""

    def __init__(self, validate: TokenValidator) -> None:
        self._validate = validate
        self._refusal: SaslRefusedError | None = None
        self._username = ""

    @property
    def claimed_username(self) -> str:
        return self._username

    async def step(self, token: bytes) -> Step:
        if self._refusal is not None:
            raise self._refusal  # whatever the client's second message is
        message = parse_message(token)
        self._username = message.authorization_id
        try:
            identity = await self._validate(message.token)
            self._username = identity.name
            if message.authorization_id not in ("", identity.name):
                raise SaslRefusedError("a client may not act for another user")
        except SaslRefusedError as error:
            self._refusal = error
            return Step(_INVALID_TOKEN)
        return Step(b"", identity)
