"""The clocks of the machine behind the `Clock` port."""

from __future__ import annotations

import time


class OsClock:
    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def realtime_ms(self) -> int:
        return time.time_ns() // 1_000_000
