"""Directories renamed `-delete`, to be removed when nobody reads from them any more."""

from __future__ import annotations

import functools
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.log.partition_log import PartitionLog
    from dataplane.ports.background import Background
    from dataplane.ports.clock import Clock
    from dataplane.ports.filesystem import FileSystem


class DirectoriesPendingDeletion:
    """In the order of their deletion."""

    def __init__(self, fs: FileSystem, clock: Clock, background: Background) -> None:
        self._fs = fs
        self._clock = clock
        self._background = background
        self._waiting: deque[tuple[int, str, PartitionLog | None]] = deque()

    def add(self, path: str, log: PartitionLog | None = None, *, delay_ms: int = 0) -> None:
        """`log` is the object that still holds descriptors of files there."""
        self._waiting.append((self._clock.monotonic_ms() + delay_ms, path, log))

    def purge(self) -> None:
        """Remove what has waited long enough, off the event loop."""
        now_ms = self._clock.monotonic_ms()
        while self._waiting and self._waiting[0][0] <= now_ms:
            _, path, log = self._waiting.popleft()
            if log is not None:
                log.release()
            self._background.submit(functools.partial(self._fs.remove, path))

    def release(self) -> None:
        """The broker stops: descriptors are given back, the next start removes the rest."""
        for _, _, log in self._waiting:
            if log is not None:
                log.release()
        self._waiting.clear()
