"""A value that arrives later, without a task: what a waiting Produce or Fetch hands back.

Cheaper than an `asyncio.Future` (no hop through the loop) and with one listener only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Deferred(Generic[T]):
    """Completes exactly once; a second completion is ignored, as in a purgatory.

    `pipelined` is the key of the API whose requests behind this one may be worked
    on already, None if none may; their answers still leave in order.
    """

    __slots__ = ("_listener", "done", "on_abandoned", "pipelined", "value")

    def __init__(self, *, pipelined: int | None = None) -> None:
        self.done = False
        self.pipelined = pipelined
        self.value: T | None = None
        self._listener: Callable[[T], None] | None = None
        self.on_abandoned: Callable[[], None] | None = None

    def abandon(self) -> None:
        """Nobody wants the value any more: whoever works on it may stop."""
        if not self.done:
            self.done = True
            self._listener = None
            if self.on_abandoned is not None:
                self.on_abandoned()

    def complete(self, value: T) -> None:
        if self.done:
            return
        self.done = True
        self.value = value
        listener, self._listener = self._listener, None
        if listener is not None:
            listener(value)

    def when_done(self, listener: Callable[[T], None]) -> None:
        """Call `listener` with the value, at once when it is there already."""
        if self.done:
            listener(self.value)  # type: ignore[arg-type]  # done means that the value is set
        else:
            self._listener = listener
