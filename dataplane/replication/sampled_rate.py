"""A rate over sliding samples, as Kafka 3.9 measures what replication quotas bound.

Kafka's `SimpleRate` over `SampledStat`: what was recorded in the samples that are not too old,
divided by the time since the oldest of them began, but by one sample's length at least.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(slots=True)
class _Sample:
    start_ms: int
    last_ms: int
    total: int = 0

    def restart(self, now_ms: int) -> None:
        self.start_ms = self.last_ms = now_ms
        self.total = 0


class SampledRate:
    """Units per second over at most `samples` samples of `sample_ms`; times are monotonic."""

    __slots__ = ("_current", "_sample_ms", "_samples", "_samples_max")

    def __init__(self, *, samples: int, sample_ms: int) -> None:
        self._samples_max = samples
        self._sample_ms = sample_ms
        self._samples: list[_Sample] = []
        self._current = 0

    def record(self, amount: int, now_ms: int) -> None:
        if not self._samples:
            self._samples.append(_Sample(now_ms, now_ms))
        sample = self._samples[self._current]
        if now_ms - sample.start_ms >= self._sample_ms:
            sample = self._next_sample(now_ms)
        sample.total += amount
        sample.last_ms = now_ms

    def per_second(self, now_ms: int) -> float:
        self._drop_old(now_ms)
        if not self._samples:
            return 0.0
        oldest_ms = min(sample.start_ms for sample in self._samples)
        elapsed_ms = max(now_ms - oldest_ms, self._sample_ms)
        return sum(sample.total for sample in self._samples) * 1000 / elapsed_ms

    def _next_sample(self, now_ms: int) -> _Sample:
        """The ring holds one sample more, because the oldest leaves the window bit by bit."""
        self._current = (self._current + 1) % (self._samples_max + 1)
        if self._current == len(self._samples):
            self._samples.append(_Sample(now_ms, now_ms))
        else:
            self._samples[self._current].restart(now_ms)
        return self._samples[self._current]

    def _drop_old(self, now_ms: int) -> None:
        """Forget samples whose last event lies before the window."""
        age_max_ms = self._samples_max * self._sample_ms
        for sample in self._samples:
            if now_ms - sample.last_ms >= age_max_ms:
                sample.restart(now_ms)
