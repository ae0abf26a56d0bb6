"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), server side: stored keys only.

Stored in ZooKeeper as Kafka does: `salt=…,stored_key=…,server_key=…,iterations=…`, base64.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import enum
import hashlib
import hmac
from typing import Final

from dataplane.security.sasl_exchange import SaslRefusedError

INT32_MAX = 2**31 - 1

ITERATIONS_MIN: Final = 4096
ITERATIONS_MAX: Final = 16384
"""What AlterUserScramCredentials accepts, as in Kafka: more would slow every login down."""


class ScramMechanism(enum.IntEnum):
    """Numbers are those of the wire (KIP-554)."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def sasl_name(self) -> str:
        return self.name.replace("_", "-")

    @property
    def hash_name(self) -> str:
        return "sha256" if self is ScramMechanism.SCRAM_SHA_256 else "sha512"

    @classmethod
    def from_sasl_name(cls, name: str) -> ScramMechanism | None:
        return next((mechanism for mechanism in cls if mechanism.sasl_name == name), None)


@dataclasses.dataclass(frozen=True, slots=True)
class ScramCredential:
    """Enough to verify a password, not to know it."""

    salt: bytes
    stored_key: bytes = dataclasses.field(repr=False)
    server_key: bytes = dataclasses.field(repr=False)
    iterations: int

    @classmethod
    def from_salted_password(
        cls, mechanism: ScramMechanism, salted_password: bytes, salt: bytes, iterations: int
    ) -> ScramCredential:
        hash_name = mechanism.hash_name
        client_key = hmac.digest(salted_password, b"Client Key", hash_name)
        return cls(
            salt=salt,
            stored_key=hashlib.new(hash_name, client_key).digest(),
            server_key=hmac.digest(salted_password, b"Server Key", hash_name),
            iterations=iterations,
        )

    @classmethod
    def from_password(
        cls, mechanism: ScramMechanism, password: str, salt: bytes, iterations: int
    ) -> ScramCredential:
        salted = hashlib.pbkdf2_hmac(mechanism.hash_name, password.encode(), salt, iterations)
        return cls.from_salted_password(mechanism, salted, salt, iterations)

    def to_text(self) -> str:
        return ",".join(
            (
                f"salt={_b64(self.salt)}",
                f"stored_key={_b64(self.stored_key)}",
                f"server_key={_b64(self.server_key)}",
                f"iterations={self.iterations}",
            )
        )

    @classmethod
    def from_text(cls, text: str) -> ScramCredential:
        """ValueError when a part is missing or not base64."""
        parts = dict(part.partition("=")[::2] for part in text.split(","))
        try:
            return cls(
                salt=unb64(parts["salt"]),
                stored_key=unb64(parts["stored_key"]),
                server_key=unb64(parts["server_key"]),
                iterations=int(parts["iterations"]),
            )
        except KeyError as error:
            raise ValueError(f"SCRAM credential lacks {error}") from error


def parse_bootstrap(text: str) -> dict[tuple[str, ScramMechanism], ScramCredential]:
    """Read `penstock.bootstrap.scram`: a comma-separated list of
    `user=SCRAM-SHA-256:<iterations>:<salt>:<stored key>:<server key>`, all base64.

    ValueError names the user or the item's place, never what may be a secret.
    """
    credentials = {}
    items = filter(None, (part.strip() for part in text.split(",")))
    for place, item in enumerate(items, 1):
        user, separator, rest = item.partition("=")
        whose = f"user {user!r}" if user and separator else f"item {place}"
        fields = rest.split(":")
        mechanism = ScramMechanism.from_sasl_name(fields[0])
        if not user or mechanism is None or len(fields) != 5:
            raise ValueError(
                f"{whose}: expected user=SCRAM-SHA-256:iterations:salt:stored_key:server_key"
            )
        if not (fields[1].isdecimal() and 0 < int(fields[1]) <= INT32_MAX):
            raise ValueError(f"{whose}: iterations must be a number from 1 to {INT32_MAX}")
        try:
            salt, stored_key, server_key = (unb64(field) for field in fields[2:])
        except ValueError as error:
            raise ValueError(f"{whose}: salt and keys must be base64") from error
        credentials[user, mechanism] = ScramCredential(
            salt=salt, stored_key=stored_key, server_key=server_key, iterations=int(fields[1])
        )
    return credentials


class ScramError(SaslRefusedError):
    """The exchange failed; the message may be shown to the client."""


class ScramServer:
    """One exchange: `client_first` gives the user, `challenge` and `finish` the two answers."""

    def __init__(self, mechanism: ScramMechanism) -> None:
        self.mechanism = mechanism
        self.username = ""
        self.by_token = False
        """Whether the user name is the id of a delegation token (KIP-48)."""
        self._gs2_header = b""
        self._client_first_bare = b""
        self._client_nonce = ""
        self._nonce = ""
        self._server_first = b""
        self._credential: ScramCredential | None = None

    def client_first(self, message: bytes) -> str:
        """Read the client's first message; returns the user name. ScramError when malformed."""
        header, separator, bare = _split_gs2(message)
        binding, authorization_id = header.split(b",")[:2]
        if not separator or binding not in (b"n", b"y"):
            raise ScramError("channel binding is not supported")
        parts = bare.split(b",")
        if len(parts) < 2 or not parts[0].startswith(b"n=") or not parts[1].startswith(b"r="):
            raise ScramError("malformed client first message")
        self.username = _unescape(_text(parts[0][2:]))
        self._client_nonce = _text(parts[1][2:])
        if not self.username or not self._client_nonce:
            raise ScramError("malformed client first message")
        self.by_token = b"tokenauth=true" in parts[2:]
        if authorization_id and _unescape(_text(authorization_id[2:])) != self.username:
            raise ScramError("a client may not act for another user")
        self._gs2_header = header
        self._client_first_bare = bare
        return self.username

    def challenge(self, credential: ScramCredential, server_nonce: str) -> bytes:
        """The server's first message."""
        self._credential = credential
        self._nonce = self._client_nonce + server_nonce
        first = f"r={self._nonce},s={_b64(credential.salt)},i={credential.iterations}"
        self._server_first = first.encode()
        return self._server_first

    def finish(self, message: bytes) -> bytes:
        """Check the client's proof; returns the server's signature. ScramError when it is wrong."""
        credential = self._credential
        if credential is None:
            raise ScramError("the exchange has not begun")
        without_proof, separator, proof_text = message.rpartition(b",p=")
        parts = without_proof.split(b",")
        if not separator or len(parts) < 2:
            raise ScramError("malformed client final message")
        binding = b"c=" + base64.b64encode(self._gs2_header)
        if parts[0] != binding or parts[1][:2] != b"r=" or parts[1][2:] not in self._nonces():
            raise ScramError("the client's final message does not continue this exchange")
        try:
            proof = unb64(proof_text.decode("ascii"))
        except ValueError as error:
            raise ScramError("malformed client proof") from error
        hash_name = self.mechanism.hash_name
        auth_message = b",".join((self._client_first_bare, self._server_first, without_proof))
        signature = hmac.digest(credential.stored_key, auth_message, hash_name)
        if len(proof) != len(signature):
            raise ScramError("invalid credentials")
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        stored_key = hashlib.new(hash_name, client_key).digest()
        if not hmac.compare_digest(stored_key, credential.stored_key):
            raise ScramError("invalid credentials")
        server_signature = hmac.digest(credential.server_key, auth_message, hash_name)
        return b"v=" + base64.b64encode(server_signature)

    def _nonces(self) -> tuple[bytes, bytes]:
        """What the final message may repeat: the whole nonce, as RFC 5802 says; or that with the
        client's own part once more before it, as librdkafka before 2.6.1 has it. Kafka 3.9 takes
        anything that ends in the nonce. Either way our part is in it, so nothing can be replayed.
        """
        return self._nonce.encode(), (self._client_nonce + self._nonce).encode()


def decoy_credential(mechanism: ScramMechanism, username: str, secret: bytes) -> ScramCredential:
    """A credential that no password fits, the same for each name: so that a stranger cannot learn
    which users exist.
    """
    seed = hmac.digest(secret, username.encode(), mechanism.hash_name)
    return ScramCredential(
        salt=seed[:16],
        stored_key=hmac.digest(seed, b"stored", mechanism.hash_name),
        server_key=hmac.digest(seed, b"server", mechanism.hash_name),
        iterations=ITERATIONS_MIN,
    )


def _split_gs2(message: bytes) -> tuple[bytes, bytes, bytes]:
    """`n,a=other,rest` → (`n,a=other,`, `,`, `rest`); the header keeps its last comma."""
    first = message.find(b",")
    second = message.find(b",", first + 1)
    if first < 0 or second < 0:
        raise ScramError("malformed client first message")
    return message[: second + 1], b",", message[second + 1 :]


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ScramError("the message is not UTF-8") from error


def _unescape(name: str) -> str:
    """`=2C` is a comma and `=3D` an equals sign; any other use of `=` is an error."""
    plain = name.replace("=2C", ",").replace("=3D", "\0")
    if "=" in plain or "\0" in name:
        raise ScramError("malformed user name")
    return plain.replace("\0", "=")


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def unb64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from error
