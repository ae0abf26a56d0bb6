"""The few questions of Kafka's protocol that a probe asks, and answers taken from a stranger.

Written out here because a client library believes its peer: what comes back may be of any length
and of any protocol. https://kafka.apache.org/protocol: ApiVersions v0, Metadata v1,
SaslHandshake v1, SaslAuthenticate v0; integers are big-endian, a text is its length as int16 and
its bytes.
"""

import socket
import ssl
import struct
from collections.abc import Callable
from typing import TypeVar

from controlplane.gateway.egress import Deadline
from controlplane.gateway.errors import GatewayError

T = TypeVar("T")
NOT_KAFKA = "not-kafka"
FRAME_MAX_BYTES = 64 * 1024
SHOWN_MAX = 200
PATIENCE = 0.75
"""How much of the time a Kafka has to answer the first question before it is taken for another."""
METADATA, SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 3, 17, 18, 36
UNSUPPORTED_VERSION = 35
CLIENT_ID = b"penstock-probe"
_KNOWN_GREETINGS = {
    b"HTTP": "an HTTP server",
    b"<!DO": "an HTTP server",
    b"<htm": "an HTTP server",
    b"SSH-": "an SSH server",
    b"220 ": "a mail or FTP server",
    b"220-": "a mail or FTP server",
    b"-ERR": "a Redis server",
    b"\x15\x03\x01\x00": "a server that speaks TLS",
    b"\x15\x03\x02\x00": "a server that speaks TLS",
    b"\x15\x03\x03\x00": "a server that speaks TLS",
}


class PeerError(GatewayError):
    """What the peer sent, or did not send, is no answer of a Kafka."""

    def __init__(self, detail: str, *, retriable: bool = False) -> None:
        super().__init__(NOT_KAFKA, detail, retriable=retriable)


class _ClosedError(PeerError):
    """The peer ended the connection instead of answering."""


class Wire:
    """Requests and answers on one connected socket, until the deadline."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline
        self._correlation = 0
        self._heard = bytearray()

    def hear_objection(self, wait_s: float) -> None:
        """A Kafka says nothing before it is asked; a TLS server may end the connection.

        Raises:
            ssl.SSLError: its alert.
        """
        self._connection.settimeout(wait_s)
        try:
            self._heard += self._connection.recv(1)
        except ssl.SSLError:
            raise
        except OSError:
            return

    def api_versions(self) -> None:
        """Raises PeerError: what answers is no Kafka."""
        code = self._ask(API_VERSIONS, 0, b"", lambda answer: answer.int16(), nudge=True)
        if code not in {0, UNSUPPORTED_VERSION}:
            raise PeerError(f"what answers there is no Kafka: its first answer is error {code}")

    def answers_metadata(self) -> bool:
        """Whether the brokers' names may be asked for without a login; their answer is not read.

        Raises:
            PeerError: the answer is none of a Kafka.
        """
        try:
            self._ask(METADATA, 1, struct.pack(">i", 0), lambda answer: answer.count())
        except _ClosedError:
            return False
        return True

    def sasl_handshake(self, mechanism: str) -> list[str] | None:
        """None when the mechanism is taken, else those that are offered."""

        def read(answer: "_Answer") -> list[str] | None:
            refused = answer.int16() != 0
            offered = [answer.text() for _ in range(answer.count())]
            return offered if refused else None

        return self._ask(SASL_HANDSHAKE, 1, _text(mechanism), read)

    def sasl_authenticate(self, token: bytes) -> tuple[bytes, str | None]:
        """(the broker's part of the exchange, its refusal or None)."""

        def read(answer: "_Answer") -> tuple[bytes, str | None]:
            code, message = answer.int16(), answer.nullable_text()
            if code:
                return b"", message or f"error {code}"
            return answer.blob(), None

        return self._ask(SASL_AUTHENTICATE, 0, struct.pack(">i", len(token)) + token, read)

    def _ask(
        self,
        api: int,
        version: int,
        body: bytes,
        read: Callable[["_Answer"], T],
        *,
        nudge: bool = False,
    ) -> T:
        self._correlation += 1
        header = struct.pack(">hhi", api, version, self._correlation)
        frame = header + struct.pack(">h", len(CLIENT_ID)) + CLIENT_ID + body
        try:
            self._send(struct.pack(">i", len(frame)) + frame)
            if nudge and not self._answers_soon():
                self._send(b"\r\n\r\n")  # servers of lines, as HTTP's, then say who they are
            size = self._size()
            answer = _Answer(self._exactly(size))
            if answer.int32() != self._correlation:
                raise PeerError("what answers there is no Kafka: it answers another question")
            return read(answer)
        except TimeoutError as error:
            raise PeerError(
                "it takes connections and does not answer as a Kafka would", retriable=True
            ) from error
        except ssl.SSLError:
            raise
        except OSError as error:
            raise _ClosedError(
                "the connection was closed at the first question; is it a Kafka, and is it TLS that"
                " it speaks?"
                if api == API_VERSIONS
                else "the connection was closed during the login",
                retriable=True,
            ) from error

    def _answers_soon(self) -> bool:
        if self._heard:
            return True
        self._connection.settimeout(self._deadline.left_s() * PATIENCE)
        try:
            self._heard += self._connection.recv(1)
        except TimeoutError:
            return False
        return True

    def _send(self, data: bytes) -> None:
        self._connection.settimeout(self._deadline.left_s())
        self._connection.sendall(data)

    def _size(self) -> int:
        head = self._exactly(4)
        for greeting, what in _KNOWN_GREETINGS.items():
            if head == greeting:
                raise PeerError(f"what answers there is {what}, no Kafka")
        (size,) = struct.unpack(">i", head)
        if not 4 <= size <= FRAME_MAX_BYTES:
            raise PeerError("what answers there is no Kafka: its answer is no frame of Kafka's")
        return int(size)

    def _exactly(self, count: int) -> bytes:
        """Raises TimeoutError, ConnectionError."""
        found, self._heard = self._heard[:count], self._heard[count:]
        while len(found) < count:
            if self._deadline.is_over:
                raise TimeoutError
            self._connection.settimeout(self._deadline.left_s())
            part = self._connection.recv(count - len(found))
            if not part:
                raise ConnectionResetError("closed")
            found += part
        return bytes(found)


class _Answer:
    """One answer's fields in turn; an answer that ends early is no answer of a Kafka."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def int16(self) -> int:
        return int.from_bytes(self._take(2), signed=True)

    def int32(self) -> int:
        return int.from_bytes(self._take(4), signed=True)

    def count(self) -> int:
        found = self.int32()
        if not 0 <= found <= len(self._data):
            raise PeerError("what answers there is no Kafka: a list has no such length")
        return found

    def text(self) -> str:
        return self.nullable_text() or ""

    def nullable_text(self) -> str | None:
        """At most `SHOWN_MAX` characters of it, printable: it is shown to people."""
        length = self.int16()
        if length < 0:
            return None
        text = self._take(length).decode("utf-8", "replace")[:SHOWN_MAX]
        return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)

    def blob(self) -> bytes:
        return self._take(self.count())

    def _take(self, length: int) -> bytes:
        part = self._data[self._at : self._at + length]
        if len(part) != length:
            raise PeerError("what answers there is no Kafka: its answer is cut short")
        self._at += length
        return part


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">h", len(encoded)) + encoded
