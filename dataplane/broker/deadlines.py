"""Timeouts of waiting requests: cheap to set, free to complete, coarse to fire.

Requests with the same timeout come due in the order in which they came, so each timeout has a
queue of its own and nothing is sorted. What has completed is dropped when it reaches the head.
"""

from __future__ import annotations

import asyncio
import collections
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

# Distinct timeouts kept in queues of their own; odd ones beyond that use a timer each.
QUEUES_MAX = 256
RESOLUTION_S = 0.005
# Completed operations may wait in a queue behind an open one up to this number, or to as many as
# are open, whichever is more: long timeouts must not keep every answered request in memory.
PURGE_FROM = 1024


class Expiring(Protocol):
    """Something with a deadline that completes at most once."""

    done: bool

    def expire(self) -> None: ...


class Deadlines:
    """All timeouts of one kind of operation."""

    def __init__(self) -> None:
        self._queues: dict[int, collections.deque[tuple[float, Expiring]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._purge_at: dict[int, int] = {}

    def add(self, operation: Expiring, timeout_ms: int) -> None:
        """Call `operation.expire()` after `timeout_ms`, unless it is `done` by then."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + timeout_ms / 1000
        queue = self._queues.get(timeout_ms)
        if queue is None:
            if len(self._queues) >= QUEUES_MAX:
                loop.call_at(deadline_s, _expire, operation)
                return
            queue = self._queues[timeout_ms] = collections.deque()
        while queue and queue[0][1].done:
            queue.popleft()
        queue.append((deadline_s, operation))
        if len(queue) >= self._purge_at.get(timeout_ms, PURGE_FROM):
            self._purge(timeout_ms)
        timer = self._timer
        if timer is None or timer.when() > deadline_s + RESOLUTION_S:
            if timer is not None:
                timer.cancel()
            self._timer = loop.call_at(deadline_s, self._run)

    @property
    def held(self) -> int:
        """Operations in memory here, completed ones included."""
        return sum(map(len, self._queues.values()))

    def _purge(self, timeout_ms: int) -> None:
        """Drop what is completed anywhere in a queue."""
        kept = collections.deque(each for each in self._queues[timeout_ms] if not each[1].done)
        self._queues[timeout_ms] = kept
        self._purge_at[timeout_ms] = max(PURGE_FROM, 2 * len(kept))

    def _run(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        now_s = loop.time() + RESOLUTION_S
        for timeout_ms in list(self._queues):
            queue = self._queues[timeout_ms]
            while queue and (queue[0][1].done or queue[0][0] <= now_s):
                _expire(queue.popleft()[1])
            if not queue:
                del self._queues[timeout_ms]
                self._purge_at.pop(timeout_ms, None)
        next_s = min(self._heads(), default=None)
        if next_s is not None:
            self._timer = loop.call_at(next_s, self._run)

    def _heads(self) -> Iterable[float]:
        return (queue[0][0] for queue in self._queues.values())


def _expire(operation: Expiring) -> None:
    if not operation.done:
        operation.expire()
