"""A hierarchical timing wheel: setting and cancelling a timer costs O(1), however many there are.

Level 0 has 20 buckets of 1 ms, every further level 20 buckets as wide as the whole level below.
A bucket of a higher level, when its time comes, spreads its timers over the levels below
(Varghese & Lauck 1987; the same shape as Kafka's). A cancelled timer leaves its bucket at once.
"""

from __future__ import annotations

import abc
import heapq
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    Bucket: TypeAlias = "dict[Timer, None]"

TICK_MS: Final = 1
BUCKETS_PER_LEVEL: Final = 20
_LEVELS: Final = 12  # 20 ** 12 ms are 130,000 years
_WIDTHS_MS: Final = [TICK_MS * BUCKETS_PER_LEVEL**level for level in range(_LEVELS)]
_SPANS_MS: Final = _WIDTHS_MS[1:]
_NOWHERE_MS: Final = -(1 << 62)


class Timer(abc.ABC):
    """Something that happens once, at its deadline, unless it is cancelled before.

    Abstract methods are looked for where a class is made, not a timer: they cost a request nothing.
    """

    __slots__ = ("_bucket", "deadline_ms")

    deadline_ms: int  # of the last `add`

    def __init__(self) -> None:
        self._bucket: Bucket | None = None

    @property
    def is_pending(self) -> bool:
        return self._bucket is not None

    def cancel(self) -> None:
        """Do not fire. The wheel forgets the timer at once."""
        bucket = self._bucket
        if bucket is not None:
            self._bucket = None
            del bucket[self]

    @abc.abstractmethod
    def fire(self) -> None:
        """The deadline has come. Not pending any more, so it may be set again."""


class Call(Timer):
    """A timer that calls a function."""

    __slots__ = ("_callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        super().__init__()
        self._callback = callback

    def fire(self) -> None:
        self._callback()


class TimingWheel:
    """Timers on a clock that only moves by `advance`; never fires early."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms
        # Buckets by (level, first millisecond); the heap orders them by when they are due.
        self._buckets: dict[tuple[int, int], Bucket] = {}
        self._due: list[tuple[int, int]] = []
        # The bucket of each level that was used last: deadlines mostly come in their order.
        self._recent_ms = [_NOWHERE_MS] * _LEVELS
        self._recent: list[Bucket] = [{} for _ in range(_LEVELS)]

    def __len__(self) -> int:
        """Timers that may still fire."""
        return sum(map(len, self._buckets.values()))

    def add(self, timer: Timer, deadline_ms: int) -> bool:
        """Fire it by the first `advance` to `deadline_ms` or later; it must not be pending.

        True when `next_due_ms` may have changed.
        """
        timer.deadline_ms = deadline_ms
        level = bisect_right(_SPANS_MS, deadline_ms - self._now_ms)
        if 0 <= deadline_ms - self._recent_ms[level] < _WIDTHS_MS[level]:
            bucket = timer._bucket = self._recent[level]  # noqa: SLF001 - a timer and its wheel are one thing
            bucket[timer] = None
            return False
        return self._place(timer, level)

    def call_at(self, deadline_ms: int, callback: Callable[[], None]) -> Timer:
        timer = Call(callback)
        self.add(timer, deadline_ms)
        return timer

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        return self.call_at(self._now_ms + delay_ms, callback)

    def next_due_ms(self) -> int | None:
        """When `advance` has something to do next; None without timers."""
        return self._due[0][0] if self._due else None

    def advance(self, now_ms: int) -> int:
        """Move the clock and fire what is due, in order of deadline. Returns how many fired.

        A clock that seems to go back is ignored. A timer set by another for now or the past fires
        in the same call.
        """
        count = 0
        while self._due and self._due[0][0] <= max(now_ms, self._now_ms):
            start_ms, level = heapq.heappop(self._due)
            self._now_ms = max(self._now_ms, start_ms)
            if self._recent_ms[level] == start_ms:
                self._recent_ms[level] = _NOWHERE_MS
            count += self._empty(self._buckets.pop((level, start_ms)))
        self._now_ms = max(self._now_ms, now_ms)
        return count

    def _empty(self, bucket: Bucket) -> int:
        """Fire what is due, in the order in which it was set; the rest goes to lower levels."""
        count = 0
        now_ms = self._now_ms
        for timer in list(bucket):
            if timer._bucket is not bucket:  # noqa: SLF001 - an earlier one has cancelled it just now
                continue
            timer._bucket = None  # noqa: SLF001 - a timer and its wheel are one thing
            if timer.deadline_ms > now_ms:
                self.add(timer, timer.deadline_ms)
            else:
                timer.fire()
                count += 1
        return count

    def _place(self, timer: Timer, level: int) -> bool:
        now_ms = self._now_ms
        deadline_ms = max(timer.deadline_ms, now_ms)
        slot = deadline_ms // _WIDTHS_MS[level]
        if slot - now_ms // _WIDTHS_MS[level] >= BUCKETS_PER_LEVEL:
            level += 1  # now lies so in its bucket that this level does not reach as far
            slot = deadline_ms // _WIDTHS_MS[level]
        # A bucket of a higher level begins after now: else a lower level would have reached it.
        start_ms = slot * _WIDTHS_MS[level]
        bucket = self._buckets.get((level, start_ms))
        is_new = bucket is None
        if bucket is None:
            bucket = self._buckets[level, start_ms] = {}
            heapq.heappush(self._due, (start_ms, level))
        self._recent_ms[level] = start_ms
        self._recent[level] = bucket
        bucket[timer] = None
        timer._bucket = bucket  # noqa: SLF001 - a timer and its wheel are one thing
        return is_new
