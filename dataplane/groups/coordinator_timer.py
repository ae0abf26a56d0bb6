"""What is due when: named deadlines that may be moved cheaply.

A heartbeat moves a deadline forward; that must cost no heap operation. So the heap may hold a time
that is too early: when it comes up, the deadline is looked up and pushed again.
"""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

K = TypeVar("K", bound=tuple[str, ...])


class CoordinatorTimer(Generic[K]):
    """Times are milliseconds of the monotonic clock."""

    def __init__(self) -> None:
        self._due_ms: dict[K, int] = {}
        self._earliest_pushed_ms: dict[K, int] = {}
        self._heap: list[tuple[int, K]] = []

    def __contains__(self, key: K) -> bool:
        return key in self._due_ms

    def __len__(self) -> int:
        return len(self._due_ms)

    def set(self, key: K, due_ms: int) -> None:
        """Set or move the deadline of `key`."""
        self._due_ms[key] = due_ms
        pushed = self._earliest_pushed_ms.get(key)
        if pushed is None or due_ms < pushed:
            self._push(key, due_ms)

    def cancel(self, key: K) -> None:
        self._due_ms.pop(key, None)

    def next_ms(self) -> int | None:
        """When to look again; may be earlier than anything is really due. None: nothing is set."""
        while self._heap and self._heap[0][1] not in self._due_ms:
            self._pop()
        return self._heap[0][0] if self._heap else None

    def expire(self, now_ms: int) -> list[K]:
        """Remove and return what is due, earliest first."""
        expired: list[tuple[int, K]] = []
        while self._heap and self._heap[0][0] <= now_ms:
            key = self._pop()
            due_ms = self._due_ms.get(key)
            if due_ms is None:
                continue
            if due_ms > now_ms:
                if key not in self._earliest_pushed_ms:
                    self._push(key, due_ms)
                continue
            del self._due_ms[key]
            expired.append((due_ms, key))
        expired.sort()
        return [key for _, key in expired]

    def _push(self, key: K, due_ms: int) -> None:
        heapq.heappush(self._heap, (due_ms, key))
        self._earliest_pushed_ms[key] = due_ms

    def _pop(self) -> K:
        pushed_ms, key = heapq.heappop(self._heap)
        if self._earliest_pushed_ms.get(key) == pushed_ms:
            del self._earliest_pushed_ms[key]
        return key
