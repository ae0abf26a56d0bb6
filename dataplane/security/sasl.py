"""The SASL exchange of one connection: handshake, then tokens until done or refused (KIP-43, -152).

            handshake(mechanism)          first token            second token
INITIAL ─────────────────────────► HANDSHAKEN ─────────► CHALLENGED ─────────► COMPLETE
any refusal ► FAILED; the connection is closed after the answer
"""

from __future__ import annotations

import base64
import enum
from typing import TYPE_CHECKING, Final

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.scram import ScramError, ScramMechanism, ScramServer, decoy_credential

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from dataplane.ports.entropy import Entropy
    from dataplane.security.scram import ScramCredential

    CredentialLookup = Callable[[ScramMechanism, str], Awaitable[ScramCredential | None]]

NONCE_BYTES: Final = 24
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
    """One exchange. `username` is set once `state` is COMPLETE.

    `decoy_secret` makes the challenge for unknown users unguessable, and the same each time.
    """

    def __init__(
        self,
        mechanisms: Sequence[str],
        lookup: CredentialLookup,
        entropy: Entropy,
        *,
        decoy_secret: bytes,
    ) -> None:
        self.mechanisms = tuple(mechanisms)
        self.state = SaslState.INITIAL
        self.username: str | None = None
        self._lookup = lookup
        self._entropy = entropy
        self._decoy_secret = decoy_secret
        self._scram: ScramServer | None = None

    @property
    def mechanism(self) -> str | None:
        return self._scram.mechanism.sasl_name if self._scram is not None else None

    @property
    def claimed_username(self) -> str:
        """Who the client says it is, proven or not; empty until it has said so."""
        return self._scram.username if self._scram is not None else ""

    def handshake(self, mechanism: str) -> None:
        """Choose a mechanism. KafkaError: UNSUPPORTED_SASL_MECHANISM, ILLEGAL_SASL_STATE."""
        if self.state is not SaslState.INITIAL:
            self.state = SaslState.FAILED
            raise KafkaError(ErrorCode.ILLEGAL_SASL_STATE)
        known = ScramMechanism.from_sasl_name(mechanism)
        if known is None or mechanism not in self.mechanisms:
            self.state = SaslState.FAILED
            raise KafkaError(
                ErrorCode.UNSUPPORTED_SASL_MECHANISM,
                f"{mechanism!r} is not enabled, these are: {', '.join(self.mechanisms)}",
            )
        self._scram = ScramServer(known)
        self.state = SaslState.HANDSHAKEN

    async def authenticate(self, token: bytes) -> bytes:
        """Take the client's token, give the server's. KafkaError: SASL_AUTHENTICATION_FAILED
        when it is refused, ILLEGAL_SASL_STATE when no token is expected.
        """
        scram, state = self._scram, self.state
        # Whatever goes wrong below, even a cancelled look-up, the exchange cannot be resumed.
        self.state = SaslState.FAILED
        if scram is None or state not in (SaslState.HANDSHAKEN, SaslState.CHALLENGED):
            raise KafkaError(ErrorCode.ILLEGAL_SASL_STATE)
        try:
            if len(token) > TOKEN_BYTES_MAX:
                raise ScramError("the token is too long")
            if state is SaslState.HANDSHAKEN:
                answer = await self._challenge(scram, token)
                self.state = SaslState.CHALLENGED
            else:
                answer = scram.finish(token)
                self.username = scram.username
                self.state = SaslState.COMPLETE
        except ScramError as error:
            raise KafkaError(
                ErrorCode.SASL_AUTHENTICATION_FAILED,
                f"Authentication failed with SASL mechanism {self.mechanism}: {error}",
            ) from error
        return answer

    async def _challenge(self, scram: ScramServer, token: bytes) -> bytes:
        username = scram.client_first(token)
        credential = await self._lookup(scram.mechanism, username)
        if credential is None:
            credential = decoy_credential(scram.mechanism, username, self._decoy_secret)
        nonce = base64.urlsafe_b64encode(self._entropy.token_bytes(NONCE_BYTES)).decode()
        return scram.challenge(credential, nonce)


def shown(name: str) -> str:
    """A client's text for a log: quoted, escaped to printable ASCII, truncated."""
    return ascii(name[:SHOWN_CHARACTERS_MAX]) + ("…" if len(name) > SHOWN_CHARACTERS_MAX else "")
