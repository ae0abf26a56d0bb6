"""Connections on real sockets: order, pipelining, limits, large answers, hostile frames."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import struct
import subprocess
import time
import typing
from collections.abc import Callable

import pytest

from dataplane.broker.context import CloseConnection
from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.metrics import Metrics
from dataplane.broker.networking.frame_buffer import FrameError
from dataplane.broker.networking.receive_budget import ReceiveBudget
from dataplane.ports.filesystem import File
from dataplane.quotas.bounds import AddressBounds
from dataplane.quotas.connections import Bounds, ConnectionQuotas, Limits
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.server.large_requests import LARGE_FROM_BYTES
from dataplane.server.listener import Listener
from dataplane.server.listener_limits import ListenerLimits
from dataplane.server.socket_binding import bind
from tests.waiting import until


class Slice(typing.NamedTuple):
    file: File
    position: int
    size: int
    held: None = None


class Scripted:
    """Answers by the frame's first byte: e(cho), w(ait), p and q (pipelined waits, each with its kind),
    s(lice), n(othing)."""

    def __init__(self, file: File | None = None) -> None:
        self.waiting: list[Deferred] = []
        self.seen: list[bytes] = []
        self.file = file
        self.waits_ms: list[int] = []

    def wait_before(self, connection, frame: memoryview) -> int:
        return self.waits_ms.pop(0) if self.waits_ms else 0

    def may_overtake_waiting(self, frame: memoryview, api_key: int | None) -> bool:
        return frame[0] == api_key

    def submit(self, connection, frame: memoryview):
        body = bytes(frame)
        self.seen.append(body)
        match body[:1]:
            case b"e":
                return [framed(body)]
            case b"w" | b"p" | b"q":
                deferred: Deferred = Deferred(pipelined=None if body[:1] == b"w" else body[0])
                self.waiting.append(deferred)
                return deferred
            case b"s":
                position, size = struct.unpack(">ii", body[1:9])
                return [struct.pack(">i", size + 3), Slice(self.file, position, size), b"end"]
            case b"n":
                return None
            case b"c":
                raise CloseConnection("as asked")
            case b"x":
                raise ZeroDivisionError
        raise FrameError("nonsense")


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(size)


def listener_of(
    dispatcher: Scripted,
    metrics: Metrics,
    tls: ssl.SSLContext | None = None,
    quotas: ConnectionQuotas | None = None,
    **limits: int,
) -> Listener:
    return Listener(
        name="TEST",
        security_protocol="SSL" if tls else "PLAINTEXT",
        dispatcher=dispatcher,
        metrics=metrics,
        limits=ListenerLimits(**limits),
        quotas=quotas,
        tls=(lambda: tls) if tls is not None else None,
    )


@contextlib.asynccontextmanager
async def listening(
    dispatcher: Scripted,
    tls: ssl.SSLContext | None = None,
    quotas: ConnectionQuotas | None = None,
    **limits: int,
):
    metrics = Metrics()
    listener = listener_of(dispatcher, metrics, tls, quotas, **limits)
    bound = bind("TEST", "127.0.0.1", 0)
    port = bound.getsockname()[1]
    await listener.open(bound)
    try:
        yield listener, port, metrics
    finally:
        listener.stop_accepting()
        listener.close_connections()
        await until(lambda: listener.connection_count == 0)


@contextlib.asynccontextmanager
async def connected(port: int, **options):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, **options)
    try:
        yield reader, writer
    finally:
        writer.close()


async def test_answers_keep_the_order_of_their_requests() -> None:
    script = Scripted()
    async with listening(script) as (_, port, _m), connected(port) as (reader, writer):
        writer.write(framed(b"e1") + framed(b"w2") + framed(b"e3") + framed(b"e4"))
        assert await read_frame(reader) == b"e1"
        await until(lambda: len(script.seen) >= 2)
        assert script.seen == [b"e1", b"w2"], "nothing overtakes a request in work"
        script.waiting[0].complete([framed(b"w2")])
        assert [await read_frame(reader) for _ in range(3)] == [b"w2", b"e3", b"e4"]


async def test_a_large_request_that_is_put_off_is_worked_on_later_in_its_turn() -> None:
    script = Scripted()
    script.waits_ms = [100, 100]
    large = b"e" + bytes(LARGE_FROM_BYTES)
    async with listening(script) as (_, port, metrics), connected(port) as (reader, writer):
        started_s = time.monotonic()
        writer.write(framed(b"e1") + framed(large) + framed(b"e3"))
        assert await read_frame(reader) == b"e1"
        assert script.seen == [b"e1"]
        assert [await read_frame(reader) for _ in range(2)] == [large, b"e3"]
        assert time.monotonic() - started_s >= 0.2
        assert metrics.large_requests_put_off.value == 2
        assert metrics.muted_connections == 0


async def test_connections_that_have_to_be_closed_do_not_fill_the_log(caplog) -> None:
    caplog.set_level("INFO")
    async with listening(Scripted()) as (_, port, _m):
        for _ in range(20):
            async with connected(port) as (reader, writer):
                writer.write(framed(b"c"))
                assert await reader.read() == b""
    assert len([line for line in caplog.messages if "as asked" in line]) == 1


async def test_pipelined_waits_do_not_hold_each_other_back() -> None:
    script = Scripted()
    async with listening(script) as (_, port, _m), connected(port) as (reader, writer):
        writer.write(framed(b"p1") + framed(b"p2") + framed(b"p3") + framed(b"e4"))
        await until(lambda: len(script.seen) >= 3)
        assert script.seen == [b"p1", b"p2", b"p3"], "another kind waits for them"
        script.waiting[1].complete([framed(b"p2")])
        script.waiting[2].complete(None)
        script.waiting[0].complete([framed(b"p1")])
        assert [await read_frame(reader) for _ in range(3)] == [b"p1", b"p2", b"e4"]


async def test_a_pipelined_wait_lets_only_its_own_kind_begin() -> None:
    script = Scripted()
    async with listening(script) as (_, port, _m), connected(port) as (reader, writer):
        writer.write(framed(b"q1") + framed(b"q2") + framed(b"p3") + framed(b"p4") + framed(b"q5"))
        await until(lambda: len(script.seen) >= 2)
        assert script.seen == [b"q1", b"q2"]
        script.waiting[0].complete([framed(b"q1")])
        assert await read_frame(reader) == b"q1"
        assert script.seen == [b"q1", b"q2"], "one of the first kind still waits"
        script.waiting[1].complete([framed(b"q2")])
        assert await read_frame(reader) == b"q2"
        await until(lambda: len(script.seen) >= 4)
        assert script.seen[2:] == [b"p3", b"p4"]


async def test_a_request_without_answer_leaves_no_gap() -> None:
    script = Scripted()
    async with listening(script) as (_, port, _m), connected(port) as (reader, writer):
        writer.write(framed(b"n") + framed(b"e"))
        assert await read_frame(reader) == b"e"


@pytest.mark.parametrize("size", [0, 1, 5_000, 199_999, 300_000, 3_000_000])
@pytest.mark.parametrize("secure", [False, True])
async def test_slices_of_files_arrive_whole(tmp_path, size: int, secure: bool) -> None:
    content = os.urandom(4_000_000)
    path = tmp_path / "segment"
    path.write_bytes(content)
    server_tls, client_tls = _tls(tmp_path) if secure else (None, None)
    with contextlib.closing(OsFileSystem().open(str(path))) as file:
        script = Scripted(file)
        async with (
            listening(script, server_tls) as (_, port, _m),
            connected(port, ssl=client_tls, limit=1 << 16) as (reader, writer),
        ):
            ask = framed(b"s" + struct.pack(">ii", 17, size))
            writer.write(ask + framed(b"e") + ask)
            if size > 1 << 17:  # the client has had enough before anything is read
                await until(lambda: not writer.transport.is_reading())
            whole = content[17 : 17 + size] + b"end"
            assert await read_frame(reader) == whole
            assert await read_frame(reader) == b"e"
            assert await read_frame(reader) == whole


async def test_a_slow_reader_pauses_the_work_for_it() -> None:
    """Answers that nobody reads are not piled up: requests stay unread instead."""
    script = Scripted()
    async with listening(script) as (_, port, _m):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.setblocking(False)
            sent = 0
            request = memoryview(framed(b"e" * 60_000) * 2)
            quiet = 0
            while quiet < 20:
                try:
                    sent += client.send(request[sent % 60_004 :])
                    quiet = 0
                except BlockingIOError:
                    quiet += 1
                    await asyncio.sleep(0.01)
            assert sent < 64 << 20, "the client is stopped by backpressure"
            assert len(script.seen) * 60_000 < 32 << 20


@pytest.mark.parametrize("frame", [struct.pack(">i", -1), struct.pack(">i", 10_001), framed(b"?")])
async def test_a_hostile_frame_closes_and_is_counted(frame: bytes) -> None:
    async with (
        listening(Scripted(), frame_bytes_max=10_000) as (listener, port, metrics),
        connected(port) as (reader, writer),
    ):
        writer.write(framed(b"e") + frame)
        assert await read_frame(reader) == b"e"
        assert await reader.read() == b""
        assert metrics.bad_frames.value == 1
        await until(lambda: listener.connection_count == 0)


@pytest.mark.parametrize("body", [b"c", b"x"])
async def test_a_handler_that_gives_up_closes_only_its_connection(body: bytes) -> None:
    async with (
        listening(Scripted()) as (_, port, metrics),
        connected(port) as (reader, writer),
        connected(port) as (other_reader, other_writer),
    ):
        writer.write(framed(body))
        assert await reader.read() == b""
        other_writer.write(framed(b"e"))
        assert await read_frame(other_reader) == b"e"
        assert metrics.bad_frames.value == 0


async def test_a_full_listener_refuses() -> None:
    one = ConnectionQuotas(Limits(listeners={"TEST": Bounds(connections=1)}))
    async with (
        listening(Scripted(), quotas=one) as (listener, port, metrics),
        connected(port) as (reader, writer),
    ):
        writer.write(framed(b"e"))
        assert await read_frame(reader) == b"e"
        async with connected(port) as (refused, _):
            with contextlib.suppress(ConnectionError):
                assert await refused.read() == b""
        assert metrics.refused_connections.value == 1
        await until(lambda: listener.connection_count == 1)


async def test_what_comes_faster_than_the_listener_takes_is_looked_at_later() -> None:
    """One a second is less than one in a window of 300 ms: each waits for a sample."""
    slow = Limits(listeners={"TEST": Bounds(creation_rate=1)})
    quotas = ConnectionQuotas(slow, samples=2, sample_ms=300)
    started_s = time.monotonic()
    async with (
        listening(Scripted(), quotas=quotas) as (_, port, metrics),
        connected(port) as (reader, writer),
        connected(port) as (other, other_writer),
    ):
        other_writer.write(framed(b"e"))
        assert await read_frame(other) == b"e"
        assert time.monotonic() - started_s >= 0.25
        writer.write(framed(b"e"))
        assert await read_frame(reader) == b"e"
        assert metrics.delayed_connections == {"listener rate": 2}
        assert metrics.muted_connections == 0


async def test_an_address_that_opens_too_many_is_closed_later_than_at_once() -> None:
    addresses = AddressBounds()
    addresses.set("127.0.0.1", 4)
    quotas = ConnectionQuotas(Limits(), addresses, samples=2, sample_ms=300)
    started_s = time.monotonic()
    async with (
        listening(Scripted(), quotas=quotas) as (listener, port, metrics),
        connected(port) as (reader, writer),
        connected(port) as (refused, refused_writer),
    ):
        refused_writer.write(framed(b"e"))
        with contextlib.suppress(ConnectionError):
            assert await refused.read() == b"", "nothing is answered"
        assert time.monotonic() - started_s >= 0.2
        writer.write(framed(b"e"))
        assert await read_frame(reader) == b"e"
        assert metrics.delayed_connections == {"address rate": 1}
        assert listener.connection_count == 1


async def test_idle_connections_are_closed_and_waiting_ones_are_not() -> None:
    script = Scripted()
    async with (
        listening(script, idle_ms_max=1_000) as (listener, port, metrics),
        connected(port) as (idle, idle_writer),
        connected(port) as (waiting, waiting_writer),
    ):
        idle_writer.write(framed(b"e"))
        await read_frame(idle)
        waiting_writer.write(framed(b"w"))
        await until(lambda: bool(script.waiting))
        listener.sweep(asyncio.get_running_loop().time() + 0.5)
        assert listener.connection_count == 2
        listener.sweep(asyncio.get_running_loop().time() + 2)
        assert await idle.read() == b""
        assert metrics.idle_closed.value == 1
        script.waiting[0].complete([framed(b"w")])
        assert await read_frame(waiting) == b"w"


async def test_a_large_frame_arrives_in_pieces() -> None:
    script = Scripted()
    async with listening(script) as (_, port, _m), connected(port) as (reader, writer):
        body = b"e" + os.urandom(2_500_000)
        data = framed(body)
        for start in range(0, len(data), 600_000):
            writer.write(data[start : start + 600_000])
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(framed(b"e small"))
        assert await read_frame(reader) == body
        assert await read_frame(reader) == b"e small"


async def relieved(budget: ReceiveBudget, holds: Callable[[], bool]) -> None:
    """Until it holds, time passes for the budget, faster than for its connections."""
    now_s = asyncio.get_running_loop().time()
    async with asyncio.timeout(30):
        while not holds():
            now_s += 0.2
            budget.relieve(now_s)
            assert budget.used_bytes <= budget.bytes_max
            await asyncio.sleep(0.005)


async def asked_until_answered(port: int, tls: ssl.SSLContext | None, body: bytes) -> bytes:
    """As clients do: a connection that breaks is opened again."""
    while True:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            async with connected(port, ssl=tls) as (reader, writer):
                writer.write(framed(body))
                return await read_frame(reader)


async def half_sender(port: int, tls: ssl.SSLContext | None) -> asyncio.StreamWriter:
    """Announces 6 MiB and sends one of them."""
    _reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    writer.write(struct.pack(">ih", 6 << 20, 0) + bytes(1 << 20))
    return writer


@pytest.mark.parametrize("secure", [False, True])
async def test_frames_sent_by_halves_share_a_bound_and_whole_ones_still_pass(
    tmp_path, secure: bool
) -> None:
    server_tls, client_tls = _tls(tmp_path) if secure else (None, None)
    script = Scripted()
    async with listening(script, server_tls) as (listener, port, metrics):
        budget = listener.receive_budget
        budget.bytes_max = 8 << 20
        writers = [await half_sender(port, client_tls) for _ in range(20)]
        await until(lambda: budget.paused >= 12 and listener.connection_count == 20)
        assert 0 < budget.used_bytes <= budget.bytes_max
        assert budget.refused == 0, "they wait, and are not closed"
        async with connected(port, ssl=client_tls) as (reader, writer):
            writer.write(framed(b"e"))
            assert await read_frame(reader) == b"e"
        large = b"e" + os.urandom(1 << 20)
        asking = asyncio.ensure_future(asked_until_answered(port, client_tls, large))
        await relieved(budget, asking.done)
        assert asking.result() == large
        assert budget.refused > 0
        assert metrics.bad_frames.value == 0
        for each in writers:
            each.transport.abort()
        # Who waits in line is not read from: that it has gone is seen when its turn comes.
        await relieved(budget, lambda: listener.connection_count == 0)
        assert (budget.used_bytes, budget.paused) == (0, 0)


async def test_a_connection_waits_for_space_and_goes_on_where_it_stopped() -> None:
    script = Scripted()
    async with listening(script) as (listener, port, _m):
        budget = listener.receive_budget
        budget.bytes_max = 3 << 20
        async with connected(port) as (_reader, holder), connected(port) as (reader, writer):
            holder.write(struct.pack(">ih", 3 << 20, 0) + bytes(2 << 20))
            await until(lambda: budget.used_bytes > 2 << 20)
            body = b"e" + os.urandom(2 << 20)
            writer.write(framed(body) + framed(b"e small"))
            await until(lambda: budget.paused == 1)
            holder.close()
            assert await read_frame(reader) == body
            assert await read_frame(reader) == b"e small"
        assert budget.refused == 0
        await until(lambda: budget.used_bytes == 0)


async def test_who_holds_space_for_its_next_frame_gives_it_back_when_others_wait() -> None:
    script = Scripted()
    async with listening(script) as (listener, port, _m):
        budget = listener.receive_budget
        budget.bytes_max = 1 << 20
        async with connected(port) as (one_reader, one), connected(port) as (reader, writer):
            body = b"e" + os.urandom(600_000)
            async with asyncio.timeout(10):
                for _ in range(3):
                    one.write(framed(body))
                    writer.write(framed(body))
                    assert await read_frame(one_reader) == body
                    assert await read_frame(reader) == body
        assert budget.pauses > 0
        assert budget.refused == 0


@pytest.mark.parametrize("secure", [False, True])
async def test_socket_buffers_are_the_systems_unless_they_were_asked_for(
    tmp_path, accepted: list[asyncio.Transport], secure: bool
) -> None:
    server_tls, client_tls = _tls(tmp_path) if secure else (None, None)
    sizes = []
    for limits in ({}, {"send_buffer_bytes": 50_000, "receive_buffer_bytes": 30_000}):
        async with (
            listening(Scripted(), server_tls, **limits) as (_, port, _m),
            connected(port, ssl=client_tls) as (reader, writer),
        ):
            body = b"e" + os.urandom(1 << 20)
            writer.write(framed(body))
            assert await read_frame(reader) == body
            used = accepted.pop().get_extra_info("socket")
            options = (socket.SO_SNDBUF, socket.SO_RCVBUF)
            sizes.append(tuple(used.getsockopt(socket.SOL_SOCKET, each) for each in options))
    left, asked = sizes
    assert asked == (100_000, 60_000), "Linux doubles what it is asked for"
    assert left[0] != 100_000
    assert left[1] != 60_000


@pytest.mark.parametrize("secure", [False, True])
async def test_small_answers_are_not_held_back_for_an_acknowledgement(
    tmp_path, accepted: list[asyncio.Transport], secure: bool
) -> None:
    server_tls, client_tls = _tls(tmp_path) if secure else (None, None)
    async with (
        listening(Scripted(), server_tls) as (_, port, _m),
        connected(port, ssl=client_tls) as (reader, writer),
    ):
        writer.write(framed(b"e"))
        assert await read_frame(reader) == b"e"
        used = accepted.pop().get_extra_info("socket")
        assert used.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_the_backlog_is_what_was_asked_for() -> None:
    with bind("TEST", "127.0.0.1", 0) as bound:
        listener = listener_of(Scripted(), Metrics(), backlog=7)
        await listener.open(bound)
        tcp_info = bound.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
        # Of a listening socket, `tcpi_sacked` is the longest that its queue may get.
        assert struct.unpack_from("=I", tcp_info, 28)[0] == 7
        listener.stop_accepting()


async def test_what_waits_for_a_client_that_left_is_abandoned() -> None:
    script = Scripted()
    async with listening(script) as (_, port, _m):
        async with connected(port) as (_reader, writer):
            writer.write(framed(b"w"))
            await until(lambda: bool(script.waiting))
            abandoned = asyncio.Event()
            script.waiting[0].on_abandoned = abandoned.set
        await asyncio.wait_for(abandoned.wait(), 5)


def _tls(directory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A throwaway certificate for loopback."""
    key, certificate = directory / "key.pem", directory / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    client = ssl.create_default_context(cafile=str(certificate))
    client.check_hostname = False
    return server, client
