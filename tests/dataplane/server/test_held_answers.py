"""Answers that lie in memory: whoever reads how slowly, they are the file's bytes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import random
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from dataplane.broker.delayed.deferred import Deferred
from dataplane.log.reading.log_slice import LogSlice
from dataplane.log.reading.read_memory import TAKEN_BYTES_MAX, Held, ReadMemory
from dataplane.ports.filesystem import File
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.server import reply_writer
from dataplane.server.reply_writer import VECTOR_MAX, ReplyWriter
from tests.dataplane.server.test_broken_answers import gone_before_its_answer, warnings_of
from tests.dataplane.server.test_connection import (
    Scripted,
    _tls,
    connected,
    framed,
    listening,
    read_frame,
)
from tests.dataplane.server.test_large_answers import descriptors
from tests.waiting import until

FILE_BYTES = 4 << 20


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "segment"
    path.write_bytes(os.urandom(FILE_BYTES))
    with contextlib.closing(OsFileSystem().open(str(path))) as file:
        yield path, file


class Holding(Scripted):
    """Answers slices that were read into memory: s at once, d when `waiting` completes."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.memory = ReadMemory()

    def read(self, position: int, size: int) -> list:
        data = self.memory.take(size)
        assert self.file.read_into(position, data) == size
        held = Held(self.memory, self.memory.generation, data)
        records = LogSlice(self.file, position, size, 0, held)
        return [struct.pack(">i", size + 3), records, b"end"]

    def submit(self, connection, frame: memoryview):
        kind = bytes(frame[:1])
        if kind not in {b"s", b"d"}:
            return super().submit(connection, frame)
        parts = self.read(*struct.unpack(">ii", frame[1:9]))
        if kind == b"s":
            return parts
        deferred: Deferred = Deferred()
        self.waiting.append((deferred, parts))
        return deferred


def ask(position: int, size: int, kind: bytes = b"s") -> bytes:
    return framed(kind + struct.pack(">ii", position, size))


async def consume(port: int, content: bytes, seed: int, *, slow: bool, ssl=None) -> int:
    """Ask for slices, several at a time, and compare what comes."""
    chance = random.Random(seed)
    done = 0
    async with connected(port, ssl=ssl, limit=1 << 14 if slow else 1 << 20) as (reader, writer):
        for _ in range(6 if slow else 25):
            wanted = []
            for _ in range(chance.choice([1, 1, 4, 9])):
                size = chance.choice([1, 4_096, 65_000, 200_000, TAKEN_BYTES_MAX])
                wanted.append((chance.randrange(FILE_BYTES - size + 1), size))
            writer.write(b"".join(ask(*each) for each in wanted))
            if slow:
                await asyncio.sleep(0.03)  # the sockets fill while others are served
            for position, size in wanted:
                assert await read_frame(reader) == content[position : position + size] + b"end"
                done += 1
    return done


@pytest.mark.parametrize("secure", [False, True])
async def test_slow_and_fast_readers_get_the_files_bytes(stored, tmp_path, secure: bool) -> None:
    path, file = stored
    server, client = _tls(tmp_path) if secure else (None, None)
    content = path.read_bytes()
    async with listening(Holding(file), server, send_buffer_bytes=50_000) as (_, port, _m):
        before = descriptors()
        done = await asyncio.gather(
            *(consume(port, content, n, slow=n % 2 == 0, ssl=client) for n in range(6))
        )
        assert all(done)
        await until(lambda: descriptors() <= before, "nothing stays open")


@pytest.mark.parametrize("secure", [False, True])
async def test_memory_used_again_before_an_answer_leaves_is_not_sent(
    stored, tmp_path, secure: bool
) -> None:
    path, file = stored
    server, client = _tls(tmp_path) if secure else (None, None)
    content = path.read_bytes()
    script = Holding(file)
    async with (
        listening(script, server) as (_, port, _m),
        connected(port, ssl=client) as (reader, writer),
        connected(port, ssl=client) as (other_reader, other_writer),
    ):
        writer.write(ask(1_000, 70_000, b"d"))
        await until(lambda: bool(script.waiting))
        deferred, parts = script.waiting[0]
        for _ in range(3):
            other_writer.write(ask(2_000_000, TAKEN_BYTES_MAX))
            await read_frame(other_reader)
        assert parts[1].held.get() is None
        deferred.complete(parts)
        assert await read_frame(reader) == content[1_000:71_000] + b"end"


@pytest.mark.parametrize("count", [1, VECTOR_MAX // 3, VECTOR_MAX])
async def test_many_answers_leave_in_their_order(stored, count: int) -> None:
    """More pieces than one call takes leave another way."""
    path, file = stored
    content = path.read_bytes()
    async with (
        listening(Holding(file)) as (_, port, _m),
        connected(port) as (reader, writer),
    ):
        writer.write(b"".join(ask(n * 100, 100 + n) for n in range(count)) + framed(b"e"))
        for n in range(count):
            assert await read_frame(reader) == content[n * 100 : n * 101 + 100] + b"end"
        assert await read_frame(reader) == b"e"


async def test_pieces_without_a_slice_among_them_leave_as_well() -> None:
    script = Scripted()
    async with listening(script) as (_, port, _m), connected(port) as (reader, writer):
        writer.write(framed(b"w"))
        await until(lambda: bool(script.waiting))
        script.waiting[0].complete([struct.pack(">i", 6), b"two", b"", b"end"])
        assert await read_frame(reader) == b"twoend"
        writer.write(framed(b"e"))
        assert await read_frame(reader) == b"e", "the connection goes on"


class Short(socket.socket):
    """Takes so many bytes of the first message that it is given, as if it were full then."""

    takes = 0

    def sendmsg(self, vector, *_) -> int:
        data = b"".join(vector)[: self.takes]
        if not data:
            raise BlockingIOError
        return self.send(data)


class Loop:
    """Notes what is to be called once a socket has space."""

    def __init__(self) -> None:
        self.watched: dict[object, Callable[[], None]] = {}

    def add_writer(self, sock: object, call: Callable[[], None]) -> None:
        assert sock not in self.watched
        self.watched[sock] = call

    def remove_writer(self, sock: object) -> None:
        del self.watched[sock]


class Transport:
    """Of a socket that nobody else writes to."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def set_write_buffer_limits(self, *, high: int) -> None:
        assert high == 0

    def get_extra_info(self, name: str) -> socket.socket:
        assert name == "socket"
        return self.sock

    def write(self, data: bytes | memoryview) -> None:
        self.sock.sendall(data)


@pytest.mark.parametrize("goes_on", [True, False])
def test_whatever_a_socket_takes_the_rest_is_what_follows(
    stored, monkeypatch, goes_on: bool
) -> None:
    path, file = stored
    content = path.read_bytes()
    script = Holding(file)
    whole = b"".join(struct.pack(">i", 13) + content[at : at + 10] + b"end" for at in (0, 500))
    before = descriptors()
    for taken in range(len(whole) + 1):
        ours, theirs = socket.socketpair()
        loop, ends = Loop(), []
        writer = ReplyWriter(loop, Transport(ours), is_plain=True, on_unreadable=pytest.fail)
        script.memory.start_over()
        generation = script.memory.generation
        writer.add(script.read(0, 10))
        writer.add([b"", *script.read(500, 10)])
        is_whole = taken == len(whole)
        with monkeypatch.context() as patch:
            patch.setattr(reply_writer.socket, "socket", type("", (Short,), {"takes": taken}))
            assert writer.flush(lambda ends=ends: ends.append("left")) == (not is_whole)
        assert (script.memory.generation > generation) == is_whole
        assert len(loop.watched) == (not is_whole)
        if goes_on:
            for call in list(loop.watched.values()):
                call()
            assert ends == ["left"] * (not is_whole)
        writer.close()
        ours.close()
        assert not loop.watched
        with theirs:
            got = theirs.recv(2 * len(whole))
            assert got == (whole if goes_on else whole[:taken])
    assert descriptors() == before


@pytest.mark.parametrize("code", [errno.EPIPE, errno.ECONNRESET, errno.ETIMEDOUT, errno.ENOTCONN])
@pytest.mark.parametrize("call", ["sendmsg", "sendfile"])
async def test_a_peer_that_is_gone_is_no_error_and_leaves_no_descriptor(
    stored, caplog, monkeypatch, call: str, code: int
) -> None:
    """Whether it goes before its answer, or when a part of it has left."""

    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    class Refusing(reply_writer.socket.socket):
        sendmsg = refuse

    caplog.set_level(logging.DEBUG)
    if call == "sendmsg":
        monkeypatch.setattr(reply_writer.socket, "socket", Refusing)
    else:
        monkeypatch.setattr(reply_writer.os, "sendfile", refuse)
    async with listening(Holding(stored[1]), send_buffer_bytes=20_000) as (listener, port, _m):
        before = descriptors()
        async with connected(port, limit=1 << 10) as (reader, writer):
            writer.write(ask(0, TAKEN_BYTES_MAX) * 20)
            await until(lambda: listener.connection_count == 1)
            with contextlib.suppress(ConnectionError):
                while await reader.read(1 << 16):
                    pass
        await until(lambda: listener.connection_count == 0)
        await until(lambda: descriptors() == before)
    assert warnings_of(caplog) == []


async def test_a_reset_seen_by_the_answer_itself_is_no_error(stored, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    script = Holding(stored[1])
    async with listening(script) as (listener, port, _m):
        await gone_before_its_answer(script, port)
        script.waiting[0].complete(script.read(0, 100_000))
        await until(lambda: listener.connection_count == 0)
    assert warnings_of(caplog) == []


async def test_a_rest_of_a_file_closed_meanwhile_is_still_sent(stored) -> None:
    """Its memory may be used again, its segment deleted; the slow reader has time."""
    path, file = stored
    content = Path(path).read_bytes()
    script = Holding(file)
    async with (
        listening(script, send_buffer_bytes=20_000) as (_, port, _m),
        connected(port, limit=1 << 12) as (reader, writer),
    ):
        writer.write(ask(77, TAKEN_BYTES_MAX))
        await until(lambda: not writer.transport.is_reading())
        script.memory.take(TAKEN_BYTES_MAX)[:] = bytes(TAKEN_BYTES_MAX)
        script.memory.take(TAKEN_BYTES_MAX)[:] = bytes(TAKEN_BYTES_MAX)
        file.close()
        assert await read_frame(reader) == content[77 : 77 + TAKEN_BYTES_MAX] + b"end"
