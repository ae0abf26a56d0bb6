"""What Linux says of a process: CPU seconds, resident memory."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20


def cpu_s(pids: Iterable[int]) -> float:
    """User and system time of all threads of these processes."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS_PER_S


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise ProcessLookupError(pid)


def resident_mib(pid: int) -> float:
    return resident_kib(pid) / 1024


class PeakMemory:
    """The highest resident memory of each process while the block runs, sampled."""

    INTERVAL_S = 0.1

    def __init__(self, pids: Iterable[int]) -> None:
        self.peaks_mib = dict.fromkeys(pids, 0.0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stop.wait(self.INTERVAL_S):
            for pid, peak in self.peaks_mib.items():
                self.peaks_mib[pid] = max(peak, resident_mib(pid))
