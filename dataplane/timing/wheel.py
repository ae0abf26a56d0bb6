"""A hierarchical timing wheel: setting and cancelling a timer costs O(1), however many there are.

Level 0 has 20 buckets of 1 ms, every further level 20 buckets as wide as the whole level below.
A bucket of a higher level, when its time comes, spreads its timers over the levels below
(Varghese & Lauck 1987; the same shape as Kafka's).
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TICK_MS = 1
BUCKETS_PER_LEVEL = 20


class Timer:
    """A callback that runs once, unless it is cancelled before."""

    __slots__ = ("_callback", "deadline_ms")

    def __init__(self, deadline_ms: int, callback: Callable[[], None]) -> None:
        self.deadline_ms = deadline_ms
        self._callback: Callable[[], None] | None = callback

    @property
    def is_pending(self) -> bool:
        return self._callback is not None

    def cancel(self) -> None:
        """Do not run. What the callback held is released at once."""
        self._callback = None

    def fire(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class TimingWheel:
    """Timers on a clock that only moves by `advance`; never fires early."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._widths_ms = [TICK_MS]
        # Buckets by (level, first millisecond); the heap orders them by when they are due.
        self._buckets: dict[tuple[int, int], list[Timer]] = {}
        self._due: list[tuple[int, int]] = []

    def __len__(self) -> int:
        """Timers that may still fire."""
        return sum(timer.is_pending for bucket in self._buckets.values() for timer in bucket)

    def call_at(self, deadline_ms: int, callback: Callable[[], None]) -> Timer:
        """Run `callback` by the first `advance` to `deadline_ms` or later."""
        timer = Timer(deadline_ms, callback)
        self._place(timer)
        return timer

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        return self.call_at(self._now_ms + delay_ms, callback)

    def next_due_ms(self) -> int | None:
        """When `advance` has something to do next; None without timers."""
        return self._due[0][0] if self._due else None

    def advance(self, now_ms: int) -> int:
        """Move the clock and run what is due, in order of deadline. Returns how many ran.

        A clock that seems to go back is ignored. A timer set by a callback for now or the past
        runs in the same call.
        """
        count = 0
        while self._due and self._due[0][0] <= max(now_ms, self._now_ms):
            start_ms, level = heapq.heappop(self._due)
            bucket = self._buckets.pop((level, start_ms))
            self._now_ms = max(self._now_ms, start_ms)
            for timer in bucket:
                if not timer.is_pending:
                    continue
                if level == 0 or timer.deadline_ms <= self._now_ms:
                    timer.fire()
                    count += 1
                else:
                    self._place(timer)
        self._now_ms = max(self._now_ms, now_ms)
        return count

    def _place(self, timer: Timer) -> None:
        deadline_ms = max(timer.deadline_ms, self._now_ms)
        level = 0
        while True:
            width_ms = self._width_ms(level)
            slot = deadline_ms // width_ms
            if slot - self._now_ms // width_ms < BUCKETS_PER_LEVEL:
                break
            level += 1
        # On a higher level the bucket begins after now: else a lower level would have had room.
        key = (level, slot * width_ms)
        bucket = self._buckets.get(key)
        if bucket is None:
            self._buckets[key] = [timer]
            heapq.heappush(self._due, (key[1], level))
        else:
            bucket.append(timer)

    def _width_ms(self, level: int) -> int:
        while len(self._widths_ms) <= level:
            self._widths_ms.append(self._widths_ms[-1] * BUCKETS_PER_LEVEL)
        return self._widths_ms[level]
