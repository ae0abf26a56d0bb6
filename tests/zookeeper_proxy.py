"""A TCP proxy before a ZooKeeper server: keeps what passes, and hangs up when a test wants."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Callable
from typing import Self

CHUNK_BYTES = 65_536
CONNECT, SASL = 0, 102
"""A connection's first request has no type; 102 is ZooKeeper's code of a SASL token."""
_LENGTH = struct.Struct("!i")
_XID_AND_TYPE = struct.Struct("!ii")
# Length, protocol version, timeout; then the session's id and its password.
_SESSION_AT = 12
_SESSION = struct.Struct("!qi16s")


class Connection:
    """One client's connection, and all the bytes of both directions."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.sent, self.answered = bytearray(), bytearray()
        self._writers = (client, server)

    def request_types(self) -> list[int]:
        """Of the requests that are whole, in order. Not for TLS."""
        found, at = [], 0
        while at + _LENGTH.size <= len(self.sent):
            (length,) = _LENGTH.unpack_from(self.sent, at)
            at += _LENGTH.size
            if at + length > len(self.sent):
                break
            found.append(_XID_AND_TYPE.unpack_from(self.sent, at)[1] if found else CONNECT)
            at += length
        return found

    def session(self) -> tuple[int, bytes]:
        """The session's id and password, as the server gave them. Not for TLS."""
        session_id, _, password = _SESSION.unpack_from(self.answered, _SESSION_AT)
        return session_id, password

    def drop(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


class ZooKeeperProxy:
    """`async with ZooKeeperProxy(host, port) as proxy`: clients connect to `proxy.address`.

    `hangs_up`, asked after each piece that a client has sent, drops the connection by True; the
    server does not get that piece.
    """

    def __init__(self, host: str, port: int) -> None:
        self.connections: list[Connection] = []
        self.hangs_up: Callable[[Connection], bool] = lambda _connection: False
        self._target = (host, port)
        self._tasks: set[asyncio.Task] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.address = f"{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.drop()
        await asyncio.gather(*self._tasks)

    def drop(self) -> None:
        """Cut every connection that there is; new ones are let through."""
        for connection in self.connections:
            connection.drop()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.current_task())
        try:
            back_reader, back_writer = await asyncio.open_connection(*self._target)
        except OSError:  # the server is away: so is the proxy
            writer.transport.abort()
            return
        connection = Connection(writer, back_writer)
        self.connections.append(connection)

        def sent(piece: bytes) -> bool:
            connection.sent += piece
            return not self.hangs_up(connection)

        def answered(piece: bytes) -> bool:
            connection.answered += piece
            return True

        await asyncio.gather(_pump(reader, back_writer, sent), _pump(back_reader, writer, answered))


async def _pump(
    source: asyncio.StreamReader, target: asyncio.StreamWriter, keep: Callable[[bytes], bool]
) -> None:
    """Until either side ends; then both do."""
    with contextlib.suppress(OSError):
        while (piece := await source.read(CHUNK_BYTES)) and keep(piece):
            target.write(piece)
            await target.drain()
    target.transport.abort()
