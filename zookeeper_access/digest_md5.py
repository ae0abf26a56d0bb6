"""SASL DIGEST-MD5 (RFC 2831), the client's side, as ZooKeeper's servers speak it. No I/O.

The password itself does not travel, and the server proves that it knows it too. What follows the
login is neither signed nor encrypted: that is TLS's part.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

# ZooKeeper's servers and clients have these fixed, whatever the host is called.
URI: Final = "zookeeper/zk-sasl-md5"
_NONCE_COUNT: Final = "00000001"
_PAIR = re.compile(r'\s*([a-zA-Z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^,"\s]*))\s*(?:,|$)', re.DOTALL)
CHALLENGE_BYTES_MAX: Final = 2048
"""RFC 2831, 2.1.1: a longer challenge is no challenge."""


class DigestMd5Error(Exception):
    """The server's part of the exchange is not DIGEST-MD5, or it does not know the password."""


class DigestMd5:
    """One login: `respond` to the challenge, then `verify` what the server answers.

    `cnonce` is a nonce of the caller's: unpredictable, printable ASCII without quotes.
    """

    def __init__(self, username: str, password: str, *, cnonce: str, uri: str = URI) -> None:
        self._username = username
        self._password = password
        self._cnonce = cnonce
        self._uri = uri
        self._expected = ""

    def respond(self, challenge: bytes) -> bytes:
        """The response to a challenge. Raises DigestMd5Error."""
        said = parse(challenge)
        nonce, realm = said.get("nonce", ""), said.get("realm", "")
        if not nonce:
            raise DigestMd5Error("the challenge has no nonce")
        if said.get("algorithm") != "md5-sess":
            raise DigestMd5Error("the challenge is not for md5-sess")
        if "auth" not in [qop.strip() for qop in said.get("qop", "auth").split(",")]:
            raise DigestMd5Error("the server wants more than authentication")
        secret = _md5(f"{self._username}:{realm}:{self._password}".encode())
        start = _md5(secret + f":{nonce}:{self._cnonce}".encode()).hex()

        def proof(prefix: str) -> str:
            end = _md5(f"{prefix}:{self._uri}".encode()).hex()
            text = f"{start}:{nonce}:{_NONCE_COUNT}:{self._cnonce}:auth:{end}"
            return _md5(text.encode()).hex()

        self._expected = proof("")
        fields = {
            "charset": "utf-8",
            "username": _quoted(self._username),
            "realm": _quoted(realm),
            "nonce": _quoted(nonce),
            "nc": _NONCE_COUNT,
            "cnonce": _quoted(self._cnonce),
            "digest-uri": _quoted(self._uri),
            "response": proof("AUTHENTICATE"),
            "qop": "auth",
        }
        return ",".join(f"{name}={value}" for name, value in fields.items()).encode()

    def verify(self, answer: bytes) -> None:
        """Raises DigestMd5Error unless the server has proved that it knows the password."""
        if not self._expected or parse(answer).get("rspauth") != self._expected:
            raise DigestMd5Error("the server does not know the password")


def parse(text: bytes) -> dict[str, str]:
    """The pairs of a challenge or an answer. Raises DigestMd5Error."""
    if len(text) > CHALLENGE_BYTES_MAX:
        raise DigestMd5Error(f"more than {CHALLENGE_BYTES_MAX} bytes")
    try:
        rest = text.decode()
    except UnicodeDecodeError as error:
        raise DigestMd5Error("not UTF-8") from error
    found: dict[str, str] = {}
    position = 0
    while position < len(rest):
        match = _PAIR.match(rest, position)
        if match is None:
            raise DigestMd5Error("not a list of NAME=VALUE")
        quoted = match[2]
        value = re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL) if quoted is not None else match[3]
        if match[1].lower() in found:
            raise DigestMd5Error(f"{match[1]} is there twice")
        found[match[1].lower()] = value
        position = match.end()
    return found


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
