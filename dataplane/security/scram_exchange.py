"""SCRAM as one SASL exchange: two tokens, the credential looked up between them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from dataplane.security.sasl_exchange import Identity, Step
from dataplane.security.scram import ScramError, ScramServer, decoy_credential

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dataplane.ports.entropy import Entropy
    from dataplane.security.scram import ScramCredential, ScramMechanism

    TokenLookup = Callable[
        [ScramMechanism, str], Awaitable[tuple[ScramCredential, Identity] | None]
    ]
    CredentialLookup = Callable[[ScramMechanism, str], Awaitable[ScramCredential | None]]

NONCE_BYTES: Final = 24


class ScramExchange:
    """`decoy_secret` makes the challenge for unknown users unguessable, and the same each time."""

    def __init__(
        self,
        mechanism: ScramMechanism,
        lookup: CredentialLookup,
        entropy: Entropy,
        *,
        decoy_secret: bytes,
        tokens: TokenLookup | None = None,
    ) -> None:
        """`tokens`: the credential and the identity of a delegation token by its id."""
        self._scram = ScramServer(mechanism)
        self._lookup = lookup
        self._entropy = entropy
        self._decoy_secret = decoy_secret
        self._tokens = tokens
        self._identity: Identity | None = None
        self._challenged = False

    @property
    def claimed_username(self) -> str:
        return self._scram.username

    async def step(self, token: bytes) -> Step:
        scram = self._scram
        if self._challenged:
            answer = scram.finish(token)
            if scram.by_token and self._identity is None:
                raise ScramError("invalid credentials")  # the decoy is nobody's
            return Step(answer, self._identity or Identity(scram.username))
        username = scram.client_first(token)
        credential = await self._credential(username)
        if credential is None:
            credential = decoy_credential(scram.mechanism, username, self._decoy_secret)
        nonce = base64.urlsafe_b64encode(self._entropy.token_bytes(NONCE_BYTES)).decode()
        self._challenged = True
        return Step(scram.challenge(credential, nonce))

    async def _credential(self, username: str) -> ScramCredential | None:
        """A user's, or a token's: a token's id never names a user, and the other way round."""
        mechanism = self._scram.mechanism
        if not self._scram.by_token:
            return await self._lookup(mechanism, username)
        found = await self._tokens(mechanism, username) if self._tokens is not None else None
        if found is None:
            return None
        credential, self._identity = found
        return credential
