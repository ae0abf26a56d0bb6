"""Stops a host's agent and its brokers in good order: before the host itself goes down.

The agent is asked (SIGINT: its brokers too, whatever it was started with). What it leaves, or an
agent that was killed has left, is stopped here, each broker by SIGTERM, so that it hands its
partitions over. Nothing is killed: what has not gone in time is named.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.agent.host_lock import HostLock
from dataplane.agent.managed_broker import leftovers
from dataplane.agent.processes import start_ticks_of

if TYPE_CHECKING:
    import argparse

    from dataplane.agent.processes import Identity

POLL_S = 0.1
EXIT_LEFT, EXIT_BAD_ARGUMENTS = 1, 2


def main(options: argparse.Namespace) -> int:
    """Exit code 0: all has gone; 1: something has not in time; 2: no such directory."""
    data_dir = Path(options.data_dir)
    if not data_dir.is_dir():
        sys.stderr.write(f"penstock stop-host: {data_dir} is no directory\n")
        return EXIT_BAD_ARGUMENTS
    ends_s = time.monotonic() + options.timeout_s
    with contextlib.closing(HostLock(data_dir)) as lock:
        if not _agent_gone(lock, ends_s):
            sys.stderr.write(f"penstock stop-host: the agent, pid {lock.holder()}, has not gone\n")
            return EXIT_LEFT
        running = [identity for _, identity in leftovers(data_dir)]
        for identity in running:
            _signal(identity, signal.SIGTERM)
        while left := [identity for identity in running if _lives(identity)]:
            if time.monotonic() > ends_s:
                pids = ", ".join(str(identity.pid) for identity in left)
                sys.stderr.write(f"penstock stop-host: brokers have not gone: pid {pids}\n")
                return EXIT_LEFT
            time.sleep(POLL_S)
    return 0


def _agent_gone(lock: HostLock, ends_s: float) -> bool:
    """Whether the lock is ours; asks whoever holds it to go."""
    asked: int | None = None
    while not lock.take():
        holder = lock.holder()
        if holder is not None and holder != asked:
            with contextlib.suppress(ProcessLookupError):
                os.kill(holder, signal.SIGINT)
            asked = holder
        if time.monotonic() > ends_s:
            return False
        time.sleep(POLL_S)
    return True


def _lives(identity: Identity) -> bool:
    return start_ticks_of(identity.pid) == identity.start_ticks


def _signal(identity: Identity, number: int) -> None:
    """Through a pidfd, so that a recycled pid is not hit."""
    try:
        pidfd = os.pidfd_open(identity.pid)
    except OSError:
        return
    try:
        if _lives(identity):
            signal.pidfd_send_signal(pidfd, number)
    except ProcessLookupError:
        pass
    finally:
        os.close(pidfd)
