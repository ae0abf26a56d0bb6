"""The SASL exchange of one connection: handshake, then tokens until done or refused (KIP-43, -152).

            handshake(mechanism)          a token, more to come       the last token
INITIAL ─────────────────────────► HANDSHAKEN ─────────► CHALLENGED ─────────► COMPLETE
                                        └── a mechanism of one token (PLAIN) ──────▲
any refusal ► FAILED; the connection is closed after the answer
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.sasl_exchange import SaslRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.security.sasl_exchange import Identity, SaslExchange

    Mechanisms = Mapping[str, Callable[[], SaslExchange]]

TOKEN_BYTES_MAX: Final = 64 * 1024
"""No honest token comes near; anything longer is refused before it is looked at."""
SHOWN_CHARACTERS_MAX: Final = 64
"""Of a name that a client chose, in one line of a log."""


class SaslState(enum.Enum):
    INITIAL = "initial"
    HANDSHAKEN = "handshaken"
    CHALLENGED = "challenged"
    COMPLETE = "complete"
    FAILED = "failed"


class SaslServerSession:
    """One exchange. `identity` is set once `state` is COMPLETE."""

    def __init__(self, mechanisms: Mechanisms) -> None:
        """`mechanisms`: those of the listener by name, each with what makes its exchange."""
        self.state = SaslState.INITIAL
        self.mechanism: str | None = None
        self.identity: Identity | None = None
        self._mechanisms = mechanisms
        self._exchange: SaslExchange | None = None

    @property
    def claimed_username(self) -> str:
        """Who the client says it is, proven or not; empty until it has said so."""
        return self._exchange.claimed_username if self._exchange is not None else ""

    def handshake(self, mechanism: str) -> None:
        """Choose a mechanism. KafkaError: UNSUPPORTED_SASL_MECHANISM, ILLEGAL_SASL_STATE."""
        if self.state is not SaslState.INITIAL:
            self.state = SaslState.FAILED
            raise KafkaError(ErrorCode.ILLEGAL_SASL_STATE)
        make_exchange = self._mechanisms.get(mechanism)
        if make_exchange is None:
            self.state = SaslState.FAILED
            raise KafkaError(
                ErrorCode.UNSUPPORTED_SASL_MECHANISM,
                f"{mechanism!r} is not enabled, these are: {', '.join(self._mechanisms)}",
            )
        self.mechanism = mechanism
        self._exchange = make_exchange()
        self.state = SaslState.HANDSHAKEN

    async def authenticate(self, token: bytes) -> bytes:
        """Take the client's token, give the server's. KafkaError: SASL_AUTHENTICATION_FAILED
        when it is refused, ILLEGAL_SASL_STATE when no token is expected.
        """
        exchange, state = self._exchange, self.state
        # Whatever goes wrong below, even a cancelled look-up, the exchange cannot be resumed.
        self.state = SaslState.FAILED
        if exchange is None or state not in (SaslState.HANDSHAKEN, SaslState.CHALLENGED):
            raise KafkaError(ErrorCode.ILLEGAL_SASL_STATE)
        try:
            if len(token) > TOKEN_BYTES_MAX:
                raise SaslRefusedError("the token is too long")
            answer, identity = await exchange.step(token)
        except SaslRefusedError as error:
            raise KafkaError(
                ErrorCode.SASL_AUTHENTICATION_FAILED,
                f"Authentication failed with SASL mechanism {self.mechanism}: {error}",
            ) from error
        self.identity = identity
        self.state = SaslState.CHALLENGED if identity is None else SaslState.COMPLETE
        return answer


def shown(name: str) -> str:
    """A client's text for a log: quoted, escaped to printable ASCII, truncated."""
    return ascii(name[:SHOWN_CHARACTERS_MAX]) + ("…" if len(name) > SHOWN_CHARACTERS_MAX else "")
