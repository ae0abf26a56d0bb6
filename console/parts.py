"""One page, many parts: each with its own deadline, status and age.

A part is a function that reads one thing. Parts that ask brokers run beside each other in a
small pool; one that is late or fails answers `unavailable` with its reason, or `stale` with the
last good data, and never blanks the rest of the page. A part that is still running is not
started a second time: late answers feed the next request.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db import close_old_connections

from console.fair_pool import FairPool
from controlplane.common.problems import Forbidden, NotFound, Problem
from controlplane.common.times import iso
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.patience import bounded

log = logging.getLogger(__name__)

OK, STALE, UNAVAILABLE = "ok", "stale", "unavailable"
"""What a part's answer may be: the data of now, the last good data, none."""
PART_DEADLINE_S = 4.0
"""Longest a page waits for one part."""
POOL_THREADS = 12
"""Parts that ask brokers at the same time, over all pages; a tenant has a share of them."""
KEPT_PARTS = 512
"""Last good answers kept for `stale`, least recently used go first."""
FRESH_S = 1.0
"""An answer this young is given again without asking, so many viewers cost as one."""

Read = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Part:
    """`read` gives JSON-ready data. `remote` parts run in the pool, others at once, in place."""

    read: Read
    remote: bool = False
    deadline_s: float = PART_DEADLINE_S
    """At most: a page that cannot wait that long answers without it."""
    kept: "Callable[[], Aged | None] | None" = None
    """What the service keeps of it, for when it is late or fails; None where it never knew."""


@dataclass(frozen=True, slots=True)
class Aged:
    """What a part may read instead of data of now: data of another time.

    Attributes:
        reason: why it may be old or not all there is; empty: nothing newer is to be had.
    """

    data: Any
    as_of: datetime
    reason: str = ""


@dataclass(slots=True)
class _Kept:
    data: Any
    at: datetime
    monotonic_s: float


@dataclass(slots=True)
class PartRunner:
    """Runs a page's parts. One per process; clock and pool are arguments for tests."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], datetime] = lambda: datetime.now(UTC)
    pool: Executor = field(
        default_factory=lambda: ThreadPoolExecutor(POOL_THREADS, thread_name_prefix="page-part")
    )
    _kept: OrderedDict[str, _Kept] = field(default_factory=OrderedDict)
    _running: dict[str, Future[Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _fair: FairPool = field(init=False)

    def __post_init__(self) -> None:
        self._fair = FairPool(self.pool, lambda: settings.PAGE_PARTS_PER_TENANT)

    def run(self, scope: str, parts: Mapping[str, Part]) -> dict[str, Any]:
        """Answer `{name: {status, as_of, reason, data}}`.

        Args:
            scope: what the kept answers belong to; names the tenant and the viewer's grants
                first, so that no answer can cross from one tenant or viewer to another.
            parts: by name, in the order of the answer.

        Raises:
            NotFound, Forbidden: a part says that the page's own subject is not there.
        """
        started = self.monotonic()
        pending = {
            name: self._start(f"{scope}/{name}", part)
            for name, part in parts.items()
            if part.remote
        }
        answer: dict[str, Any] = {}
        for name, part in parts.items():
            key = f"{scope}/{name}"
            if name not in pending:
                answer[name] = self._settle(key, part, part.read)
                continue
            left_s = bounded(max(0.0, part.deadline_s - (self.monotonic() - started)))
            answer[name] = self._settle(key, part, partial(pending[name].result, left_s))
        return {name: answer[name] for name in parts}

    def _start(self, key: str, part: Part) -> Future[Any]:
        with self._lock:
            running = self._running.get(key)
            if running is not None and not running.done():
                return running
            kept = self._kept.get(key)
            if kept is not None and self.monotonic() - kept.monotonic_s < FRESH_S:
                young: Future[Any] = Future()
                young.set_result(kept.data)
                return young
            tenant = key.partition("/")[0]
            try:
                future = self._fair.submit(tenant, partial(self._guarded, key, part.read))
            except Problem as refused:
                future = Future()
                future.set_exception(refused)
                return future
            self._running[key] = future
            return future

    def _guarded(self, key: str, read: Read) -> Any:
        close_old_connections()
        try:
            data = read()
            self._keep(key, data)
            return data
        finally:
            close_old_connections()
            with self._lock:
                self._running.pop(key, None)

    def _settle(self, key: str, part: Part, read: Read) -> dict[str, Any]:
        try:
            data = read()
        except (NotFound, Forbidden):
            raise
        except Exception as error:  # noqa: BLE001 - one part must never blank the page
            return self._degraded(key, part, reason_of(error))
        if isinstance(data, Aged):
            return _aged(data, data.reason)
        with self._lock:
            kept = self._kept.get(key)
        as_of = kept.at if kept is not None and kept.data is data else self.wall()
        return {"status": OK, "as_of": iso(as_of), "reason": None, "data": data}

    def _degraded(self, key: str, part: Part, reason: str) -> dict[str, Any]:
        with self._lock:
            kept = self._kept.get(key)
        stored = _stored(part)
        if stored is not None and (kept is None or stored.as_of > _as_of(kept)):
            return _aged(stored, reason)
        if kept is None:
            return {"status": UNAVAILABLE, "as_of": None, "reason": reason, "data": None}
        if isinstance(kept.data, Aged):
            return _aged(kept.data, reason)
        return {
            "status": STALE,
            "as_of": iso(kept.at),
            "reason": reason,
            "data": kept.data,
        }

    def _keep(self, key: str, data: Any) -> None:
        with self._lock:
            self._kept[key] = _Kept(data, self.wall(), self.monotonic())
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT_PARTS:
                self._kept.popitem(last=False)


def _stored(part: Part) -> Aged | None:
    """A fault in reading what is kept must not take away what this process remembers."""
    if part.kept is None:
        return None
    try:
        return part.kept()
    except Exception:
        log.exception("what is kept of a page's part cannot be read")
        return None


def _as_of(kept: _Kept) -> datetime:
    return kept.data.as_of if isinstance(kept.data, Aged) else kept.at


def _aged(answer: Aged, reason: str) -> dict[str, Any]:
    return {
        "status": STALE if reason else OK,
        "as_of": iso(answer.as_of),
        "reason": reason or None,
        "data": answer.data,
    }


def reason_of(error: Exception) -> str:
    """One sentence for the page; the trace goes to the log."""
    if isinstance(error, FutureTimeoutError):
        return "The cluster did not answer in time."
    if isinstance(error, Problem):
        return error.detail
    if isinstance(error, GatewayError):
        return f"The cluster could not be asked: {error}"
    log.error("a page part failed", exc_info=error)
    return "It failed on the server's side; the log has the details."


RUNNER = PartRunner()
