"""Worker threads behind the `Background` port."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

_log = logging.getLogger(__name__)


class ThreadBackground:
    """A few worker threads; `done` comes back through the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, threads: int = 3) -> None:
        """Compaction takes one of the threads for as long as it likes; the others stay quick."""
        self._loop = loop
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="background")

    def submit(
        self,
        work: Callable[[], None],
        done: Callable[[BaseException | None], None] | None = None,
    ) -> None:
        self._pool.submit(self._run, work, done)

    def run_together(self, workers: Sequence[Callable[[], None]]) -> None:
        """Threads of their own: those above may all be busy."""
        if len(workers) == 1:
            workers[0]()
        elif workers:
            with ThreadPoolExecutor(len(workers), thread_name_prefix="recovery") as pool:
                for ended in [pool.submit(work) for work in workers]:
                    ended.result()

    def _run(
        self, work: Callable[[], None], done: Callable[[BaseException | None], None] | None
    ) -> None:
        error: BaseException | None = None
        try:
            work()
        except Exception as caught:  # noqa: BLE001  # the error is handed to `done`
            error = caught
            if done is None:
                _log.exception("background work failed")
        if done is not None:
            # The loop may be closed by now: the process is going down and nobody waits.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(done, error)

    def close(self) -> None:
        """Finish what was submitted and stop the threads."""
        self._pool.shutdown(wait=True)
