"""Deleted segments wait here until readers are done with their descriptors."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.log.segment.log_segment import LogSegment
    from dataplane.ports.background import Background
    from dataplane.ports.clock import Clock


class SegmentsPendingDeletion:
    """Files renamed `.deleted`, to be unlinked after `file.delete.delay.ms`."""

    __slots__ = ("_background", "_clock", "_waiting")

    def __init__(self, clock: Clock, background: Background) -> None:
        self._clock = clock
        self._background = background
        # None before the first: an empty deque takes 760 bytes, and most logs delete no segment.
        self._waiting: deque[tuple[int, LogSegment]] | None = None

    def add(self, segments: list[LogSegment], delay_ms: int) -> None:
        due_ms = self._clock.monotonic_ms() + delay_ms
        if self._waiting is None:
            self._waiting = deque()
        for segment in segments:
            segment.mark_deleted()
            self._waiting.append((due_ms, segment))

    def relocate(self, directory: str) -> None:
        """The files lie in another directory now."""
        for _due_ms, segment in self._waiting or ():
            segment.relocate(directory)

    def purge(self) -> None:
        """Unlink what has waited long enough, off the event loop."""
        now_ms = self._clock.monotonic_ms()
        while self._waiting and self._waiting[0][0] <= now_ms:
            segment = self._waiting.popleft()[1]
            self._background.submit(segment.remove_marked)

    def release(self) -> None:
        """The log is closed: give the descriptors back; the next start sweeps the files."""
        while self._waiting:
            self._waiting.popleft()[1].release()
