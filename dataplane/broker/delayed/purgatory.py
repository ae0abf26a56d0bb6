"""Where requests wait: a purgatory whose clock is the event loop's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from dataplane.timing.purgatory import Purgatory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.timing.purgatory import DelayedOperation, WatchList

_NEVER_MS: Final = 1 << 62


class DelayedOperationPurgatory(Purgatory):
    """All waiting operations of one kind. None expires early; late ones wait for a busy loop."""

    def __init__(self) -> None:
        super().__init__(0)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = _NEVER_MS

    def add(
        self, operation: DelayedOperation, timeout_ms: int, lists: Sequence[WatchList] = ()
    ) -> None:
        """Let it wait for news of its lists; after `timeout_ms` it expires."""
        loop = asyncio.get_running_loop()
        now_ms = int(loop.time() * 1000)
        if self._timer is None:
            self.advance(now_ms)  # the clock stood still while nothing waited
        # One more, because this millisecond has begun already.
        if self.watch(operation, lists, now_ms + timeout_ms + 1):
            self._set_timer(loop)

    def _set_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        """Be called when there is something to do next, if not sooner."""
        due_ms = self.next_due_ms()
        if due_ms is None or due_ms >= self._timer_ms:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = due_ms
        self._timer = loop.call_at(due_ms / 1000, self._run)

    def _run(self) -> None:
        loop = asyncio.get_running_loop()
        # What we were called for is due, even where 1.005 s are 1004.9999 ms.
        now_ms = max(self._timer_ms, int(loop.time() * 1000))
        self._timer, self._timer_ms = None, _NEVER_MS
        self.advance(now_ms)
        self._set_timer(loop)
