"""Answers that cannot be sent: a peer that left is nobody's fault, a truncated log file is logged."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import struct

import pytest

from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.server import reply_writer
from dataplane.server.reply_writer import SENDFILE_FROM_BYTES
from tests.dataplane.server.test_connection import (
    Scripted,
    Slice,
    _tls,
    connected,
    framed,
    listening,
)
from tests.waiting import turns, until

SMALL, LARGE = 100_000, SENDFILE_FROM_BYTES + 1
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(bytes(4 << 20))
    with contextlib.closing(OsFileSystem().open(str(path))) as file:
        yield path, file


def warnings_of(caplog) -> list[logging.LogRecord]:
    return [
        record
        for record in caplog.records
        if record.levelno > logging.DEBUG or record.exc_info is not None
    ]


def answer(file, size: int) -> list[object]:
    return [struct.pack(">i", size + 3), Slice(file, 0, size), b"end"]


async def gone_before_its_answer(script: Scripted, port: int) -> None:
    """A client asks and leaves; its reset is here, but the loop has not looked yet."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        client.sendall(framed(b"w"))
        await until(lambda: bool(script.waiting))


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_a_peer_that_left_before_its_answer_is_no_error(stored, caplog, size: int) -> None:
    caplog.set_level(logging.DEBUG)
    script = Scripted()
    async with listening(script) as (listener, port, _m):
        await gone_before_its_answer(script, port)
        script.waiting[0].complete(answer(stored[1], size))
        await until(lambda: listener.connection_count == 0)
    assert warnings_of(caplog) == []


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_an_answer_ready_while_the_connection_ends_is_dropped(
    stored, caplog, accepted: list[asyncio.Transport], size: int
) -> None:
    caplog.set_level(logging.DEBUG)
    script = Scripted()
    async with listening(script) as (listener, port, _m), connected(port) as (_reader, writer):
        writer.write(framed(b"w"))
        await until(lambda: bool(script.waiting))
        accepted[0].abort()
        script.waiting[0].complete(answer(stored[1], size))
        await until(lambda: listener.connection_count == 0)
        await turns()
    assert warnings_of(caplog) == []


@pytest.mark.parametrize("code", [errno.EPIPE, errno.ECONNRESET, errno.ETIMEDOUT, errno.ENOTCONN])
async def test_however_the_socket_says_that_the_peer_is_gone(
    stored, caplog, monkeypatch, code: int
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(reply_writer.os, "sendfile", refuse)
    async with (
        listening(Scripted(stored[1])) as (listener, port, _m),
        connected(port) as (reader, writer),
    ):
        writer.write(framed(b"s" + struct.pack(">ii", 0, LARGE)))
        with contextlib.suppress(ConnectionError):
            await reader.read(-1)
        await until(lambda: listener.connection_count == 0)
    assert warnings_of(caplog) == []


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_a_truncated_file_is_logged_in_one_line(
    stored, caplog, tmp_path, size: int, secure: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    path, file = stored
    server, client = _tls(tmp_path) if secure else (None, None)
    os.truncate(path, 70_000)
    async with listening(Scripted(file), server) as (listener, port, _m):
        for _ in range(3):  # a consumer comes again at once
            async with connected(port, ssl=client) as (reader, writer):
                writer.write(framed(b"e") + framed(b"s" + struct.pack(">ii", 0, size)))
                received = b""
                with contextlib.suppress(ConnectionError):
                    received = await reader.read(-1)
                assert len(received) < size
                await until(lambda: listener.connection_count == 0)
    (record,) = warnings_of(caplog)
    assert record.levelno == logging.WARNING
    assert record.exc_info is None
    message = record.getMessage()
    assert "closing 127.0.0.1" in message
    assert f"{path} ends {size - 70_000} bytes before" in message


async def test_a_disk_that_cannot_be_read_is_logged_too(stored, caplog, monkeypatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(reply_writer.os, "sendfile", fail)
    async with (
        listening(Scripted(stored[1])) as (listener, port, _m),
        connected(port) as (reader, writer),
    ):
        writer.write(framed(b"s" + struct.pack(">ii", 0, LARGE)))
        with contextlib.suppress(ConnectionError):
            await reader.read(-1)
        await until(lambda: listener.connection_count == 0)
    (record,) = warnings_of(caplog)
    assert record.levelno == logging.WARNING
    assert "Input/output error" in record.getMessage()
