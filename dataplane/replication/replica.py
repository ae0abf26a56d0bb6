"""What a leader knows of one follower."""

from __future__ import annotations

import dataclasses

UNKNOWN_OFFSET = -1
NEVER_MS = -(1 << 60)


class SessionClock:
    """When a follower asked last in its fetch session, monotonic milliseconds."""

    __slots__ = ("ms",)

    def __init__(self, now_ms: int) -> None:
        self.ms = now_ms


@dataclasses.dataclass(slots=True)
class Replica:
    """A follower as its fetches show it; times are monotonic milliseconds.

    Its fetch offset is its acknowledgement: everything before it is in its log. While it is
    idle it is caught up, and each request of its session is a fetch from where it is.
    """

    broker_id: int
    log_end_offset: int = UNKNOWN_OFFSET
    _caught_up_ms: int = NEVER_MS
    _last_fetch_ms: int = NEVER_MS
    _leader_end_at_last_fetch: int = UNKNOWN_OFFSET
    _clock: SessionClock | None = None

    @property
    def last_caught_up_ms(self) -> int:
        """When it was caught up with the leader last."""
        clock = self._clock
        return self._caught_up_ms if clock is None else max(self._caught_up_ms, clock.ms)

    def become_idle(self, clock: SessionClock) -> None:
        """It is caught up: until `wake` the requests of its session stand for its fetches."""
        self._clock = clock

    def wake(self) -> None:
        """Something is about to happen, or has just: from now on its fetches count again."""
        clock = self._clock
        if clock is not None:
            self._clock = None
            self._caught_up_ms = max(self._caught_up_ms, clock.ms)
            self._last_fetch_ms = max(self._last_fetch_ms, clock.ms)

    def reset(self, *, is_in_sync: bool, now_ms: int) -> None:
        """The leadership is new: an ISR member starts with a full period of grace."""
        self.log_end_offset = UNKNOWN_OFFSET
        self._caught_up_ms = now_ms if is_in_sync else NEVER_MS
        self._last_fetch_ms = NEVER_MS
        self._leader_end_at_last_fetch = UNKNOWN_OFFSET
        self._clock = None

    def on_fetch(self, fetch_offset: int, leader_end_offset: int, now_ms: int) -> None:
        """A fetch arrived. A follower that reads what the leader had one fetch ago keeps up."""
        if fetch_offset >= leader_end_offset:
            self._caught_up_ms = max(self._caught_up_ms, now_ms)
        elif self._leader_end_at_last_fetch != UNKNOWN_OFFSET and (
            fetch_offset >= self._leader_end_at_last_fetch
        ):
            self._caught_up_ms = max(self._caught_up_ms, self._last_fetch_ms)
        self.log_end_offset = fetch_offset
        self._last_fetch_ms = now_ms
        self._leader_end_at_last_fetch = leader_end_offset

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_max_ms: int) -> bool:
        return (
            self.log_end_offset == leader_end_offset
            or now_ms - self.last_caught_up_ms <= lag_max_ms
        )
