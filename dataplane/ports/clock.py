"""What the core asks of time."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Two clocks: `monotonic_ms` for waiting and measuring, `realtime_ms` for what is stored.

    Not in this contract: sleeping and timers. The core says when something is due; the shell
    calls it again.
    """

    def monotonic_ms(self) -> int:
        """Milliseconds from an arbitrary start; never goes back."""
        ...

    def realtime_ms(self) -> int:
        """Milliseconds since the Unix epoch; may step either way."""
        ...
