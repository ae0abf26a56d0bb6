"""Connections that come too fast or have no place: told so before their handshake costs anything."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator
from typing import NamedTuple

from dataplane.broker.metrics import Metrics
from dataplane.quotas.bounds import AddressBounds
from dataplane.quotas.connections import Bounds, ConnectionQuotas, Limits
from dataplane.server import tls_acceptor
from dataplane.server.listener import Listener
from dataplane.server.listener_limits import ListenerLimits
from dataplane.server.socket_binding import bind
from tests.dataplane.server.test_connection import Scripted, _tls, connected, framed, read_frame
from tests.waiting import until


class Served(NamedTuple):
    listener: Listener
    port: int
    metrics: Metrics
    begun: list[float]
    """When handshakes have begun."""
    client: ssl.SSLContext


@contextlib.asynccontextmanager
async def listening(directory, quotas: ConnectionQuotas) -> AsyncIterator[Served]:
    server, client = _tls(directory)
    begun: list[float] = []

    def context() -> ssl.SSLContext:
        begun.append(time.monotonic())
        return server

    metrics = Metrics()
    listener = Listener(
        name="TEST",
        security_protocol="SSL",
        dispatcher=Scripted(),
        metrics=metrics,
        limits=ListenerLimits(),
        quotas=quotas,
        tls=context,
    )
    bound = bind("TEST", "127.0.0.1", 0)
    await listener.open(bound)
    try:
        yield Served(listener, bound.getsockname()[1], metrics, begun, client)
    finally:
        listener.stop_accepting()
        listener.close_connections()
        await until(lambda: listener.connection_count == 0)


async def is_served(reader, writer) -> bool:
    writer.write(framed(b"e"))
    return await read_frame(reader) == b"e"


async def closed_after(port: int) -> float:
    """Seconds until a connection that sends nothing is closed."""
    started_s = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        assert await asyncio.wait_for(reader.read(), 5) == b""
    writer.close()
    return time.monotonic() - started_s


def of_address(rate: int, sample_ms: int = 300) -> ConnectionQuotas:
    addresses = AddressBounds()
    addresses.set("127.0.0.1", rate)
    return ConnectionQuotas(Limits(), addresses, samples=2, sample_ms=sample_ms)


async def test_an_address_over_its_rate_gets_no_handshake(tmp_path) -> None:
    async with (
        listening(tmp_path, of_address(4)) as served,
        connected(served.port, ssl=served.client) as honest,
    ):
        assert await is_served(*honest)
        assert await closed_after(served.port) >= 0.1, "not at once: it would come again at once"
        assert len(served.begun) == 1
        assert served.metrics.delayed_connections == {"address rate": 1}
        assert served.listener.connection_count == 1
        assert await is_served(*honest)


async def test_what_comes_faster_than_the_listener_takes_begins_later(tmp_path) -> None:
    slow = Limits(listeners={"TEST": Bounds(creation_rate=1)})
    started_s = time.monotonic()
    async with (
        listening(tmp_path, ConnectionQuotas(slow, samples=2, sample_ms=300)) as served,
        connected(served.port, ssl=served.client) as one,
    ):
        assert served.begun[0] - started_s >= 0.25
        assert await is_served(*one)
        assert served.metrics.delayed_connections == {"listener rate": 1}
        assert served.metrics.muted_connections == 0, "it has waited once"


async def test_where_there_is_no_place_there_is_no_handshake(tmp_path) -> None:
    one = ConnectionQuotas(Limits(listeners={"TEST": Bounds(connections=1)}))
    async with (
        listening(tmp_path, one) as served,
        connected(served.port, ssl=served.client) as honest,
    ):
        assert await is_served(*honest)
        assert await closed_after(served.port) < 1
        assert (len(served.begun), served.metrics.refused_connections.value) == (1, 1)


async def test_places_that_are_taken_meanwhile_are_taken(tmp_path) -> None:
    """Two handshakes for one place: whoever ends first has it."""
    one = ConnectionQuotas(Limits(listeners={"TEST": Bounds(connections=1)}))
    async with listening(tmp_path, one) as served:
        held = await asyncio.open_connection("127.0.0.1", served.port)
        await until(lambda: len(served.begun) == 1)
        async with connected(served.port, ssl=served.client) as quick:
            assert await is_served(*quick)
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await held[1].start_tls(served.client)
                assert await held[0].read() == b""
            await until(lambda: served.metrics.refused_connections.value == 1)
            assert served.listener.connection_count == 1
        held[1].close()


async def test_those_that_wait_to_be_closed_are_bounded_and_end_with_the_listener(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(tls_acceptor, "REFUSED_MAX", 3)
    async with listening(tmp_path, of_address(0, 60_000)) as served:
        held = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(5)]
        for reader, _writer in held[3:]:
            with contextlib.suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), 5) == b""
        assert not held[0][0].at_eof()
        served.listener.stop_accepting()
        for reader, writer in held[:3]:
            with contextlib.suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), 5) == b""
            writer.close()
        assert served.begun == []
