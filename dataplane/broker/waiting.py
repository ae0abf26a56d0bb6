"""What waits on a partition: acknowledgements for the high watermark, fetches for data.

Waiters are woken at most once per step of the loop: a burst of appends in one read of a socket
answers a parked fetch with all of it, not with its first batch.
"""

from __future__ import annotations

import asyncio
import collections
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class OffsetWaiters:
    """Callbacks that wait for a partition's high watermark to reach their offset.

    Offsets of appends only grow, so the queue is ordered and nothing is searched. A callback gets
    True when its offset is committed, False when this broker stopped being the leader.
    """

    __slots__ = ("_queue",)

    def __init__(self) -> None:
        self._queue: collections.deque[tuple[int, Callable[[bool], None]]] = collections.deque()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, offset: int, callback: Callable[[bool], None]) -> None:
        self._queue.append((offset, callback))

    def reach(self, high_watermark: int) -> None:
        queue = self._queue
        while queue and queue[0][0] <= high_watermark:
            queue.popleft()[1](True)

    def fail(self) -> None:
        queue, self._queue = self._queue, collections.deque()
        for _offset, callback in queue:
            callback(False)


class Wakeups:
    """Runs each woken callback once, at the end of the loop's present step."""

    def __init__(self) -> None:
        self._woken: dict[Callable[[], None], None] = {}
        self._scheduled = False

    def wake(self, callback: Callable[[], None]) -> None:
        self._woken[callback] = None
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        self._scheduled = False
        woken, self._woken = self._woken, {}
        for callback in woken:
            callback()
