"""CPU seconds of this process and of all below it: the JVM and its Python workers."""

from __future__ import annotations

import os
from pathlib import Path


def tree_cpu_s() -> float:
    """User and system time, with that of children that have ended and were waited for."""
    parents, ticks = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name stands in brackets and may hold anything.
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        pid = int(stat.parent.name)
        parents[pid] = int(fields[1])
        ticks[pid] = sum(map(int, fields[11:15]))
    return sum(ticks[pid] for pid in parents if _is_ours(pid, parents)) / os.sysconf("SC_CLK_TCK")


def _is_ours(pid: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        if pid == os.getpid():
            return True
        pid = parents[pid]
    return False


def peak_mib(name: str) -> int:
    """The most memory that the processes of that name below this one, or this one, have had."""
    parents, peaks = {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except (FileNotFoundError, ProcessLookupError, ValueError):
            continue
        pid = int(status.parent.name)
        parents[pid] = int(fields["PPid"])
        if fields["Name"].strip().startswith(name) and "VmHWM" in fields:
            peaks[pid] = int(fields["VmHWM"].split()[0])
    return sum(peak for pid, peak in peaks.items() if _is_ours(pid, parents)) >> 10
