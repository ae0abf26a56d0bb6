"""What every SASL mechanism has in common: tokens in, answers out, at last who it is."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class SaslRefusedError(Exception):
    """The exchange failed; the message may be shown to the client."""


class Identity(NamedTuple):
    """Who has proven to be who. `ends_at_ms` (Unix epoch): when the credential expires, None if it
    does not. `by_token`: a delegation token was the credential.
    """

    name: str
    ends_at_ms: int | None = None
    by_token: bool = False


class Step(NamedTuple):
    """The answer to one of the client's tokens; `identity` is there once the exchange is over."""

    answer: bytes
    identity: Identity | None = None


class SaslExchange(Protocol):
    """One exchange in one mechanism."""

    @property
    def claimed_username(self) -> str:
        """Who the client says it is, proven or not; empty until it has said so."""
        ...

    async def step(self, token: bytes) -> Step:
        """Take one token. SaslRefusedError ends the exchange."""
        ...
