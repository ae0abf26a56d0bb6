"""A bucket of tokens, as Kafka bounds what the controller does for a client (KIP-599).

A large request may overdraw it once; then nothing is accepted until it is refilled. So a burst
costs as much waiting as it should, where a rate over samples would count it until it is forgotten.
"""

from __future__ import annotations


class TokenBucket:
    """Full at first. `rate` is tokens per second; it holds `burst_s` seconds' worth of them."""

    __slots__ = ("_burst_s", "_tokens", "_updated_ms")

    def __init__(self, *, burst_s: float) -> None:
        self._burst_s = burst_s
        self._tokens: float | None = None  # full, however much that is
        self._updated_ms = 0

    def tokens(self, rate: float, now_ms: int) -> float:
        """What is there, below 0 when it is overdrawn."""
        burst = rate * self._burst_s
        if self._tokens is None:
            self._tokens = burst
        else:
            elapsed_s = max(0, now_ms - self._updated_ms) / 1000
            self._tokens = min(burst, self._tokens + rate * elapsed_s)
        self._updated_ms = now_ms
        return self._tokens

    def take(self, amount: float, rate: float, now_ms: int) -> None:
        self._tokens = self.tokens(rate, now_ms) - amount

    def throttle_ms(self, rate: float, now_ms: int) -> int:
        """How long until it is not overdrawn any more; 0 when it is not."""
        tokens = self.tokens(rate, now_ms)
        return 0 if tokens >= 0 else max(1, round(-tokens / rate * 1000))
