"""Sequential change nodes in ZooKeeper: how brokers notify each other of what to read again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from dataplane.broker.metadata.znode_reads import read_all
from dataplane.model.retry_warning import RetryWarning
from dataplane.ports.coordinator import ConnectionLossError, CoordinatorError, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator, Watch

_log = logging.getLogger(__name__)

ANNOUNCE_ATTEMPTS: Final = 20
KEPT_MS: Final = 15 * 60_000
"""Change nodes older than this are removed by whoever sees them, as in Kafka."""
RETRY_S: Final = 0.5
"""Between two tries to read what changed, while ZooKeeper refuses or does not answer."""

T = TypeVar("T")


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


class ChangeListener(Generic[T]):
    """Calls `on_changes` with what nodes that appear under `path` name, each once, in their order.

    A node counts as seen when `on_changes` has returned: where ZooKeeper fails meanwhile, both are
    tried again until they succeed, as a change that is missed may be a revocation. Reading
    something once too often is harmless. `decode(data)` raises ValueError, KeyError or TypeError
    for a node that cannot be understood, which is logged and passed over.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        clock: Clock,
        path: str,
        decode: Callable[[bytes], T],
        on_changes: Callable[[list[T]], Awaitable[None]],
        *,
        purges: bool = True,
    ) -> None:
        self._coordinator = coordinator
        self._clock = clock
        self._path = path
        self._decode = decode
        self._on_changes = on_changes
        self._purges = purges
        self._seen: set[str] = set()
        self._present: list[str] = []
        self._wake = asyncio.Event()
        self._failures = RetryWarning()
        self._watch: Watch | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, seen: Iterable[str] = ()) -> None:
        """Follow all nodes but those in `seen`: what they name was read since they were listed."""
        self._seen = set(seen)
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
            # Cleared before looking: what comes from here on wakes it once more.
            self._wake.clear()
            present = sorted(self._present)
            self._seen.intersection_update(present)
            try:
                await self._look([name for name in present if name not in self._seen])
            except CoordinatorError as error:
                is_due = self._failures.is_due(self._clock.monotonic_ms())
                level = logging.WARNING if is_due else logging.DEBUG
                _log.log(level, "changes of %s are read again: %r", self._path, error)
                await asyncio.sleep(RETRY_S)
                self._wake.set()
                continue
            self._failures.reset()
            if self._purges:
                await self._purge(present)

    async def _look(self, fresh: list[str]) -> None:
        """CoordinatorError: none of them counts as seen."""
        if not fresh:
            return
        found = await read_all(
            self._coordinator, [(name, f"{self._path}/{name}") for name in fresh]
        )
        changed: dict[T, None] = {}
        # One that is not found was purged: what it names is older than our last full look.
        for name, (data, _) in found.items():
            try:
                changed[self._decode(data)] = None
            except (ValueError, KeyError, TypeError) as error:
                _log.warning(
                    "change node %s/%s cannot be understood: %s; %r",
                    self._path,
                    name,
                    error,
                    data[:200],
                )
        try:
            await self._on_changes(list(changed))
        except CoordinatorError:
            raise
        except Exception:  # noqa: BLE001 - a bug with one change must not keep the later ones from being heard
            _log.exception("changes of %s: %s", self._path, list(changed))
        self._seen.update(fresh)

    async def _purge(self, present: list[str]) -> None:
        """Remove nodes that every broker has long read. Two brokers may try at once."""
        now_ms = self._clock.realtime_ms()
        try:
            for name in present:
                path = f"{self._path}/{name}"
                stat = await self._coordinator.exists(path)
                if stat is None:
                    continue
                if now_ms - stat.ctime_ms <= KEPT_MS:
                    return  # names are in order of age
                with contextlib.suppress(NoNodeError):
                    await self._coordinator.delete(path)
        except CoordinatorError as error:
            _log.debug("old changes of %s are not removed: %r", self._path, error)
