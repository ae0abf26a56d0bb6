"""A clock that moves only when a test advances it."""

from __future__ import annotations


class FakeClock:
    def __init__(self, *, monotonic_ms: int = 1_000, realtime_ms: int = 1_700_000_000_000) -> None:
        self._monotonic_ms = monotonic_ms
        self._realtime_ms = realtime_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def realtime_ms(self) -> int:
        return self._realtime_ms

    def advance(self, ms: int) -> None:
        """Let time pass on both clocks."""
        if ms < 0:
            raise ValueError(f"time does not run backwards: {ms} ms")
        self._monotonic_ms += ms
        self._realtime_ms += ms
