"""Background work without threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

_Work = Callable[[], None]
_Done = Callable[[BaseException | None], None]


class InlineBackground:
    """Does the work at once, or when `run_all` is called if `hold` is set."""

    def __init__(self, *, hold: bool = False) -> None:
        self.hold = hold
        self._queue: deque[tuple[_Work, _Done | None]] = deque()

    def submit(self, work: _Work, done: _Done | None = None) -> None:
        self._queue.append((work, done))
        if not self.hold:
            self.run_all()

    def run_together(self, workers: Sequence[_Work]) -> None:
        for work in workers:
            work()

    def run_all(self) -> None:
        while self._queue:
            work, done = self._queue.popleft()
            error: BaseException | None = None
            try:
                work()
            except Exception as caught:
                if done is None:
                    raise
                error = caught
            if done is not None:
                done(error)
