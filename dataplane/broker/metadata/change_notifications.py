"""Sequential change nodes in ZooKeeper: how brokers notify each other of what to read again."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.ports.coordinator import ConnectionLossError, CoordinatorError, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator, Watch

_log = logging.getLogger(__name__)

ANNOUNCE_ATTEMPTS: Final = 20
KEPT_MS: Final = 15 * 60_000
"""Change nodes older than this are removed by whoever sees them, as in Kafka."""


async def announce(coordinator: Coordinator, prefix: str, data: bytes) -> None:
    """Create a change node. Tried again when its fate is unknown: a second one is harmless, a lost
    one may be a revocation that others miss. CoordinatorError.
    """
    for attempt in range(ANNOUNCE_ATTEMPTS):
        try:
            await coordinator.create(prefix, data, sequential=True, make_parents=True)
        except ConnectionLossError:
            if attempt == ANNOUNCE_ATTEMPTS - 1:
                raise
        else:
            return


class ChangeListener:
    """Calls `on_change(data)` once for each node that appears under `path`, in their order.

    The first look calls it for nodes that are there already: reading something once too often is
    harmless, missing a change is not.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        clock: Clock,
        path: str,
        on_change: Callable[[bytes], Awaitable[None]],
        *,
        purges: bool = True,
    ) -> None:
        self._coordinator = coordinator
        self._clock = clock
        self._path = path
        self._on_change = on_change
        self._purges = purges
        self._seen: set[str] = set()
        self._present: list[str] = []
        self._wake = asyncio.Event()
        self._watch: Watch | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=f"changes of {self._path}")
        self._watch = self._coordinator.watch_children(self._path, self._on_children)

    async def stop(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _on_children(self, names: list[str]) -> None:
        self._present = names
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            present = sorted(self._present)
            self._seen.intersection_update(present)
            for name in present:
                if name not in self._seen:
                    await self._process(name)

    async def _process(self, name: str) -> None:
        path = f"{self._path}/{name}"
        try:
            data, stat = await self._coordinator.get(path)
            await self._on_change(data)
        except NoNodeError:
            return  # purged by another broker: its change is older than our last full look
        except ValueError as error:
            _log.warning("change node %s skipped: %s", path, error)
        except CoordinatorError as error:
            # Not marked as seen: the next look, at the latest the next change, tries again.
            _log.warning("change node %s not processed: %r", path, error)
            return
        else:
            age_ms = self._clock.realtime_ms() - stat.ctime_ms
            if self._purges and stat.ctime_ms > 0 and age_ms > KEPT_MS:
                await self._purge(path)
        self._seen.add(name)

    async def _purge(self, path: str) -> None:
        try:
            await self._coordinator.delete(path)
        except CoordinatorError as error:
            _log.debug("change node %s not removed: %r", path, error)
