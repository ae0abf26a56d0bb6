"""What the core asks of other threads: slow work on files, off the event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol


class Pacer(Protocol):
    """Holds long work back, so that it leaves time for what is urgent."""

    def spent(self, size_bytes: int) -> None:
        """A step over so many bytes is done. Called by the worker; may sleep."""
        ...

    def set_pace(self, *, share: float, bytes_per_second: float) -> None:
        """Work for `share` of the time (0 to 1) and through so many bytes a second at most."""
        ...


class Background(Protocol):
    """Runs work that may block (fsync, unlink).

    `work` must touch nothing that the event loop also touches, except open files. `done` runs
    later on the event loop with the error, or None.
    """

    def submit(
        self,
        work: Callable[[], None],
        done: Callable[[BaseException | None], None] | None = None,
    ) -> None: ...

    def run_together(self, workers: Sequence[Callable[[], None]]) -> None:
        """Run all of them at the same time, each in a thread of its own; return when all ended.

        For a start that nothing else waits for: it blocks the caller. The first error of the
        first worker that had one is raised then. Where there are no threads, one after another.
        """
        ...
