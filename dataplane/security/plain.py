"""SASL PLAIN (RFC 4616): `[authorization id] NUL user NUL password`, in one token."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING

from dataplane.security.sasl_exchange import Identity, SaslRefusedError, Step

if TYPE_CHECKING:
    from collections.abc import Mapping


class PlainExchange:
    """Checks a password against `users`, passwords by name. Takes as long for unknown users."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = users
        self._username = ""

    @property
    def claimed_username(self) -> str:
        return self._username

    async def step(self, token: bytes) -> Step:
        try:
            parts = token.decode().split("\0")
        except UnicodeDecodeError as error:
            raise SaslRefusedError("the message is not UTF-8") from error
        if len(parts) != 3:
            raise SaslRefusedError(f"expected 3 parts, got {len(parts)}")
        authorization_id, username, password = parts
        if not username:
            raise SaslRefusedError("no user name is given")
        self._username = username
        if not password:
            raise SaslRefusedError("no password is given")
        expected = self._users.get(username)
        # Digests have one length, so that not even the length of a password shows in the time.
        same = hmac.compare_digest(_digest(password), _digest(expected or ""))
        if expected is None or not same:
            raise SaslRefusedError("invalid credentials")
        if authorization_id not in ("", username):
            raise SaslRefusedError("a client may not act for another user")
        return Step(b"", Identity(username))


def _digest(password: str) -> bytes:
    return hashlib.sha256(password.encode()).digest()
