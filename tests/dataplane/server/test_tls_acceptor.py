"""Handshakes that never end, or are none: bounded, counted, and in nobody's way."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import ssl

import pytest

from dataplane.server.socket_binding import bind
from dataplane.server.tls_acceptor import TlsAcceptor
from tests.certificates import Authority

MAX = 20


class Served:
    def __init__(self, acceptor, port, failures, trust):
        self.acceptor, self.port, self.failures, self.trust = acceptor, port, failures, trust

    async def ask(self, **versions):
        """Whether an honest client is served, its connection closed after it."""
        context = ssl.create_default_context(cafile=self.trust)
        for name, version in versions.items():
            setattr(context, name, version)
        reader, writer = await asyncio.wait_for(
            asyncio.open_connection("127.0.0.1", self.port, ssl=context), 5
        )
        writer.write(b"hello\n")
        answer = await asyncio.wait_for(reader.readline(), 5)
        writer.close()
        return answer == b"hello\n"


@contextlib.asynccontextmanager
async def serving(directory, *, timeout_s=10.0, certificate_asked=False):
    authority = Authority(directory, "ours")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.issue("broker"))
    if certificate_asked:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority.file)
    failures = collections.Counter()

    async def echo(reader, writer):
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while line := await reader.readline():
                writer.write(line)
        writer.close()

    acceptor = TlsAcceptor(
        lambda: context,
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(), echo),
        lambda _host, reason, text: failures.update([reason]) if text is not None else None,
        handshakes_max=MAX,
        timeout_s=timeout_s,
    )
    bound = bind("TEST", "127.0.0.1", 0)
    port = bound.getsockname()[1]
    acceptor.open(bound, 1024)
    try:
        yield Served(acceptor, port, failures, authority.file)
    finally:
        acceptor.close()


async def until(condition):
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def test_half_open_connections_make_way_for_honest_ones(tmp_path):
    async with serving(tmp_path) as served:
        held = []
        for _ in range(10 * MAX):
            held.append(await asyncio.open_connection("127.0.0.1", served.port))
            assert served.acceptor.handshakes <= MAX
        await until(lambda: served.failures["displaced"] == 9 * MAX)
        for _ in range(5):
            assert await served.ask()
        await until(lambda: served.acceptor.handshakes < MAX)
        for reader, _writer in held[:MAX]:
            assert await asyncio.wait_for(reader.read(), 5) == b""  # the oldest were closed
        for _reader, writer in held:
            writer.close()
        await until(lambda: served.acceptor.handshakes == 0)


async def test_a_slow_hello_is_cut_and_holds_up_nobody(tmp_path):
    async with serving(tmp_path, timeout_s=0.5) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        closed = asyncio.ensure_future(reader.read())
        for byte in b"\x16\x03\x01\x02\x00\x01":
            writer.write(bytes([byte]))
            assert await served.ask()
            await asyncio.sleep(0.05)
        assert await asyncio.wait_for(closed, 5) == b""
        await until(lambda: served.failures["timeout"] == 1)
        assert served.acceptor.handshakes == 0
        writer.close()


@pytest.mark.parametrize(
    "stream",
    [
        b"\x00\x00\x00\x10\x00\x12\x00\x03\x00\x00\x00\x01\x00\x01a\x00\x00\x00\x00\x00",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\xff\xff" + b"\xff" * 100,
        b"\xff" * 64,
    ],
)
async def test_what_is_no_tls_is_closed_and_counted(tmp_path, stream):
    async with serving(tmp_path) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(stream)
        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), 5)
        await until(lambda: served.failures["protocol"] == 1)
        assert await served.ask()
        writer.close()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_missing_certificate_is_counted_as_such(tmp_path, version):
    async with serving(tmp_path, certificate_asked=True) as served:
        # Under TLS 1.3 the client has finished by then, and is closed without an answer.
        with contextlib.suppress(ssl.SSLError, ConnectionError):
            assert not await served.ask(maximum_version=version)
        await until(lambda: served.failures["certificate"] == 1)


async def test_who_leaves_in_the_middle_is_counted(tmp_path):
    async with serving(tmp_path) as served:
        _reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"\x16\x03\x01")
        await until(lambda: served.acceptor.handshakes == 1)
        writer.close()
        await until(lambda: served.acceptor.handshakes == 0)
        assert served.failures.total() == 1


async def test_closing_gives_up_what_is_under_way(tmp_path):
    async with serving(tmp_path) as served:
        reader, _writer = await asyncio.open_connection("127.0.0.1", served.port)
        await until(lambda: served.acceptor.handshakes == 1)
        served.acceptor.close()
        assert await asyncio.wait_for(reader.read(), 5) == b""
        await until(lambda: served.acceptor.handshakes == 0)
        assert not served.failures
