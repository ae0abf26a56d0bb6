"""Connections to peers: shared while they open, and no loose ends when the broker stops."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket

import pytest

from dataplane.broker.metadata.metadata_cache import MetadataCache
from dataplane.broker.networking.peer_client import PeerPool, PeerUnavailableError
from dataplane.broker.networking.peer_connection import PeerConnection
from dataplane.cluster.image import ClusterImage, Endpoint
from dataplane.wire.messages.metadata import MetadataRequest
from tests.ports import free_row
from tests.waiting import turns


def pool(fetch_receive_buffer_bytes: int = -1) -> PeerPool:
    return PeerPool(
        client_id="test",
        listener_name="PLAINTEXT",
        metadata_cache=MetadataCache(ClusterImage()),
        fetch_receive_buffer_bytes=fetch_receive_buffer_bytes,
    )


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.Transport]:
    """The transports of connections to peers, in the order of their opening."""
    transports: list[asyncio.Transport] = []
    made = PeerConnection.connection_made

    def noted(self: PeerConnection, transport: asyncio.Transport) -> None:
        transports.append(transport)
        made(self, transport)

    monkeypatch.setattr(PeerConnection, "connection_made", noted)
    return transports


def run_and_collect_complaints(make) -> list[str]:
    """What asyncio would have logged about tasks and futures that nobody looked after."""
    reported: list[str] = []

    async def outer() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: reported.append(context["message"]))
        await make()
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(outer())
    gc.collect()
    return reported


def refusing() -> Endpoint:
    return Endpoint("127.0.0.1", free_row(1), "PLAINTEXT")


def test_a_failed_opening_that_nobody_waits_for_any_more_is_silent():
    async def go() -> None:
        peers = pool()
        asking = asyncio.create_task(peers.connection(refusing()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
        await turns()
        await peers.close()

    assert run_and_collect_complaints(go) == []


def test_closing_while_connections_open_is_silent():
    async def go() -> None:
        peers = pool()
        asking = [asyncio.create_task(peers.connection(refusing())) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await peers.close()
        answers = await asyncio.gather(*asking, return_exceptions=True)
        assert all(isinstance(answer, BaseException) for answer in answers)
        with pytest.raises(PeerUnavailableError, match="stopping"):
            await peers.connection(refusing())

    assert run_and_collect_complaints(go) == []


def test_askers_share_the_connection_and_its_failure():
    async def go() -> None:
        accepted = 0

        async def accept(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal accepted
            accepted += 1
            writer.close()

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        endpoint = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1], "PLAINTEXT")
        peers = pool()
        first, second = await asyncio.gather(peers.connection(endpoint), peers.connection(endpoint))
        assert first is second
        server.close()
        where = refusing()
        answers = await asyncio.gather(
            peers.connection(where), peers.connection(where), return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [PeerUnavailableError] * 2
        assert f":{where.port}" in str(answers[0])
        await peers.close()
        await turns()
        assert accepted == 1

    assert run_and_collect_complaints(go) == []


@pytest.mark.parametrize("receive_buffer_bytes", [-1, 20_000])
async def test_requests_to_peers_are_not_held_back_for_an_acknowledgement(
    opened: list[asyncio.Transport], receive_buffer_bytes: int
):
    async def accept(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        pass

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    endpoint = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1], "PLAINTEXT")
    peers = pool(receive_buffer_bytes)
    for channel in ("fetch-0-0", "control"):
        await peers.connection(endpoint, channel=channel)
        used: socket.socket = opened.pop().get_extra_info("socket")
        assert used.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    await peers.close()
    server.close()


async def receive_buffers(
    peers: PeerPool, endpoint: Endpoint, opened: list[asyncio.Transport]
) -> list[int]:
    """SO_RCVBUF of a channel that fetches and of one that does not."""
    sizes = []
    for channel in ("fetch-0-0", "control"):
        await peers.connection(endpoint, channel=channel)
        used: socket.socket = opened.pop().get_extra_info("socket")
        sizes.append(used.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF))
    await peers.close()
    return sizes


async def test_followers_alone_get_the_receive_buffer_that_was_asked_for(
    opened: list[asyncio.Transport],
):
    async def accept(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        pass

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    endpoint = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1], "PLAINTEXT")
    left = await receive_buffers(pool(), endpoint, opened)
    fetching, controlling = await receive_buffers(pool(20_000), endpoint, opened)
    server.close()
    # Linux doubles what it is asked for, for its own bookkeeping.
    assert fetching == 40_000
    assert controlling == left[1] != 40_000
    assert left[0] == left[1]


async def test_a_sized_connection_that_is_refused_is_an_unavailable_peer():
    peers = pool(20_000)
    with pytest.raises(PeerUnavailableError, match="cannot connect"):
        await peers.connection(refusing(), channel="fetch-0-0")
    await peers.close()


def test_a_timeout_ends_the_connection_and_the_next_request_opens_another():
    """A connection whose other end is gone without a word would swallow every repetition."""

    async def go() -> None:
        accepted: list[asyncio.StreamWriter] = []
        server = await asyncio.start_server(
            lambda _reader, writer: accepted.append(writer), "127.0.0.1", 0
        )
        peers = pool()
        host, port = server.sockets[0].getsockname()
        endpoint = Endpoint(host, port, "PLAINTEXT")
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await peers.request_to(endpoint, MetadataRequest(), 1, timeout_ms=20)
        assert len(accepted) == 2
        await peers.close()
        for writer in accepted:
            writer.close()
        server.close()

    assert run_and_collect_complaints(go) == []
