"""A thread pool of which nobody holds more than a share; the rest waits in its owner's queue."""

import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from controlplane.common.metrics import PARTS_REFUSED
from controlplane.common.problems import Unavailable

WAITING_MAX = 64
"""Calls of one owner that wait for its share."""

Job = tuple[Future[Any], Callable[[], Any]]


class FairPool:
    """Thread-safe. `share` says how many threads one owner may hold now."""

    def __init__(self, pool: Executor, share: Callable[[], int]) -> None:
        self._pool = pool
        self._share = share
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[Job]] = {}

    def submit(self, owner: str, call: Callable[[], Any]) -> Future[Any]:
        """Run `call` when one of the owner's threads is free.

        Raises:
            Unavailable: so many calls of the owner wait that none more may.
        """
        with self._lock:
            if self._running[owner] >= self._share():
                return self._wait(owner, call)
            self._running[owner] += 1
        return self._pool.submit(self._run, owner, call)

    def _wait(self, owner: str, call: Callable[[], Any]) -> Future[Any]:
        waiting = self._waiting.setdefault(owner, deque())
        if len(waiting) >= WAITING_MAX:
            PARTS_REFUSED.inc()
            raise Unavailable("Too many parts of pages wait.", code="too-busy")
        promised: Future[Any] = Future()
        waiting.append((promised, call))
        return promised

    def _run(self, owner: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        finally:
            self._next(owner)

    def _next(self, owner: str) -> None:
        """The thread that is free goes to the owner's oldest call, or back to everybody."""
        with self._lock:
            waiting = self._waiting.get(owner)
            if not waiting:
                self._waiting.pop(owner, None)
                self._running[owner] -= 1
                if not self._running[owner]:
                    del self._running[owner]
                return
            promised, call = waiting.popleft()
        self._pool.submit(self._run, owner, lambda: _keep_promise(promised, call))


def _keep_promise(promised: Future[Any], call: Callable[[], Any]) -> None:
    if not promised.set_running_or_notify_cancel():
        return
    try:
        promised.set_result(call())
    except Exception as error:  # noqa: BLE001 - it is the answer of whoever asked
        promised.set_exception(error)
