"""A rate over sliding samples as Kafka 3.9 measures what client quotas bound.

Kafka's `Rate` over `SampledStat`: unlike the rate of replication quotas it counts the samples that
are not there yet as empty ones, so that the first second of a client is not taken for its rate.
"""

from __future__ import annotations

from collections import deque


class RateWindow:
    """Units per second over `samples` samples of `sample_ms`; times are monotonic, in ms."""

    __slots__ = ("_parts", "_samples", "sample_ms")

    def __init__(self, *, samples: int, sample_ms: int) -> None:
        self._samples = samples
        self.sample_ms = sample_ms
        # Start, last event, amount; begun when something is recorded a sample's length after the
        # start of the one before, so there are never more than `samples` and two.
        self._parts: deque[list[float]] = deque()

    def record(self, amount: float, now_ms: int) -> None:
        """An amount below 0 takes back what was recorded."""
        parts = self._parts
        if not parts or now_ms - parts[-1][0] >= self.sample_ms:
            self._drop_old(now_ms)
            parts.append([now_ms, now_ms, 0.0])
        parts[-1][1] = now_ms
        parts[-1][2] += amount

    def measure(self, now_ms: int) -> tuple[float, int]:
        """Units per second, and over how many ms."""
        self._drop_old(now_ms)
        parts = self._parts
        elapsed_ms = now_ms - int(parts[0][0]) if parts else 0
        missing = self._samples - 1 - elapsed_ms // self.sample_ms
        if missing > 0:
            elapsed_ms += missing * self.sample_ms
        window_ms = elapsed_ms or self.sample_ms
        return sum(part[2] for part in parts) * 1000 / window_ms, window_ms

    def throttle_ms(self, bound: float, now_ms: int) -> int:
        """How long to wait until the rate is down to `bound`, if nothing else is recorded; 0 when
        it is not above. From rate * window / (window + wait) = bound.
        """
        rate, window_ms = self.measure(now_ms)
        if rate <= bound:
            return 0
        return round((rate - bound) / bound * window_ms)

    def _drop_old(self, now_ms: int) -> None:
        """Forget samples whose last event lies before the window."""
        age_max_ms = self._samples * self.sample_ms
        parts = self._parts
        while parts and now_ms - parts[0][1] >= age_max_ms:
            parts.popleft()
