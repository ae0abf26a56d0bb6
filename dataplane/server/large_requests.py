"""How many large requests a user may send: work on one of several megabytes takes the loop seconds.

Kafka has several threads for requests, and a client that keeps them all busy is stopped by a quota
of request time, if it has one. Here everybody waits meanwhile, so each user has a bound: a large
request uses up time by its size, whatever connection it comes over, and the next one is not looked
at before that is over. Produce is cheap for its size and is not bounded; nor are brokers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LARGE_FROM_BYTES: Final = 64 * 1024
"""Smaller ones take less than 50 ms."""
BYTES_PER_S: Final = 1024 * 1024
"""Of a user's large requests. The worst take half a second for so much."""
USERS_MAX: Final = 10_000
"""Users remembered, for as long as what they have used up lasts. More share one entry."""
_OTHERS: Final = ""


class LargeRequests:
    """When each user's next large request may be worked on."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._free_at_s: dict[str, float] = {}

    def wait_ms(self, user: str, size: int) -> int:
        """0: it may be worked on now, and has used up its time. Else it is to be asked again then.

        The first is never put off, however large it is.
        """
        now_s = self._now_s()
        key = user if user in self._free_at_s or self._has_space(now_s) else _OTHERS
        wait_s = self._free_at_s.get(key, now_s) - now_s
        if wait_s > 0:
            return max(1, round(wait_s * 1_000))
        self._free_at_s[key] = now_s + size / BYTES_PER_S
        return 0

    def _has_space(self, now_s: float) -> bool:
        if len(self._free_at_s) >= USERS_MAX:
            self._free_at_s = {
                user: free_at_s for user, free_at_s in self._free_at_s.items() if free_at_s > now_s
            }
        return len(self._free_at_s) < USERS_MAX
