"""Full disks: which logs were refused for it, and for how long by now.

A full disk heals, so a refused append is only answered KAFKA_STORAGE_ERROR. One that stays full
holds up everybody who waits for this replica: whoever can has others go on without it.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.ports.clock import Clock

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
LASTING_MS = 10_000
"""A disk that has refused for so long is not about to heal."""
QUIET_MS = 5_000
"""After so long without a refusal the next one counts as the first; followers ask once a second."""


class FullDisks:
    """Holds at most one entry a log, by the path of its directory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._refused_ms: dict[str, tuple[int, int]] = {}  # first and last

    def watcher(self, fail: Callable[[OSError], None]) -> Callable[[str, OSError], None]:
        """What a log reports its disk's errors to: those of a full disk stay here."""

        def on_error(path: str, error: OSError) -> None:
            if error.errno in DISK_FULL:
                self.note(path)
            else:
                fail(error)

        return on_error

    def note(self, path: str) -> None:
        """The log at `path` was refused just now."""
        now_ms = self._clock.monotonic_ms()
        first_ms, last_ms = self._refused_ms.get(path, (now_ms, now_ms))
        if now_ms - last_ms > QUIET_MS:
            first_ms = now_ms
        self._refused_ms[path] = first_ms, now_ms

    def lasting(self) -> set[str]:
        """The logs that have been refused for `LASTING_MS`; those that are well are forgotten."""
        now_ms = self._clock.monotonic_ms()
        for path, (_, last_ms) in list(self._refused_ms.items()):
            if now_ms - last_ms > QUIET_MS:
                del self._refused_ms[path]
        return {
            path for path, (first, last) in self._refused_ms.items() if last - first >= LASTING_MS
        }
