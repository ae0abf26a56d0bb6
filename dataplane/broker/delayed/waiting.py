"""What waits on a partition: acknowledgements for the high watermark, fetches for data.

Operations are woken at most once per step of the loop: a burst of appends in one read of a socket
answers a parked fetch with all of it, not with its first batch.
"""

from __future__ import annotations

import asyncio
import collections
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.timing.purgatory import WatchList


# An empty deque takes 760 bytes, and most partitions never have one who waits: they share this one.
_NOBODY: Final[collections.deque[tuple[int, Callable[[bool], None]]]] = collections.deque()


class OffsetWaiters:
    """Callbacks that wait for a partition's high watermark to reach their offset.

    Offsets of appends only grow, so the queue is ordered and nothing is searched. A callback gets
    True when its offset is committed, False when this broker stopped being the leader.
    """

    __slots__ = ("_queue",)

    def __init__(self) -> None:
        self._queue = _NOBODY

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, offset: int, callback: Callable[[bool], None]) -> None:
        if self._queue is _NOBODY:
            self._queue = collections.deque()
        self._queue.append((offset, callback))

    def reach(self, high_watermark: int) -> None:
        queue = self._queue
        while queue and queue[0][0] <= high_watermark:
            queue.popleft()[1](True)

    def fail(self) -> None:
        queue, self._queue = self._queue, _NOBODY
        for _offset, callback in queue:
            callback(False)


class Wakeups:
    """Checks each woken list once, at the end of the loop's present step.

    An operation that several of them hold is asked once.
    """

    def __init__(self) -> None:
        self._woken: dict[WatchList, None] = {}

    def wake(self, waiting: WatchList) -> None:
        if not self._woken:
            asyncio.get_running_loop().call_soon(self._run)
        self._woken[waiting] = None

    def _run(self) -> None:
        woken, self._woken = self._woken, {}
        for operation in {each: None for watched in woken for each in watched.waiting()}:
            if not operation.done:
                operation.try_complete()
