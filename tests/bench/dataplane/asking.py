"""Many connections at once for what is no load of bytes: groups, commits, transactions, metadata.

They live in the benchmark's own process, which is never a broker's.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dataplane.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.bench.dataplane.load import BenchError
from tests.bench.dataplane.protocol import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from dataplane.wire.schema import Message

T = TypeVar("T")
PATIENCE_S = 60.0
COORDINATOR_PATIENCE_S = 30.0
OPENED_AT_ONCE = 200
BUFFER_BYTES = 8 << 20
# The coordinator loads, is not known yet, is elsewhere, or ends an earlier transaction.
TEMPORARY = frozenset({14, 15, 16, 51})


class Connection:
    """One request after the other, or many alike at once. BenchError for a wrong answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=BUFFER_BYTES))

    async def ask(self, request: Message) -> Any:
        self._writer.write(encoded(request))
        return decoded(request.API_KEY, await self._answer())

    async def _answer(self) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            return await self._reader.readexactly(size)

    async def ask_many(self, request: Message, count: int, expected: bytes = b"") -> bytes:
        """`count` times the same, all open at once, each answer the same bytes; those bytes."""
        self._writer.write(encoded(request) * count)
        first = expected or await self._answer()
        whole = len(first).to_bytes(4, "big") + first
        left = count if expected else count - 1
        async with asyncio.timeout(PATIENCE_S):
            if await self._reader.readexactly(len(whole) * left) != whole * left:
                raise BenchError(f"answers to API {request.API_KEY} differ")
        return first

    def close(self) -> None:
        self._writer.close()


@contextlib.asynccontextmanager
async def connections(port: int, count: int) -> AsyncIterator[list[Connection]]:
    opened: list[Connection] = []
    try:
        while len(opened) < count:
            more = min(OPENED_AT_ONCE, count - len(opened))
            opened += await asyncio.gather(*(Connection.open(port) for _ in range(more)))
        yield opened
    finally:
        for connection in opened:
            connection.close()


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(coroutine)
    except (asyncio.IncompleteReadError, TimeoutError, ExceptionGroup) as error:
        raise BenchError(f"a broker did not answer: {error!r}") from error


def check(code: int, what: str) -> None:
    if code:
        raise BenchError(f"{what}: error {code}")


async def patiently(connection: Connection, request: Message) -> Any:
    """Ask again as long as the coordinator says that it is not ready."""
    deadline = asyncio.get_running_loop().time() + COORDINATOR_PATIENCE_S
    while True:
        answer = await connection.ask(request)
        if answer.error_code not in TEMPORARY or asyncio.get_running_loop().time() > deadline:
            check(answer.error_code, type(request).__name__)
            return answer
        await asyncio.sleep(0.02)


async def find_coordinator(port: int, key: str, key_type: int = 0) -> int:
    """The broker's id, when there is one."""
    connection = await Connection.open(port)
    try:
        answer = await patiently(connection, FindCoordinatorRequest(key=key, key_type=key_type))
        return int(answer.node_id)
    finally:
        connection.close()
