"""Virtual time: one queue of everything that will happen, on every simulated machine.

Nothing runs in parallel and nothing waits for real: when no handle is ready, the clock jumps to the
next timer. The order of events is a function of the seed alone.
"""

from __future__ import annotations

import heapq
from asyncio import events
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.simulation.world.loop import HostLoop

# So many steps without time moving on mean that somebody turns in a circle.
STEPS_WITHOUT_TIME_MAX = 200_000


class LivelockError(Exception):
    """Code that never waits: virtual time cannot go on."""


class Handle:
    """What `call_soon` and `call_at` give back, as asyncio wants it."""

    __slots__ = ("args", "callback", "is_cancelled", "loop", "when_s")

    def __init__(self, loop: HostLoop, when_s: float, callback: Any, args: Any) -> None:
        self.loop = loop
        self.when_s = when_s
        self.callback = callback
        self.args = args
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True
        self.callback = self.args = None

    def cancelled(self) -> bool:
        return self.is_cancelled

    def when(self) -> float:
        return self.when_s


class Scheduler:
    """Runs the handles of all loops in the order of virtual time. `now_s` starts at 1000."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.steps = 0
        self._timers: list[tuple[float, int, Handle]] = []
        self._ready: deque[Handle] = deque()
        self._counter = 0

    def soon(self, handle: Handle) -> None:
        self._ready.append(handle)

    def later(self, handle: Handle) -> None:
        self._counter += 1
        heapq.heappush(self._timers, (handle.when_s, self._counter, handle))

    def run_until(self, is_over: Callable[[], bool], deadline_s: float) -> bool:
        """Let things happen until `is_over()` or until the clock reads `deadline_s`."""
        ready, timers = self._ready, self._timers
        current: HostLoop | None = None
        idle_steps = 0
        try:
            while True:
                while ready:
                    handle = ready.popleft()
                    loop = handle.loop
                    if handle.is_cancelled or loop.is_dead:
                        continue
                    if loop.is_paused:
                        loop.held.append(handle)
                        continue
                    if loop is not current:
                        events._set_running_loop(loop)  # noqa: SLF001 - what asyncio documents for event loops
                        current = loop
                    idle_steps += 1
                    try:
                        handle.callback(*handle.args)
                    except (SystemExit, KeyboardInterrupt):
                        raise
                    except BaseException as error:  # as asyncio does: report, and go on
                        loop.call_exception_handler({"message": "callback", "exception": error})
                    if idle_steps > STEPS_WITHOUT_TIME_MAX:
                        raise LivelockError(f"{loop.name} turns in a circle: {handle.callback}")
                self.steps += idle_steps
                idle_steps = 0
                if is_over():
                    return True
                if not timers or timers[0][0] > deadline_s:
                    self.now_s = deadline_s
                    return False
                self.now_s = max(self.now_s, timers[0][0])
                while timers and timers[0][0] <= self.now_s:
                    ready.append(heapq.heappop(timers)[2])
        finally:
            events._set_running_loop(None)  # noqa: SLF001 - what asyncio documents for event loops
