"""Lasting watches over kazoo's one-shot ones: read, notify, wait for the trigger, read again."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Protocol

from dataplane.ports.coordinator import CoordinatorError, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.ports.coordinator import ChildrenCallback, DataCallback, NodeStat

    Trigger = Callable[[Any], None]

log = logging.getLogger(__name__)


class WatchedReads(Protocol):
    """Reads that arm kazoo's one-shot watches. The triggers run in kazoo's thread."""

    def is_closed(self) -> bool:
        """Whether nothing is watched any more."""
        ...

    def call_soon(self, function: Callable[..., object], *arguments: object) -> None:
        """From any thread: run on the loop."""
        ...

    async def get_watched(self, path: str, watch: Trigger | None) -> tuple[bytes, NodeStat]:
        """Raises CoordinatorError."""
        ...

    async def exists_watched(self, path: str, watch: Trigger | None) -> NodeStat | None:
        """Raises CoordinatorError."""
        ...

    async def children_watched(self, path: str, watch: Trigger | None) -> list[str]:
        """Raises CoordinatorError."""
        ...


class _RenewedWatch:
    """One task per watch. The trigger may fire more often than the value changes."""

    def __init__(
        self, coordinator: WatchedReads, path: str, on_cancel: Callable[[Any], None]
    ) -> None:
        self._coordinator = coordinator
        self._path = path
        self._on_cancel = on_cancel
        self._triggered = asyncio.Event()
        self._cancelled = False
        self._task = asyncio.get_running_loop().create_task(
            self._run(), name=f"zookeeper-watch {path}"
        )

    def cancel(self) -> None:
        self._cancelled = True
        self._task.cancel()
        self._on_cancel(self)

    def trigger(self, _event: object = None) -> None:
        """Runs in kazoo's thread."""
        self._coordinator.call_soon(self._triggered.set)

    async def _run(self) -> None:
        while not self._cancelled and not self._coordinator.is_closed():
            self._triggered.clear()
            try:
                await self._look()
            except CoordinatorError as error:
                if self._coordinator.is_closed():
                    return
                log.warning("watch of %s: %s; looking again", self._path, error)
                await asyncio.sleep(0.1)
                continue
            await self._triggered.wait()

    async def _look(self) -> None:
        raise NotImplementedError

    def _notify(self, callback: Callable[..., None], *arguments: object) -> None:
        try:
            callback(*arguments)
        except Exception:  # a listener's bug must not end the watch
            log.exception("a listener of %s failed", self._path)


class ChildrenWatch(_RenewedWatch):
    """Reports the names of a node's children."""

    def __init__(
        self,
        coordinator: WatchedReads,
        path: str,
        callback: ChildrenCallback,
        on_cancel: Callable[[Any], None],
    ) -> None:
        self._callback = callback
        self._seen: list[str] | None = None
        super().__init__(coordinator, path, on_cancel)

    async def _look(self) -> None:
        try:
            names = sorted(await self._coordinator.children_watched(self._path, self.trigger))
        except NoNodeError:
            names = []
            if await self._coordinator.exists_watched(self._path, self.trigger) is not None:
                self._triggered.set()  # it appeared between the two looks
                return
        if not names and self._seen == []:
            return
        # Also for the same names: a child may have been removed and created again in between.
        self._seen = names
        self._notify(self._callback, list(names))


class DataWatch(_RenewedWatch):
    """Reports a node's data and stat."""

    def __init__(
        self,
        coordinator: WatchedReads,
        path: str,
        callback: DataCallback,
        on_cancel: Callable[[Any], None],
    ) -> None:
        self._callback = callback
        self._seen: tuple[int, int] | None = (-1, -1)
        super().__init__(coordinator, path, on_cancel)

    async def _look(self) -> None:
        try:
            data, stat = await self._coordinator.get_watched(self._path, self.trigger)
        except NoNodeError:
            if await self._coordinator.exists_watched(self._path, self.trigger) is not None:
                self._triggered.set()  # it appeared between the two looks
                return
            if self._seen is not None:
                self._seen = None
                self._notify(self._callback, None, None)
            return
        now = (stat.czxid, stat.mzxid)
        if now != self._seen:
            self._seen = now
            self._notify(self._callback, data, stat)
