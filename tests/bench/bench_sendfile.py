"""From which size on sendfile beats a pooled read: `python -m tests.bench.bench_sendfile`, by hand.

`dataplane/server/reply_writer.py` in a process of its own answers 4 connections with slices of a
file in the page cache, once by pooled reads and once by sendfile, in turn. The client reads as the
load generator does. `SENDFILE_FROM_BYTES` should stand where sendfile's CPU time gets the lower.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dataplane.broker.metrics import Metrics
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.runtime.parent_death import die_with_parent
from dataplane.server import reply_writer
from dataplane.server.listener import Listener
from dataplane.server.listener_limits import ListenerLimits
from dataplane.server.socket_binding import bind
from tests.bench.dataplane.proc import cpu_s

if TYPE_CHECKING:
    from dataplane.ports.filesystem import File

ROOT = Path(__file__).resolve().parents[2]
SIZES_KIB = (16, 32, 64, 128, 256, 512, 1024)
FILE_BYTES = 256 << 20
HEAD_BYTES = 60  # as before the records of a Fetch answer
ROUNDS, SECONDS = 5, 0.6
CONNECTIONS, IN_FLIGHT = 4, 4
REQUEST = struct.pack(">ihhih", 10, 1, 11, 1, -1)
NEVER = 1 << 62


class Slice(NamedTuple):
    file: File
    position: int
    size: int


class InACircle:
    """A dispatcher that answers every frame with the next slice of the file."""

    def __init__(self, file: File, size: int) -> None:
        self._file, self._size, self._next = file, size, 0

    def wait_before(self, connection, frame: memoryview) -> int:
        return 0

    def may_overtake_waiting(self, frame: memoryview, api_key: int | None) -> bool:
        return False

    def submit(self, connection: object, frame: memoryview) -> list[object]:
        position = self._next
        self._next = (position + self._size) % (FILE_BYTES - self._size)
        head = struct.pack(">i", HEAD_BYTES - 4 + self._size) + bytes(HEAD_BYTES - 4)
        return [head, Slice(self._file, position, self._size)]


async def serve(path: str, size: int, sendfile_from: int) -> None:
    reply_writer.SENDFILE_FROM_BYTES = sendfile_from
    listener = Listener(
        name="BENCH",
        security_protocol="PLAINTEXT",
        dispatcher=InACircle(OsFileSystem().open(path), size),
        metrics=Metrics(),
        limits=ListenerLimits(),
        tls=None,
    )
    bound = bind("BENCH", "127.0.0.1", 0)
    await listener.open(bound)
    print(bound.getsockname()[1], flush=True)
    await asyncio.Event().wait()


def measure(path: str, size: int, sendfile_from: int) -> tuple[float, float]:
    """MB/s and CPU seconds a GB of the serving process."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.bench_sendfile", path, str(size), str(sendfile_from)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        preexec_fn=die_with_parent(),  # noqa: PLW1509 - one prctl call, no locks
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            before = cpu_s([server.pid])
            begun = time.perf_counter()
            total = read_for(port, size, SECONDS)
            took_s = time.perf_counter() - begun
            return total / took_s / 1e6, (cpu_s([server.pid]) - before) / total * 1e9
        finally:
            server.kill()


def read_for(port: int, size: int, seconds: float) -> int:
    """Bytes that came in `seconds` over connections with a few requests in flight each."""
    whole, total = HEAD_BYTES + size, 0
    buffer = memoryview(bytearray(whole))
    poll = select.epoll()
    lanes: dict[int, list[object]] = {}
    for _ in range(CONNECTIONS):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(REQUEST * IN_FLIGHT)
        sock.setblocking(False)
        poll.register(sock.fileno(), select.EPOLLIN)
        lanes[sock.fileno()] = [sock, 0]
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        for number, _event in poll.poll(1):
            sock, got = lanes[number]
            count = sock.recv_into(buffer[got:])
            total += count
            lanes[number][1] = (got + count) % whole
            if got + count == whole:
                sock.send(REQUEST)
    for sock, _got in lanes.values():
        sock.close()
    return total


def main() -> None:
    with tempfile.NamedTemporaryFile(prefix="penstock-bench-sendfile-") as file:
        for _ in range(FILE_BYTES >> 20):
            file.write(os.urandom(1 << 20))
        file.flush()
        print("KiB    pooled reads          sendfile              CPU ratio (median of rounds)")
        for kib in SIZES_KIB:
            pairs = [
                (measure(file.name, kib << 10, NEVER), measure(file.name, kib << 10, 0))
                for _ in range(ROUNDS)
            ]
            pooled, sent = (
                [statistics.median(pair[way][what] for pair in pairs) for what in (0, 1)]
                for way in (0, 1)
            )
            ratio = statistics.median(pair[1][1] / pair[0][1] for pair in pairs)
            print(
                f"{kib:<5}  {pooled[0]:5.0f} MB/s {pooled[1]:.2f} s/GB  "
                f"{sent[0]:5.0f} MB/s {sent[1]:.2f} s/GB  {ratio:.2f}"
            )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
    else:
        main()
