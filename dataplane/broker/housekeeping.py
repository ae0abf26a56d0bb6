"""What a broker does by the clock: checkpoints, retention, ISR checks, idle connections."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)


class Housekeeping:
    """A few periodic chores; one that fails is logged and runs again in its turn."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def every(self, interval_ms: int, name: str, chore: Callable[[], object]) -> None:
        """Run `chore` on the loop every `interval_ms`, for the first time after one interval."""
        self._tasks.append(
            asyncio.get_running_loop().create_task(
                self._run(max(1, interval_ms) / 1000, name, chore), name=name
            )
        )

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, interval_s: float, name: str, chore: Callable[[], object]) -> None:
        while True:
            await asyncio.sleep(interval_s)
            try:
                chore()
            except Exception:  # noqa: BLE001 - the chore is tried again in its turn
                _log.exception("%s failed", name)
