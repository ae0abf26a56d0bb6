"""Sequential change nodes in ZooKeeper: how brokers notify each other of what to read again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from dataplane.broker.metadata.znode_reads import read_all
from dataplane.model.retry_warning import RetryWarning
from dataplane.ports.coordinator import (
    ConnectionLossError,
    CoordinatorError,
    NoNodeError,
    SessionExpiredError,
)

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

UNREACHABLE: Final = (ConnectionLossError, SessionExpiredError)
"""What fails for everything alike."""

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
    tried again until they succeed, as a change that is missed may be a revocation; where it refuses
    one thing, the others do not wait for it. Reading something once too often is harmless.

    `decode(data)` raises ValueError, KeyError or TypeError for a node that cannot be understood,
    which is logged and passed over.
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
        self.retries = 0
        """Rounds that ZooKeeper failed or refused, each of which another one follows."""
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
                self.retries += 1
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
        """CoordinatorError: what could not be read does not count as seen."""
        if not fresh:
            return
        changed = await self._changed(fresh)
        try:
            await self._on_changes(list(changed))
        except UNREACHABLE:
            raise
        except Exception:  # noqa: BLE001 - whichever it was, the others must not wait for it
            await self._one_by_one(changed)
        self._seen.update(name for names in changed.values() for name in names)

    async def _changed(self, fresh: list[str]) -> dict[T, list[str]]:
        """What these nodes name, and which of them do; the others count as seen."""
        found = await read_all(
            self._coordinator, [(name, f"{self._path}/{name}") for name in fresh]
        )
        changed: dict[T, list[str]] = {}
        # One that is not found was purged: what it names is older than our last full look.
        self._seen.update(name for name in fresh if name not in found)
        for name, (data, _) in found.items():
            try:
                changed.setdefault(self._decode(data), []).append(name)
            except (ValueError, KeyError, TypeError) as error:
                path, shown = f"{self._path}/{name}", data[:200]
                _log.warning("change node %s cannot be understood: %s; %r", path, error, shown)
                self._seen.add(name)
        return changed

    async def _one_by_one(self, changed: dict[T, list[str]]) -> None:
        """Each by itself, so that only what fails is tried again; a bug with one is logged."""
        failure: CoordinatorError | None = None
        for change, names in changed.items():
            try:
                await self._on_changes([change])
            except UNREACHABLE:
                raise
            except CoordinatorError as error:
                failure = error
                continue
            except Exception:  # noqa: BLE001 - another try would fail by the same bug
                _log.exception("changes of %s: %s", self._path, change)
            self._seen.update(names)
        if failure is not None:
            raise failure

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
