"""What the machine itself does: the same load against a process that only reads and answers.

The loopback figure is also the generator's own: no broker can be seen to do more.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.runtime.parent_death import die_with_parent
from tests.bench.dataplane import frames
from tests.bench.dataplane.load import ROOT, BenchError, drive
from tests.bench.dataplane.task import Lane

if TYPE_CHECKING:
    from tests.bench.dataplane.task import Outcome, Task

APPEND_BYTES = 512 << 20
SAMPLE_BYTES = 1 << 30
"""No sample writes more than this, so that its pages are warm from the first to the last."""
WARMED_BYTES = SAMPLE_BYTES + (SAMPLE_BYTES >> 2)
PRODUCE_ANSWER_BYTES = 64
READ_BYTES = 1 << 20


def warm_pages(directory: Path) -> None:
    """Have the free memory that the next sample fills backed by real pages.

    A virtual machine gives free pages back to its host, and the first touch of each costs more
    than everything that a broker does with it: 2 CPU seconds a GB. Pages freed a moment ago are
    taken again first.
    """
    chunk = bytes(1 << 20)
    with tempfile.NamedTemporaryFile(prefix="penstock-bench-pages-", dir=directory) as file:
        for _ in range(WARMED_BYTES >> 20):
            os.write(file.fileno(), chunk)


def append_mb_s(chunk_bytes: int) -> float:
    """One writer, fresh file on warm pages, no fsync."""
    warm_pages(Path(tempfile.gettempdir()))
    chunk = os.urandom(chunk_bytes)
    count = APPEND_BYTES // chunk_bytes
    with tempfile.NamedTemporaryFile(prefix="penstock-bench-append-") as file:
        number = file.fileno()
        begun = time.perf_counter()
        for _ in range(count):
            os.write(number, chunk)
        return count * chunk_bytes / (time.perf_counter() - begun) / 1e6


def loopback(task: Task) -> Outcome:
    """The generator's task against an answering machine in a process of its own."""
    if task.fetch_bytes:
        sizes = [len(frames.fetch("limit", 0, 0, task.fetch_bytes, 0)), task.fetch_bytes]
    else:
        records, _count = frames.batch(task.batch_bytes)
        sizes = [len(frames.produce("limit", 0, records, task.acks)), PRODUCE_ANSWER_BYTES]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.dataplane.limits", *map(str, sizes)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        preexec_fn=die_with_parent(),  # noqa: PLW1509 - one prctl call, no locks
    ) as machine:
        try:
            assert machine.stdout is not None
            line = machine.stdout.readline()
            if not line:
                raise BenchError("the answering machine did not start")
            port = json.loads(line)
            lanes = [
                Lane(port, "limit", 0, stored_batches=lane.stored_batches) for lane in task.lanes
            ]
            return drive(replace(task, lanes=lanes, is_dummy=True))[0]
        finally:
            machine.kill()


def answering_machine(request_bytes: int, answer_bytes: int) -> None:
    """Count bytes, send a canned answer for each `request_bytes` of them. Ends when killed."""
    listener = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    answer = struct.pack(">i", answer_bytes - 4) + bytes(answer_bytes - 4)
    canned = memoryview(answer * max(2, (4 << 20) // answer_bytes))
    scratch = bytearray(READ_BYTES)
    poll = select.epoll()
    poll.register(listener.fileno(), select.EPOLLIN)
    lines: dict[int, list[int]] = {}  # bytes of an unfinished request, bytes owed, place in canned
    sockets: dict[int, socket.socket] = {}
    while True:
        for number, event in poll.poll():
            if number == listener.fileno():
                sock, _address = listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setblocking(False)
                sockets[sock.fileno()] = sock
                lines[sock.fileno()] = [0, 0, 0]
                poll.register(sock.fileno(), select.EPOLLIN)
                continue
            sock, line = sockets[number], lines[number]
            if event & ~select.EPOLLOUT:
                try:
                    got = sock.recv_into(scratch)
                except OSError:
                    got = 0
                if not got:
                    poll.unregister(number)
                    sockets.pop(number).close()
                    continue
                whole, line[0] = divmod(line[0] + got, request_bytes)
                line[1] += whole * answer_bytes
            is_stuck = False
            while line[1] and not is_stuck:
                try:
                    sent = sock.send(canned[line[2] : line[2] + line[1]])
                    line[1] -= sent
                    line[2] = (line[2] + sent) % answer_bytes
                except BlockingIOError:
                    is_stuck = True
            poll.modify(number, select.EPOLLIN | (select.EPOLLOUT if is_stuck else 0))


if __name__ == "__main__":
    answering_machine(int(sys.argv[1]), int(sys.argv[2]))
