"""Virtual time: what happens next happens now. Nothing waits, and the same events come in the same
order.
"""

import heapq
from collections.abc import Callable
from itertools import count

Action = Callable[[], None]


class Events:
    """Actions by their time in seconds; of one time, in the order in which they were asked for."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._queue: list[tuple[float, int, Action]] = []
        self._numbers = count()

    def after(self, seconds: float, action: Action) -> None:
        heapq.heappush(self._queue, (self.now_s + max(seconds, 0.0), next(self._numbers), action))

    def run(self, until_s: float) -> None:
        """Everything up to `until_s`; then it is that time."""
        while self._queue and self._queue[0][0] <= until_s:
            at_s, _, action = heapq.heappop(self._queue)
            self.now_s = at_s
            action()
        self.now_s = until_s
