"""Large answers on full sockets: they leave piece by piece, and nothing stays behind them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from pathlib import Path

import pytest

from dataplane.log.reading.log_slice import LogSlice
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.server import reply_writer
from dataplane.server.reply_writer import ReplyWriter
from tests.dataplane.server.test_connection import (
    Scripted,
    _tls,
    connected,
    framed,
    listening,
    read_frame,
)
from tests.waiting import turns, until

FILE_BYTES = 24 << 20
WHOLE = 16 << 20  # more than the buffers of both sockets hold


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "segment"
    path.write_bytes(os.urandom(1 << 20) * (FILE_BYTES >> 20))
    with contextlib.closing(OsFileSystem().open(str(path))) as file:
        yield path, file


def ask(position: int, size: int) -> bytes:
    return framed(b"s" + struct.pack(">ii", position, size))


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_what_a_full_socket_holds_back_comes_whole_and_in_order(stored) -> None:
    path, file = stored
    content = path.read_bytes()
    async with (
        listening(Scripted(file)) as (_, port, _m),
        connected(port, limit=1 << 16) as (reader, writer),
    ):
        sizes = [WHOLE, 1_000, 300_000, 150_000, WHOLE, 70_000]
        writer.write(b"".join(ask(7, size) + framed(b"e") for size in sizes))
        await until(lambda: not writer.transport.is_reading())
        for size in sizes:
            assert await read_frame(reader) == content[7 : 7 + size] + b"end"
            assert await read_frame(reader) == b"e"


async def test_a_file_closed_meanwhile_is_still_read(stored) -> None:
    """A segment is deleted or closed while its answer waits for a slow reader."""
    path, file = stored
    content = path.read_bytes()
    script = Scripted(file)
    async with (
        listening(script) as (_, port, _m),
        connected(port, limit=1 << 16) as (reader, writer),
    ):
        writer.write(ask(0, WHOLE))
        await until(lambda: bool(script.seen))
        file.close()
        assert await read_frame(reader) == content[:WHOLE] + b"end"


@pytest.mark.parametrize("size", [WHOLE, 190_000])
async def test_a_client_that_leaves_half_way_leaves_no_descriptor(stored, size: int) -> None:
    _path, file = stored
    script = Scripted(file)
    async with listening(script) as (listener, port, _m):
        before = descriptors()
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(ask(0, size) * 60)
                await until(lambda: bool(script.seen))
                script.seen.clear()
            await until(lambda: listener.connection_count == 0)
        assert descriptors() == before


async def test_a_file_that_ends_early_ends_the_connection(stored) -> None:
    path, file = stored
    async with (
        listening(Scripted(file)) as (listener, port, _m),
        connected(port, limit=1 << 16) as (reader, writer),
    ):
        writer.write(ask(0, WHOLE))
        head = await reader.readexactly(4)
        os.truncate(path, 1 << 20)
        rest = await reader.read(-1)
        assert len(rest) < int.from_bytes(head, "big"), "it is not made up"
        await until(lambda: listener.connection_count == 0)


class Keeping:
    """A transport whose socket is full, and which keeps what it is given as Python 3.12's does."""

    def __init__(self) -> None:
        self.kept: list[bytes | bytearray | memoryview] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.kept.append(data)

    def set_write_buffer_limits(self, *, high: int) -> None:
        pass


def test_what_a_transport_keeps_is_not_written_over(stored, monkeypatch) -> None:
    """The next answer, of another connection, uses the same buffer."""
    monkeypatch.setattr(reply_writer, "TRANSPORT_KEEPS_VIEWS", True)
    path, file = stored
    size = 64 << 10
    transports = [Keeping(), Keeping()]
    for number, transport in enumerate(transports):
        writer = ReplyWriter(None, transport, is_plain=True, on_unreadable=pytest.fail)
        writer.add([b"head", LogSlice(file, number * size, size, 0)])
        assert not writer.flush(lambda: None)
    whole = path.read_bytes()
    for number, transport in enumerate(transports):
        assert b"".join(transport.kept) == b"head" + whole[number * size :][:size]


async def test_slow_readers_get_their_own_answers(stored) -> None:
    """On whichever Python this runs: its transports keep views or copy them."""
    path, file = stored
    size, readers = 900_000, 4
    async with listening(Scripted(file)) as (_, port, _m), contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connected(port)) for _ in range(readers)]
        for number, (_reader, writer) in enumerate(clients):
            for _ in range(8):  # more than the sockets hold
                writer.write(ask(number * size, size))
        await until(lambda: not any(writer.transport.is_reading() for _, writer in clients))
        whole = path.read_bytes()
        for number, (reader, _writer) in enumerate(clients):
            for _ in range(8):
                assert await read_frame(reader) == whole[number * size :][:size] + b"end"


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("size", [WHOLE, 190_000], ids=["streamed", "copied"])
async def test_a_client_that_never_reads_is_idle(stored, tmp_path, size: int, secure: bool) -> None:
    """It holds memory, a descriptor and a place, as one that is quiet does."""
    _path, file = stored
    server, client = _tls(tmp_path) if secure else (None, None)
    async with listening(Scripted(file), server, idle_ms_max=60_000) as (listener, port, metrics):
        before = descriptors()
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client, limit=1)
        writer.write(ask(0, size) * 100)
        await until(lambda: listener.unread_answers == 1)
        await turns()
        now_s = asyncio.get_running_loop().time()
        listener.sweep(now_s)
        listener.sweep(now_s + 59)
        assert (listener.connection_count, metrics.idle_closed.value) == (1, 0)
        listener.sweep(now_s + 61)
        await until(lambda: listener.connection_count == 0)
        assert metrics.idle_closed.value == 1
        assert listener.unread_answers == 0
        writer.transport.abort()
        await until(lambda: descriptors() <= before)
        del reader


async def test_a_client_that_reads_slowly_is_not_idle(stored) -> None:
    """However long its answer takes, as long as something leaves."""
    path, file = stored
    content = path.read_bytes()
    async with (
        listening(Scripted(file), idle_ms_max=60_000) as (listener, port, metrics),
        connected(port, limit=1 << 16) as (reader, writer),
    ):
        writer.write(ask(0, WHOLE))
        await until(lambda: listener.unread_answers == 1)
        now_s, received = asyncio.get_running_loop().time(), b""
        started_s = now_s
        while listener.unread_answers:
            received += await reader.read(1 << 22)
            await turns()
            now_s += 1.5
            listener.sweep(now_s)
            assert metrics.idle_closed.value == 0
        assert now_s - started_s > 60, "longer than a client may be idle"
        received += await reader.readexactly(WHOLE + 7 - len(received))
        assert received[4:-3] == content[:WHOLE]
