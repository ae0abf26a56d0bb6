"""What the core asks of other threads: slow work on files, off the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


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
