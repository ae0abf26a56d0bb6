"""SCRAM as one SASL exchange: two tokens, the credential looked up between them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from dataplane.security.sasl_exchange import Identity, Step
from dataplane.security.scram import ScramServer, decoy_credential

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dataplane.ports.entropy import Entropy
    from dataplane.security.scram import ScramCredential, ScramMechanism

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
    ) -> None:
        self._scram = ScramServer(mechanism)
        self._lookup = lookup
        self._entropy = entropy
        self._decoy_secret = decoy_secret
        self._challenged = False

    @property
    def claimed_username(self) -> str:
        return self._scram.username

    async def step(self, token: bytes) -> Step:
        scram = self._scram
        if self._challenged:
            return Step(scram.finish(token), Identity(scram.username))
        username = scram.client_first(token)
        credential = await self._lookup(scram.mechanism, username)
        if credential is None:
            credential = decoy_credential(scram.mechanism, username, self._decoy_secret)
        nonce = base64.urlsafe_b64encode(self._entropy.token_bytes(NONCE_BYTES)).decode()
        self._challenged = True
        return Step(scram.challenge(credential, nonce))
