"""Operations that wait for a condition or a deadline, and end exactly once.

An operation is its own timer, so that waiting costs no further object. It watches lists, one for
each thing whose news may complete it (Kafka's watch lists by key: here the key owns its list). The
lists are checked when there is news; the operation then says whether it can complete.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from dataplane.timing.wheel import Timer, TimingWheel

if TYPE_CHECKING:
    from collections.abc import Sequence


class DelayedOperation(Timer):
    """Something that may have to wait. Whatever ends it calls `end` first, and goes on if True."""

    __slots__ = ("_lists", "done")

    def __init__(self) -> None:
        # Not by way of `Timer.__init__`: one call less for every request that waits.
        self._bucket = None
        self.done = False
        self._lists: Sequence[WatchList] = ()

    @abc.abstractmethod
    def try_complete(self) -> None:
        """There is news: complete now if that is possible. May be called often."""

    @abc.abstractmethod
    def expire(self) -> None:
        """The deadline came first. Called at most once, when everything is ended already."""

    def end(self) -> bool:
        """Wait no more. True exactly once: whoever gets it has to answer."""
        if self.done:
            return False
        self.done = True
        if self._bucket is not None:
            self.cancel()
        if self._lists:
            lists, self._lists = self._lists, ()
            for each in lists:
                each.discard(self)
        return True

    def watch(self, lists: Sequence[WatchList]) -> None:
        self._lists = lists
        for each in lists:
            each.add(self)

    def watch_too(self, lists: Sequence[WatchList]) -> None:
        """More lists, while it waits; nothing once it has ended."""
        if self.done:
            return
        self._lists = [*self._lists, *lists]
        for each in lists:
            each.add(self)

    def fire(self) -> None:
        if self.end():
            self.expire()


class WatchList(dict["DelayedOperation", None]):
    """The operations that wait for news of one thing, in the order in which they came.

    A dict that is itself and equal to nothing else: whether anybody waits is asked at every append,
    and must not cost a call.
    """

    __slots__ = ()
    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has none; this one is an identity
    __eq__ = object.__eq__

    def waiting(self) -> list[DelayedOperation]:
        """Those that wait now; they may end, and others come, meanwhile."""
        return list(self)

    def add(self, operation: DelayedOperation) -> None:
        self[operation] = None

    def discard(self, operation: DelayedOperation) -> None:
        self.pop(operation, None)

    def check(self) -> None:
        """There is news: every operation that waited before this call may complete."""
        for operation in self.waiting():
            if not operation.done:
                operation.try_complete()


class Purgatory:
    """Where operations of one kind wait, on a clock that only moves by `advance`."""

    def __init__(self, now_ms: int) -> None:
        self._wheel = TimingWheel(now_ms)
        self.expired = 0

    def __len__(self) -> int:
        """Operations that still wait."""
        return len(self._wheel)

    def watch(
        self, operation: DelayedOperation, lists: Sequence[WatchList], deadline_ms: int
    ) -> bool:
        """Let it wait until a list's news completes it, or the deadline passes.

        Ask it first whether it can complete at once. True when `next_due_ms` may have changed.
        """
        if lists:
            operation.watch(lists)
        return self._wheel.add(operation, deadline_ms)

    def advance(self, now_ms: int) -> int:
        """Expire what is due. Returns how many operations expired."""
        expired = self._wheel.advance(now_ms)
        self.expired += expired
        return expired

    def next_due_ms(self) -> int | None:
        """When `advance` has something to do next."""
        return self._wheel.next_due_ms()
