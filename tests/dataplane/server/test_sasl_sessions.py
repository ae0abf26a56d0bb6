"""Logins on real sockets: how long a session lasts, and what a refusal costs (KIP-306, KIP-368)."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import time

import pytest

from dataplane.model.errors import ErrorCode as E
from dataplane.server.listener import Listener
from dataplane.server.listener_limits import ListenerLimits
from dataplane.server.socket_binding import bind
from dataplane.wire.apis import ApiKey, load
from dataplane.wire.codec import decode
from dataplane.wire.headers import encode_request_frame, parse_response_header
from tests.dataplane.handlers.one_broker import OneBroker
from tests.dataplane.handlers.one_connection import OneConnection
from tests.waiting import until

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
PREFIX = "listener.name.test"
PLAIN = {
    f"{PREFIX}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    f"{PREFIX}.plain.sasl.jaas.config": f'{PLAIN_MODULE} required user_a="s" user_b="s";',
}


@pytest.fixture
async def broker():
    broker = OneBroker()
    yield broker
    await broker.stop()


class Client:
    """Speaks requests one by one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, api: ApiKey, version: int, **fields: object) -> None:
        request = load(api)[0](**fields)
        self.writer.write(
            encode_request_frame(request, version, correlation_id=7, client_id="client")
        )

    async def ask(self, api: ApiKey, version: int, **fields: object):
        self.send(api, version, **fields)
        (size,) = struct.unpack(">i", await self.reader.readexactly(4))
        frame = await self.reader.readexactly(size)
        _correlation_id, position = parse_response_header(memoryview(frame), api, version)
        return decode(load(api)[1], version, memoryview(frame), position)[0]

    async def log_in(self, user: str = "a", password: str = "s", mechanism: str = "PLAIN"):
        answer = await self.ask(ApiKey.SASL_HANDSHAKE, 1, mechanism=mechanism)
        if answer.error_code:
            return answer
        token = f"\0{user}\0{password}".encode()
        return await self.ask(ApiKey.SASL_AUTHENTICATE, 2, auth_bytes=token)

    async def is_served(self) -> bool:
        answer = await self.ask(ApiKey.METADATA, 9, topics=[])
        return answer.cluster_id == "c"

    async def is_closed(self) -> bool:
        return await self.reader.read(1) == b""


@contextlib.asynccontextmanager
async def listening(**settings: str):
    broker = OneBroker(**(PLAIN | settings))
    listener = Listener(
        name="TEST",
        security_protocol="SASL_PLAINTEXT",
        dispatcher=broker.dispatcher,
        metrics=broker.metrics,
        limits=ListenerLimits(),
    )
    bound = bind("TEST", "127.0.0.1", 0)
    port = bound.getsockname()[1]
    await listener.open(bound)

    async def connect() -> Client:
        return Client(*await asyncio.open_connection("127.0.0.1", port))

    try:
        yield broker, connect
    finally:
        listener.stop_accepting()
        listener.close_connections()
        await broker.dispatcher.stop()
        await until(lambda: listener.connection_count == 0)


async def test_without_a_bound_a_session_has_no_end() -> None:
    async with listening() as (broker, connect):
        client = await connect()
        assert (await client.log_in()).session_lifetime_ms == 0
        broker.clock.advance(10**9)
        assert await client.is_served()
        again = await client.ask(ApiKey.SASL_HANDSHAKE, 1, mechanism="PLAIN")
        assert again.error_code == E.ILLEGAL_SASL_STATE
        assert await client.is_served(), "being asked for once too often closes nothing"


async def test_a_session_that_has_ended_is_closed_by_the_next_request() -> None:
    async with listening(**{"connections.max.reauth.ms": "150"}) as (broker, connect):
        client = await connect()
        assert (await client.log_in()).session_lifetime_ms == 150
        assert await client.is_served()
        await asyncio.sleep(0.2)
        client.send(ApiKey.METADATA, 9, topics=[])
        assert await client.is_closed()
        assert broker.metrics.expired_connections.value == 1


async def test_a_session_that_has_ended_may_authenticate_again() -> None:
    async with listening(**{"connections.max.reauth.ms": "150"}) as (broker, connect):
        client = await connect()
        await client.log_in()
        await asyncio.sleep(0.2)
        broker.clock.advance(1_000)
        assert (await client.log_in()).session_lifetime_ms == 150
        assert await client.is_served()
        await asyncio.sleep(0.2)
        client.send(ApiKey.API_VERSIONS, 3)
        assert await client.is_closed(), "and it ends again"


async def test_authenticating_in_time_prolongs_the_session() -> None:
    async with listening(**{f"{PREFIX}.plain.connections.max.reauth.ms": "400"}) as (
        broker,
        connect,
    ):
        client = await connect()
        await client.log_in()
        for _ in range(3):
            await asyncio.sleep(0.25)
            broker.clock.advance(1_000)
            assert (await client.log_in()).error_code == E.NONE
            assert await client.is_served()
        assert broker.metrics.expired_connections.value == 0


async def test_not_oftener_than_once_a_second() -> None:
    async with listening(**{"connections.max.reauth.ms": "60000"}) as (broker, connect):
        client = await connect()
        await client.log_in()
        assert (await client.log_in()).error_code == E.NONE
        assert (await client.log_in()).error_code == E.ILLEGAL_SASL_STATE
        broker.clock.advance(1_000)
        assert (await client.log_in()).error_code == E.NONE


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"user": "b"}, "principal"),
        ({"mechanism": "SCRAM-SHA-256"}, "mechanism"),
        ({"password": "x"}, "invalid credentials"),
    ],
)
async def test_who_authenticates_again_is_still_the_same(changed: dict, words: str) -> None:
    async with listening(**{"connections.max.reauth.ms": "60000"}) as (_broker, connect):
        client = await connect()
        await client.log_in()
        answer = await client.log_in(**changed)
        assert answer.error_code == E.SASL_AUTHENTICATION_FAILED
        assert words in answer.error_message
        assert await client.is_closed()


async def test_a_refused_login_is_answered_after_a_pause_and_closed() -> None:
    async with listening(**{"connection.failed.authentication.delay.ms": "1000"}) as (
        broker,
        connect,
    ):
        client = await connect()
        bystander = await connect()
        assert (await bystander.log_in()).error_code == E.NONE
        started_s = time.monotonic()
        refused = asyncio.create_task(client.log_in(password="x"))
        assert await bystander.is_served()
        assert not refused.done(), "nobody else waits"
        assert (await refused).error_code == E.SASL_AUTHENTICATION_FAILED
        assert time.monotonic() - started_s >= 1.0
        assert await client.is_closed()
        assert broker.metrics.failed_logins.value == 1


async def test_requests_behind_a_refused_login_are_not_worked_on() -> None:
    async with listening() as (broker, connect):
        client = await connect()
        await client.ask(ApiKey.SASL_HANDSHAKE, 1, mechanism="PLAIN")
        client.send(ApiKey.SASL_AUTHENTICATE, 2, auth_bytes=b"\0a\0x")
        client.send(ApiKey.SASL_HANDSHAKE, 1, mechanism="PLAIN")
        client.send(ApiKey.SASL_AUTHENTICATE, 2, auth_bytes=b"\0a\0s")
        (size,) = struct.unpack(">i", await client.reader.readexactly(4))
        await client.reader.readexactly(size)
        assert await client.is_closed()
        assert broker.metrics.requests[ApiKey.SASL_AUTHENTICATE] == 1


@pytest.mark.parametrize("leaves", [True, False])
async def test_who_leaves_before_its_login_is_answered_leaves_no_timer(
    broker: OneBroker, monkeypatch, leaves: bool
) -> None:
    """A session's end may be days away: its timer would keep the connection's buffers so long."""
    armed: list[float] = []
    loop = asyncio.get_running_loop()
    call_later = loop.call_later
    connection = OneConnection(broker)
    if leaves:
        connection.protocol.connection_lost(None)
    monkeypatch.setattr(
        loop, "call_later", lambda after_s, *call: armed.append(after_s) or call_later(1, *call)
    )
    connection.protocol.session_lasts(60_000)
    assert armed == ([] if leaves else [60.0])
    connection.protocol.session_lasts(None)
