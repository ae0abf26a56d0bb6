"""Ports for servers that tests start, so that test processes side by side do not take each other's.

Every process has a lane of ports to itself as long as it lives: a lock on a file says so.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import pathlib
import socket
import tempfile
from typing import IO

FIRST, LAST = 21_000, 32_000  # below the range that the kernel takes ports from by itself
LANE = 500
HOST = "127.0.0.1"

_next: dict[int, int] = {}


def free_row(count: int) -> int:
    """The first of `count` consecutive ports that nobody listens on; another row at each call."""
    first, _lock = _lane(os.getpid())
    start = _next.get(first, 0)
    for step in range(LANE - count + 1):
        offset = (start + step) % (LANE - count + 1)
        if _are_free(range(first + offset, first + offset + count)):
            _next[first] = offset + count
            return first + offset
    raise RuntimeError(f"no {count} free ports in a row from {first}")


@functools.cache
def _lane(pid: int) -> tuple[int, IO[str]]:
    """This process's first port, and the open file whose lock holds the lane until it ends."""
    directory = pathlib.Path(tempfile.gettempdir()) / f"penstock-test-ports-{os.getuid()}"
    directory.mkdir(exist_ok=True)
    lanes = list(range(FIRST, LAST, LANE))
    turn = pid % len(lanes)
    for first in lanes[turn:] + lanes[:turn]:
        lock = (directory / str(first)).open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
        else:
            return first, lock
    raise RuntimeError("every lane of ports is taken")


def _are_free(ports: range) -> bool:
    with contextlib.ExitStack() as held:
        try:
            for port in ports:
                held.enter_context(socket.socket()).bind((HOST, port))
        except OSError:
            return False
    return True
