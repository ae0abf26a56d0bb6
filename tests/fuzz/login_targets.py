"""What a stranger may send: frames of any size, and requests and SASL messages before a login."""

from __future__ import annotations

import asyncio
import functools
import logging
import struct
import types
from collections.abc import Callable, Coroutine
from typing import Any

from dataplane.broker.context import CloseConnection, ConnectionInfo
from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.networking.frame_buffer import REQUESTS_OF_LISTS, FrameBuffer, FrameError
from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.config.sasl import PLAIN_MODULE
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.security.jwt_claims import ClaimRules
from dataplane.security.oauthbearer import OAuthBearerExchange
from dataplane.security.plain import PlainExchange
from dataplane.security.principal import ANONYMOUS
from dataplane.security.sasl import SaslServerSession, SaslState
from dataplane.security.sasl_exchange import Identity, SaslExchange
from dataplane.security.scram import ScramCredential, ScramMechanism
from dataplane.security.scram_exchange import ScramExchange
from dataplane.security.unsecured_tokens import identity_of_unsecured
from dataplane.wire.apis import ApiKey
from dataplane.wire.headers import encode_request_frame
from dataplane.wire.messages.api_versions import ApiVersionsRequest
from dataplane.wire.messages.metadata import MetadataRequest
from dataplane.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.dataplane.handlers.one_broker import OneBroker
from tests.fuzz.target import Finding, Target

FRAME_BYTES_MAX = 4096
OTHER_BYTES_MAX = 1024
LIST_BYTES_MAX = 256
PIECES_MAX = 300
USER, PASSWORD = "alice", "secret"
UNSIGNED = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImV4cCI6OX0."
"""A token with `sub` alice and `exp` 9."""
MIB = 1 << 20
_SIZE = struct.Struct(">i")
_KEY = struct.Struct(">h")
_BYTES_MAX = {ApiKey.PRODUCE: FRAME_BYTES_MAX, **dict.fromkeys(REQUESTS_OF_LISTS, LIST_BYTES_MAX)}
_REFUSALS = {
    ErrorCode.SASL_AUTHENTICATION_FAILED,
    ErrorCode.ILLEGAL_SASL_STATE,
    ErrorCode.UNSUPPORTED_SASL_MECHANISM,
}


def login_targets() -> list[Target]:
    return [
        Target("(frames)", _take_frames, _frames, allocation_bytes=MIB),
        Target("(SASL messages)", _exchange, _exchanges),
        Target("(before login)", _Stranger().speak, _conversations, allocation_bytes=MIB),
    ]


# -- frames


def _take_frames(data: bytes) -> bool:
    """The first byte says in what pieces the rest arrives; the frames are those that a slow and
    plain reading finds.
    """
    if not data:
        return False
    piece = 1 + data[0]
    stream = data[1 : 1 + piece * PIECES_MAX]
    buffer = FrameBuffer(FRAME_BYTES_MAX)
    buffer.bound_requests(other_bytes_max=OTHER_BYTES_MAX, list_bytes_max=LIST_BYTES_MAX)
    expected, refused = _plain_frames(stream)
    found: list[bytes] = []
    try:
        at = 0
        while at < len(stream):
            space = buffer.writable()
            part = stream[at : at + min(piece, len(space))]
            space[: len(part)] = part
            buffer.written(len(part))
            at += len(part)
            while (frame := buffer.next_frame()) is not None:
                found.append(bytes(frame))
    except FrameError:
        if not refused:
            raise
    else:
        if refused:
            raise Finding("frames", "an impossible size was taken")
    if found != expected:
        raise Finding("frames", f"{len(found)} frames, {len(expected)} expected")
    return bool(found)


def _plain_frames(stream: bytes) -> tuple[list[bytes], bool]:
    frames = []
    at = 0
    while at + 4 <= len(stream):
        (size,) = _SIZE.unpack_from(stream, at)
        if not 0 <= size <= FRAME_BYTES_MAX:
            return frames, True
        if size > LIST_BYTES_MAX:
            if at + 6 > len(stream):
                break
            (key,) = _KEY.unpack_from(stream, at + 4)
            if size > _BYTES_MAX.get(key, OTHER_BYTES_MAX):
                return frames, True
        if at + 4 + size > len(stream):
            break
        frames.append(stream[at + 4 : at + 4 + size])
        at += 4 + size
    return frames, False


def _frames() -> list[bytes]:
    few = _SIZE.pack(3) + b"abc" + _SIZE.pack(0) + _SIZE.pack(1) + b"x"
    names = _SIZE.pack(300) + _KEY.pack(ApiKey.METADATA) + bytes(298)
    large = _SIZE.pack(2000) + bytes(2000) + _SIZE.pack(2**31 - 1) + bytes(6)
    return [
        bytes([piece]) + stream
        for piece in (0, 5, 255)
        for stream in (few, large, few + large, few + names)
    ]


# -- the exchange


@functools.cache
def _credential(mechanism: ScramMechanism) -> ScramCredential:
    return ScramCredential.from_password(mechanism, PASSWORD, b"salt-of-alice", 4096)


async def _lookup(mechanism: ScramMechanism, username: str) -> ScramCredential | None:
    return _credential(mechanism) if username == USER else None


async def _validate(token: str) -> Identity:
    return identity_of_unsecured(token, ClaimRules(needs_issue_time=False), 0)


def _session() -> SaslServerSession:
    mechanisms: dict[str, Callable[[], SaslExchange]] = {
        mechanism.sasl_name: functools.partial(
            ScramExchange, mechanism, _lookup, FakeEntropy(1), decoy_secret=b"secret"
        )
        for mechanism in ScramMechanism
    }
    mechanisms["PLAIN"] = lambda: PlainExchange({USER: PASSWORD})
    mechanisms["OAUTHBEARER"] = lambda: OAuthBearerExchange(_validate)
    return SaslServerSession(mechanisms)


def _now(coroutine: Coroutine[Any, Any, bytes]) -> bytes:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        answer: bytes = stop.value
        return answer
    raise Finding("wait", "the exchange waits for something")


def _split(data: bytes) -> list[bytes]:
    """Messages with two bytes of length before each."""
    found = []
    while len(data) >= 2:
        size = int.from_bytes(data[:2], "big")
        found.append(data[2 : 2 + size])
        data = data[2 + size :]
    return found


def _joined(messages: list[bytes]) -> bytes:
    return b"".join(len(message).to_bytes(2, "big") + message for message in messages)


def _exchange(data: bytes) -> bool:
    session = _session()
    messages = _split(data)
    if not messages:
        return False
    try:
        session.handshake(messages[0].decode("utf-8", "replace"))
        for message in messages[1:]:
            _now(session.authenticate(message))
    except KafkaError as error:
        if error.code not in _REFUSALS:
            raise Finding("refusal", error.code.name) from error
        if session.state is not SaslState.FAILED:
            raise Finding("state", f"refused, and {session.state}") from error
        return False
    identity = session.identity
    if (identity is not None) != (session.state is SaslState.COMPLETE):
        raise Finding("state", f"{session.state} as {identity}")
    # Anybody may write an unsigned token: whom it names is not looked at here.
    if identity is not None and identity.name != USER and session.mechanism != "OAUTHBEARER":
        raise Finding("login", f"{identity.name!r} is logged in")
    return True


def _scram_messages(mechanism: ScramMechanism, password: str) -> list[bytes]:
    """Both messages of a client that logs in against the exchange above."""
    session = _session()
    session.handshake(mechanism.sasl_name)
    client = ScramClient(PeerCredentials(USER, password, mechanism.sasl_name), "nonce")
    return [client.first(), client.final(_now(session.authenticate(client.first())))]


def _exchanges() -> list[bytes]:
    found = []
    for mechanism in ScramMechanism:
        name = mechanism.sasl_name.encode()
        first, final = _scram_messages(mechanism, PASSWORD)
        found += [
            _joined([name, first, final]),
            _joined([name, first]),
            _joined([name, first, _scram_messages(mechanism, "wrong")[1]]),
            _joined([name, b"n,a=alice,n=alice,r=nonce,tokenauth=true"]),
            _joined([name, b"y,,n=a=2Cb=3Dc,r=nonce"]),
        ]
    bearer = f"n,,\x01auth=Bearer {UNSIGNED}\x01\x01".encode()
    return [
        *found,
        _joined([b"PLAIN", f"\0{USER}\0{PASSWORD}".encode()]),
        _joined([b"PLAIN", b"bob\0alice\0secret"]),
        _joined([b"OAUTHBEARER", bearer]),
        _joined([b"OAUTHBEARER", bearer.replace(b"n,,", b"n,a=bob,"), b"\x01"]),
        _joined([b"OAUTHBEARER", bearer.replace(b"Bearer ", b"Bearer x"), b"\x01"]),
    ]


# -- a whole connection


class _Stranger:
    """Frames of one connection after another, to the dispatcher of a broker that asks for SASL."""

    def __init__(self) -> None:
        self._broker: OneBroker | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def speak(self, data: bytes) -> bool:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        log = logging.getLogger("dataplane")
        level = log.level
        log.setLevel(logging.CRITICAL)
        try:
            return self._loop.run_until_complete(self._speak(_split(data)))
        finally:
            log.setLevel(level)

    async def _speak(self, frames: list[bytes]) -> bool:
        if self._broker is None:
            jaas = f"{PLAIN_MODULE} required user_x=a-password-that-no-input-holds;"
            self._broker = OneBroker(
                **{
                    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN",
                    "listener.name.plaintext.plain.sasl.jaas.config": jaas,
                    "connection.failed.authentication.delay.ms": "0",
                }
            )
        broker = self._broker
        info = ConnectionInfo(
            "PLAINTEXT", "SASL_PLAINTEXT", "127.0.0.1", ANONYMOUS, authenticated=False
        )
        connection = types.SimpleNamespace(
            info=info,
            authenticated=lambda: None,
            session_lasts=lambda _: None,
            close_after_answer=lambda: None,
        )
        failed_before = broker.metrics.failed_requests.value
        answered = 0
        for frame in frames:
            try:
                answer: Any = broker.dispatcher.submit(connection, memoryview(bytearray(frame)))
            except (FrameError, CloseConnection):
                break
            if isinstance(answer, Deferred):
                answer = await _outcome(answer)
            answered += answer is not None
            if info.close_after_answer:
                break
        if info.authenticated:
            raise Finding("login", "a stranger is logged in")
        if broker.metrics.failed_requests.value != failed_before:
            raise Finding("handler", "a handler failed")
        return answered > 0


async def _outcome(deferred: Deferred[Any]) -> Any:
    for _ in range(50):
        if deferred.done:
            return deferred.value
        await asyncio.sleep(0)
    raise Finding("wait", "a request before the login is not answered")


def _conversations() -> list[bytes]:
    def frame(message: Any, version: int) -> bytes:
        return bytes(encode_request_frame(message, version, 7, "fuzz")[4:])

    versions = [
        frame(ApiVersionsRequest(client_software_name="a", client_software_version="1"), version)
        for version in range(5)
    ]
    handshakes = [
        frame(SaslHandshakeRequest(mechanism=name), version)
        for name in ("SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN")
        for version in (0, 1)
    ]
    token = b"n,,n=alice,r=nonce"
    tokens = [frame(SaslAuthenticateRequest(auth_bytes=token), version) for version in range(3)]
    return [
        *(_joined([each]) for each in versions),
        *(_joined([each, tokens[2], tokens[2]]) for each in handshakes),
        *(_joined([versions[3], handshakes[1], each]) for each in tokens),
        _joined([handshakes[0], token, token]),
        _joined([frame(MetadataRequest(), 9)]),
    ]
