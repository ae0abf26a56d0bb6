"""Threads that take ticks: first due, first taken."""

import heapq


class Workers:
    def __init__(self, threads: int, tick_s: float) -> None:
        self._free_s = [0.0] * threads
        self._tick_s = tick_s
        self.busy_s = 0.0

    def takes_s(self, now_s: float) -> float:
        """For how long a tick that is due now is waited for, and taken."""
        begins_s = max(now_s, heapq.heappop(self._free_s))
        heapq.heappush(self._free_s, begins_s + self._tick_s)
        self.busy_s += self._tick_s
        return begins_s + self._tick_s - now_s
