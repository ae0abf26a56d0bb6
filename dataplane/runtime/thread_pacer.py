"""Keeps a worker thread to a share of the time, so that the event loop has the rest.

Python threads share one interpreter lock: without pauses, long work would make every request wait.
"""

from __future__ import annotations

import time

_STEP_S_MAX = 0.05
"""A step that took longer was waiting for something else; it is not paid back in full."""
_PAUSE_S_MAX = 1.0


class ThreadPacer:
    """Pauses after each step. At full pace until a caller sets a limit."""

    def __init__(self) -> None:
        self._share = 1.0
        self._bytes_per_second = float("inf")
        self._began_s = time.perf_counter()

    def set_pace(self, *, share: float, bytes_per_second: float) -> None:
        self._share = share
        self._bytes_per_second = max(1.0, bytes_per_second)

    def spent(self, size_bytes: int) -> None:
        worked_s = min(time.perf_counter() - self._began_s, _STEP_S_MAX)
        by_share_s = worked_s * (1 / self._share - 1)
        by_rate_s = size_bytes / self._bytes_per_second - worked_s
        pause_s = min(max(by_share_s, by_rate_s), _PAUSE_S_MAX)
        if pause_s > 0:
            time.sleep(pause_s)
        self._began_s = time.perf_counter()
