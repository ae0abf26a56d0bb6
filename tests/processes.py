"""Processes that a test did not start itself, but something that it started."""

import os
import signal
from pathlib import Path

from tests.waiting import wait_until


def children(parent: int) -> list[int]:
    """Pids of the processes whose parent is `parent`, in order of their age."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(after_name[1]) == parent:
            found.append(int(status.parent.name))
    return sorted(found)


def is_running(pid: int) -> bool:
    """A process that has ended and was not yet reaped is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def hold_still(pid: int) -> None:
    """SIGSTOP, and returns when no thread of it runs any more.

    The signal stops a process when the first of its threads takes it; on a busy machine the others
    go on until then, and answer what a test believes nobody answers.
    """
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: _states(pid) <= STILL, f"process {pid} stands still")


STILL = frozenset("TtZXx")
"""Stopped (by a signal or a debugger), or ended."""


def _states(pid: int) -> set[str]:
    """Of its threads, as in proc(5)."""
    found = set()
    for status in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            found.add(status.read_text().rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found
