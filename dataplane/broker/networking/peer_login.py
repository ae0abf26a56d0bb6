"""A broker's own SASL login at its peers: SCRAM (RFC 5802, client side), or PLAIN if configured."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from dataplane.broker.networking.peer_connection import PeerUnavailableError
from dataplane.config.sasl import PLAIN
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from dataplane.broker.networking.peer_connection import PeerConnection

LOGIN_TIMEOUT_MS = 5_000
ITERATIONS_MAX = 1_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class PeerCredentials:
    """Name and password of the inter-broker user; the mechanism is PLAIN or names SCRAM's hash."""

    username: str
    password: str = dataclasses.field(repr=False)
    mechanism: str = "SCRAM-SHA-256"

    @property
    def hash_name(self) -> str:
        return "sha512" if self.mechanism.endswith("512") else "sha256"


class ScramClient:
    """One exchange; `nonce` is the client's, base64 text without a comma."""

    def __init__(self, credentials: PeerCredentials, nonce: str) -> None:
        self._credentials = credentials
        self._nonce = nonce
        name = credentials.username.replace("=", "=3D").replace(",", "=2C")
        self._first_bare = f"n={name},r={nonce}"
        self._server_signature = b""

    def first(self) -> bytes:
        return f"n,,{self._first_bare}".encode()

    def final(self, server_first: bytes) -> bytes:
        """The proof, given the server's salt and iterations. ValueError when they are unfit."""
        fields = _fields(server_first)
        nonce, salt, iterations = fields["r"], base64.b64decode(fields["s"]), int(fields["i"])
        if not nonce.startswith(self._nonce) or not 0 < iterations <= ITERATIONS_MAX:
            raise ValueError("the server's SCRAM challenge is not an answer to ours")
        hash_name = self._credentials.hash_name
        salted = hashlib.pbkdf2_hmac(
            hash_name, self._credentials.password.encode(), salt, iterations
        )
        client_key = hmac.digest(salted, b"Client Key", hash_name)
        stored_key = hashlib.new(hash_name, client_key).digest()
        without_proof = f"c=biws,r={nonce}"
        auth_message = b",".join((self._first_bare.encode(), server_first, without_proof.encode()))
        signature = hmac.digest(stored_key, auth_message, hash_name)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        server_key = hmac.digest(salted, b"Server Key", hash_name)
        self._server_signature = hmac.digest(server_key, auth_message, hash_name)
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def verify(self, server_final: bytes) -> None:
        """ValueError unless the server has shown that it knows the credential too."""
        given = base64.b64decode(_fields(server_final).get("v", ""))
        if not hmac.compare_digest(given, self._server_signature):
            raise ValueError("the server's SCRAM signature is wrong")


def _fields(message: bytes) -> dict[str, str]:
    return dict(part.split("=", 1) for part in message.decode().split(",") if "=" in part)


async def log_in(connection: PeerConnection, credentials: PeerCredentials) -> None:
    """Authenticate a fresh connection. PeerUnavailableError says why not."""
    from dataplane.wire.messages.sasl_authenticate import SaslAuthenticateRequest
    from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest

    async def step(data: bytes) -> bytes:
        answer = await connection.request(
            SaslAuthenticateRequest(auth_bytes=data), 2, timeout_ms=LOGIN_TIMEOUT_MS
        )
        if answer.error_code != ErrorCode.NONE:
            raise PeerUnavailableError(f"login as {credentials.username}: {answer.error_message}")
        return bytes(answer.auth_bytes)

    handshake = await connection.request(
        SaslHandshakeRequest(mechanism=credentials.mechanism), 1, timeout_ms=LOGIN_TIMEOUT_MS
    )
    if handshake.error_code != ErrorCode.NONE:
        raise PeerUnavailableError(
            f"the peer does not offer {credentials.mechanism}, only {handshake.mechanisms}"
        )
    if credentials.mechanism == PLAIN:
        await step(f"\0{credentials.username}\0{credentials.password}".encode())
        return
    client = ScramClient(credentials, secrets.token_urlsafe(24))
    try:
        client.verify(await step(client.final(await step(client.first()))))
    except (ValueError, KeyError) as error:
        raise PeerUnavailableError(f"login as {credentials.username}: {error}") from error
