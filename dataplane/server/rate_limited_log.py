"""Says what strangers do wrong, but lets nobody fill the log with it.

One WARNING an address in INTERVAL_S; the next one says how many were held back meanwhile. The
counters of `Metrics` count every one. Addresses beyond HOSTS_MAX share one entry.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable

INTERVAL_S: Final = 10.0
HOSTS_MAX: Final = 1_000
OTHERS: Final = "many addresses"


class RateLimitedLog:
    """For the connections of one listener, or the requests of one broker."""

    def __init__(self, logger: logging.Logger, now_s: Callable[[], float] = time.monotonic) -> None:
        self._logger = logger
        self._now_s = now_s
        self._entries: dict[str, tuple[float, int]] = {}  # when, and how many were held back since

    @property
    def host_count(self) -> int:
        return len(self._entries)

    def warn(self, host: str, message: str, *parts: object) -> None:
        """`message` is filled with `parts` by `%`, as the logger does, if it is said at all."""
        now_s = self._now_s()
        key = host if host in self._entries or self._has_space(now_s) else OTHERS
        said_s, held_back = self._entries.get(key, (now_s - INTERVAL_S, 0))
        if now_s - said_s < INTERVAL_S:
            self._entries[key] = (said_s, held_back + 1)
            return
        self._entries[key] = (now_s, 0)
        if held_back:
            message += "; %d more from %s"
            self._logger.warning(message, *parts, held_back, key)
        else:
            self._logger.warning(message, *parts)

    def _has_space(self, now_s: float) -> bool:
        """Whether another address can be remembered, after forgetting those that are quiet."""
        if len(self._entries) < HOSTS_MAX:
            return True
        self._entries = {
            host: (said_s, held_back)
            for host, (said_s, held_back) in self._entries.items()
            if now_s - said_s < INTERVAL_S
        }
        return len(self._entries) < HOSTS_MAX
