"""Operations that wait for a condition or a deadline, and complete exactly once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from dataplane.timing.wheel import TimingWheel

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from dataplane.timing.wheel import Timer

Key = TypeVar("Key", bound="Hashable")

PURGE_AFTER_COMPLETED = 1_000


class DelayedOperation(Protocol):
    """Something that may have to wait."""

    def is_satisfied(self) -> bool:
        """Whether it can complete now. Has no effect, and may be asked often."""
        ...

    def complete(self) -> None:
        """The condition holds. Called at most once, and never after `expire`."""
        ...

    def expire(self) -> None:
        """The deadline passed first. Called at most once, and never after `complete`."""
        ...


class _Waiting:
    __slots__ = ("is_done", "operation", "timer")

    def __init__(self, operation: DelayedOperation) -> None:
        self.operation = operation
        self.timer: Timer | None = None
        self.is_done = False

    def try_complete(self) -> bool:
        if self.is_done or not self.operation.is_satisfied():
            return False
        self.is_done = True
        if self.timer is not None:
            self.timer.cancel()
        self.operation.complete()
        return True

    def expire(self) -> None:
        if not self.is_done:
            self.is_done = True
            self.operation.expire()


class Purgatory(Generic[Key]):
    """Waiting operations, found by the keys of what they wait for."""

    def __init__(self, now_ms: int) -> None:
        self._wheel = TimingWheel(now_ms)
        self._watchers: dict[Key, list[_Waiting]] = {}
        self._done_but_listed = 0

    def __len__(self) -> int:
        """Operations that still wait."""
        return len({id(w) for ws in self._watchers.values() for w in ws if not w.is_done})

    def try_complete_else_watch(
        self, operation: DelayedOperation, keys: Iterable[Key], deadline_ms: int
    ) -> bool:
        """Complete now if possible; else watch `keys` until `deadline_ms`. True if completed."""
        waiting = _Waiting(operation)
        if waiting.try_complete():
            return True
        for key in set(keys):
            self._watchers.setdefault(key, []).append(waiting)
        waiting.timer = self._wheel.call_at(deadline_ms, waiting.expire)
        return False

    def check(self, key: Key) -> int:
        """Something about `key` has changed. Returns how many operations completed."""
        watching = self._watchers.get(key)
        if watching is None:
            return 0
        count = 0
        # Completing may register new operations under this key: those wait for the next check.
        for waiting in list(watching):
            count += waiting.try_complete()
        left = [waiting for waiting in self._watchers.get(key, ()) if not waiting.is_done]
        if left:
            self._watchers[key] = left
        else:
            self._watchers.pop(key, None)
        self._done_but_listed += count
        if self._done_but_listed > PURGE_AFTER_COMPLETED:
            self._purge()
        return count

    def cancel_key(self, key: Key) -> int:
        """Expire everything that waits for `key` (its partition has gone). Returns how many."""
        count = 0
        for waiting in self._watchers.pop(key, []):
            if not waiting.is_done:
                if waiting.timer is not None:
                    waiting.timer.cancel()
                waiting.expire()
                count += 1
        return count

    def advance(self, now_ms: int) -> int:
        """Expire what is due. Returns how many operations expired."""
        expired = self._wheel.advance(now_ms)
        self._done_but_listed += expired
        if self._done_but_listed > PURGE_AFTER_COMPLETED:
            self._purge()
        return expired

    def next_due_ms(self) -> int | None:
        """When `advance` has something to do next."""
        return self._wheel.next_due_ms()

    def _purge(self) -> None:
        """Drop operations that are done but still listed under other keys."""
        for key, watching in list(self._watchers.items()):
            left = [waiting for waiting in watching if not waiting.is_done]
            if left:
                self._watchers[key] = left
            else:
                del self._watchers[key]
        self._done_but_listed = 0
