"""What `dataplane.runtime.zookeeper` needs of kazoo's client, over the simulated way to ZooKeeper.

Kazoo's behaviour that matters here: while not connected, requests queue; when a connection breaks,
everything sent or queued fails with ConnectionLoss, SUSPENDED is reported and every watch fires;
LOST is reported only once the server has said on reconnecting that the session is over.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

from kazoo import exceptions as kz
from kazoo.client import KazooState

from dataplane.ports.coordinator import Check, Create, Delete, NodeStat, Op, SetData
from dataplane.runtime.zookeeper import ZooKeeperCoordinator
from dataplane.runtime.zookeeper_multi_read import MultiRead
from tests.simulation.world.loop import HostLoop
from tests.simulation.world.network import Network
from tests.simulation.world.zookeeper import MACHINE, Node, Session, ZooKeeper

RECONNECT_MIN_S, RECONNECT_MAX_S = 0.05, 0.5


class Result:
    """Kazoo's `AsyncResult`."""

    def __init__(self) -> None:
        self.exception: BaseException | None = None
        self.value: Any = None
        self._is_done = False
        self._links: list[Callable[[Result], None]] = []

    def rawlink(self, callback: Callable[[Result], None]) -> None:
        if self._is_done:
            callback(self)
        else:
            self._links.append(callback)

    def successful(self) -> bool:
        return self._is_done and self.exception is None

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        if not self._is_done:
            self._is_done, self.value, self.exception = True, value, error
            for link in self._links:
                link(self)


@dataclasses.dataclass(slots=True, frozen=True)
class _Stat:
    """Kazoo's `ZnodeStat`."""

    version: int
    czxid: int
    mzxid: int
    ephemeralOwner: int
    ctime: int = 0


def _stat(node: Node) -> _Stat:
    return _Stat(node.version, node.czxid, node.mzxid, node.owner)


@dataclasses.dataclass(slots=True)
class _Request:
    work: Callable[[Session, _Wire], Any]
    result: Result
    size: int = 1


class _Wire:
    """One connection to the ensemble. Both directions keep their order."""

    def __init__(self, client: SimKazooClient) -> None:
        self.client = client
        self.is_open = True
        self._sent_s = self._answered_s = 0.0
        self._held: dict[str, deque[Callable[[], None]]] = {}

    def to_server(self, callback: Callable[[], None]) -> None:
        self._sent_s = self._carry(self.client.machine, MACHINE, self._sent_s, callback)

    def to_client(self, callback: Callable[[], None]) -> None:
        self._answered_s = self._carry(MACHINE, self.client.machine, self._answered_s, callback)

    def _carry(self, source: str, target: str, last_s: float, work: Callable[[], None]) -> float:
        network = self.client.network
        link = network.link(source, target)
        held = self._held.get(source)
        if link.is_cut or held is not None:
            if held is None:
                held = self._held[source] = deque()
                link.stalled.append(lambda: self._mended(source, target))
            held.append(work)
            return last_s
        at_s = max(last_s, self.client.loop.time() + network.latency_s(link))
        loop = network.wire if target == MACHINE else self.client.loop
        loop.call_at(at_s, self._arrive, work)
        return at_s

    def _mended(self, source: str, target: str) -> None:
        def resume() -> None:
            for work in self._held.pop(source, ()):
                if target == MACHINE:
                    self.to_server(work)
                else:
                    self.to_client(work)

        network = self.client.network
        network.wire.call_later(network.retransmit_s(), resume)

    def _arrive(self, work: Callable[[], None]) -> None:
        if self.is_open:
            work()


class SimKazooClient:
    """One session after another with the model. Everything runs on the owner's loop.

    The model's tree is what is below the cluster's `chroot`. A broker names its paths from there;
    an agent `sees_all` and names them from the ensemble's root, of which it finds nothing else.
    """

    def __init__(
        self,
        zookeeper: ZooKeeper,
        network: Network,
        loop: HostLoop,
        random: Random,
        timeout_s: float,
        *,
        chroot: str = "",
        sees_all: bool = False,
    ) -> None:
        self.loop = loop
        self.network = network
        self.machine = loop.machine
        self.chroot = "" if sees_all else chroot
        self._above = chroot if sees_all else ""
        self.handler = self
        self.session: Session | None = None
        self._zookeeper = zookeeper
        self._random = random
        self._timeout_s = timeout_s
        self._wire: _Wire | None = None
        self._pending: deque[_Request] = deque()
        self._queue: deque[_Request] = deque()
        self._watchers: list[Callable[[Any], None]] = []
        self._listeners: list[Callable[[str], Any]] = []
        self._heard_s = loop.time()
        self._is_closed = False
        self._on_started: Callable[[], None] | None = None

    # -- life

    def begin(self, on_started: Callable[[], None]) -> None:
        """Connect for the first time."""
        self._on_started = on_started
        self._connect()
        self._ping_later()

    @property
    def client_id(self) -> tuple[int, bytes]:
        return (self.session.id if self.session is not None else 0, b"")

    def add_listener(self, listener: Callable[[str], Any]) -> None:
        self._listeners.append(listener)

    def async_result(self) -> Result:
        return Result()

    def stop(self) -> None:
        """End the session at once."""
        if self._is_closed:
            return
        self._is_closed = True
        session, wire = self.session, self._wire
        if wire is not None and session is not None:
            wire.to_server(lambda: self._zookeeper.expire(session))
        self._fail_all(kz.ConnectionClosedError("closed"))

    def close(self) -> None:
        self._watchers.clear()

    def vanish(self) -> None:
        """The process died: the server hears nothing any more."""
        self._is_closed = True
        if self._wire is not None:
            self._wire.is_open = False

    def drop(self) -> None:
        """The connection breaks."""
        wire = self._wire
        if wire is None or self._is_closed:
            return
        wire.is_open = False
        self._wire = None
        self._fail_all(kz.ConnectionLoss("connection lost"))
        self._notify(KazooState.SUSPENDED)
        self._fire_all()
        self._reconnect_later()

    # -- connecting

    def _reconnect_later(self) -> None:
        self.loop.call_later(self._random.uniform(RECONNECT_MIN_S, RECONNECT_MAX_S), self._connect)

    def _connect(self) -> None:
        if self._is_closed or self._wire is not None:
            return
        wire = _Wire(self)
        known = self.session
        settled = False

        def greet() -> None:
            session = known
            if session is None:
                session = self._zookeeper.open_session(self._timeout_s)
            if session.is_over:
                wire.to_client(lambda: welcome(None))
                return
            session.heard_s = self.loop.time()
            session.on_over = lambda: wire.to_client(self.drop)
            wire.to_client(lambda: welcome(session))

        def welcome(session: Session | None) -> None:
            nonlocal settled
            settled = True
            if self._is_closed or self._wire is not None:
                return
            if session is None:
                wire.is_open = False
                self._session_lost()
                return
            self._wire, self.session = wire, session
            self._heard_s = self.loop.time()
            self._notify(KazooState.CONNECTED)
            if self._on_started is not None:
                started, self._on_started = self._on_started, None
                started()
            queue, self._queue = self._queue, deque()
            for request in queue:
                self._send(request)

        def give_up() -> None:
            if not settled:
                wire.is_open = False
                self._reconnect_later()

        wire.to_server(greet)
        self.loop.call_later(self._timeout_s / 3, give_up)

    def _session_lost(self) -> None:
        self.session = None
        self._fail_all(kz.SessionExpiredError("session expired"))
        self._notify(KazooState.LOST)
        self._fire_all()
        self._connect()

    def _ping_later(self) -> None:
        self.loop.call_later(self._timeout_s / 3, self._ping)

    def _ping(self) -> None:
        if self._is_closed:
            return
        if self._wire is not None:
            if self.loop.time() - self._heard_s > self._timeout_s * 2 / 3 + 0.01:
                self.drop()
            else:
                self._send(_Request(lambda _session, _wire: None, Result()))
        self._ping_later()

    def _notify(self, state: str) -> None:
        for listener in self._listeners:
            listener(state)

    def _fire_all(self) -> None:
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            watcher(None)

    def _fail_all(self, error: BaseException) -> None:
        failed = [*self._pending, *self._queue]
        self._pending.clear()
        self._queue.clear()
        for request in failed:
            request.result.settle(error=error)

    # -- requests

    def _ask(self, work: Callable[[Session, _Wire], Any]) -> Result:
        request = _Request(work, Result())
        if self._is_closed:
            request.result.settle(error=kz.ConnectionClosedError("closed"))
        elif self._wire is None:
            self._queue.append(request)
        else:
            self._send(request)
        return request.result

    def _send(self, request: _Request) -> None:
        wire, session = self._wire, self.session
        if wire is None or session is None:
            self._queue.append(request)
            return
        self._pending.append(request)

        def served() -> None:
            if session.is_over:
                return  # the server closes such a connection without an answer
            session.heard_s = self.loop.time()
            error: BaseException | None = None
            value: Any = None
            try:
                value = request.work(session, wire)
            except kz.ZookeeperError as caught:
                error = caught
            wire.to_client(lambda: answered(value, error))

        def answered(value: Any, error: BaseException | None) -> None:
            self._heard_s = self.loop.time()
            if self._pending and self._pending[0] is request:
                self._pending.popleft()
                request.result.settle(value, error)

        wire.to_server(served)

    def _call(self, request: MultiRead, result: Result) -> None:
        def read(_session: Session, _wire: _Wire) -> list[tuple[bytes, NodeStat] | None]:
            # kazoo's requests name paths whole: the client has put its chroot before them.
            whole = [_below(self.chroot, path) for path in request.paths]
            found = [self._zookeeper.find(_below(self._above, path)) for path in whole]
            return [(node.data, node.stat()) if node else None for node in found]

        self._ask(read).rawlink(lambda done: result.settle(done.value, done.exception))

    def _arm(self, kind: str, path: str, watch: Callable[[Any], None] | None, wire: _Wire) -> None:
        if watch is None:
            return

        def fire() -> None:
            if watch in self._watchers:
                self._watchers.remove(watch)
                watch(None)

        self._watchers.append(watch)
        self._zookeeper.watch(kind, path, lambda: wire.to_client(fire))

    def get_async(self, path: str, watch: Any = None) -> Result:
        path = _below(self._above, path)

        def get(_session: Session, wire: _Wire) -> tuple[bytes, _Stat]:
            node = self._zookeeper.lookup(path)
            self._arm("data", path, watch, wire)
            return node.data, _stat(node)

        return self._ask(get)

    def exists_async(self, path: str, watch: Any = None) -> Result:
        path = _below(self._above, path)

        def exists(_session: Session, wire: _Wire) -> _Stat | None:
            node = self._zookeeper.find(path)
            self._arm("data", path, watch, wire)
            return _stat(node) if node is not None else None

        return self._ask(exists)

    def get_children_async(self, path: str, watch: Any = None) -> Result:
        path = _below(self._above, path)

        def children(_session: Session, wire: _Wire) -> list[str]:
            node = self._zookeeper.lookup(path)
            self._arm("children", path, watch, wire)
            return sorted(node.children)

        return self._ask(children)

    def create_async(
        self,
        path: str,
        value: bytes = b"",
        *,
        ephemeral: bool = False,
        sequence: bool = False,
        include_data: bool = False,
    ) -> Result:
        path = _below(self._above, path)

        def create(session: Session, _wire: _Wire) -> Any:
            op = Create(path, value, ephemeral, sequence)
            made = str(self._zookeeper.apply([op], session)[0])
            return (made, _stat(self._zookeeper.lookup(made))) if include_data else made

        return self._ask(create)

    def set_async(self, path: str, data: bytes, version: int = -1) -> Result:
        path = _below(self._above, path)

        def set_data(session: Session, _wire: _Wire) -> _Stat:
            self._zookeeper.apply([SetData(path, data, version)], session)
            return _stat(self._zookeeper.lookup(path))

        return self._ask(set_data)

    def delete_async(self, path: str, version: int = -1) -> Result:
        path = _below(self._above, path)
        return self._ask(
            lambda session, _wire: self._zookeeper.apply([Delete(path, version)], session)[0]
        )

    def transaction(self) -> _Transaction:
        return _Transaction(self)

    def commit(self, ops: list[Op]) -> Result:
        if self._above:
            ops = [dataclasses.replace(op, path=_below(self._above, op.path)) for op in ops]

        def multi(session: Session, _wire: _Wire) -> list[Any]:
            try:
                results = self._zookeeper.apply(ops, session)
            except kz.ZookeeperError as error:
                failed: int = error.failed_index  # type: ignore[attr-defined]
                return [
                    kz.RolledBackError()
                    if i < failed
                    else error
                    if i == failed
                    else kz.RuntimeInconsistency()
                    for i in range(len(ops))
                ]
            stats = []
            for op, result in zip(ops, results, strict=True):
                if isinstance(op, SetData):
                    stats.append(_stat(self._zookeeper.lookup(op.path)))
                else:
                    stats.append(result if isinstance(op, Create) else True)
            return stats

        return self._ask(multi)


def _below(chroot: str, path: str) -> str:
    """What the path is called below the chroot; what is elsewhere is nowhere in the tree."""
    if path.startswith(f"{chroot}/"):
        return path.removeprefix(chroot)
    return f"/elsewhere{path}"


class _Transaction:
    """Kazoo's `TransactionRequest`."""

    def __init__(self, client: SimKazooClient) -> None:
        self._client = client
        self._ops: list[Op] = []

    def create(
        self, path: str, value: bytes = b"", *, ephemeral: bool = False, sequence: bool = False
    ) -> None:
        self._ops.append(Create(path, value, ephemeral, sequence))

    def set_data(self, path: str, data: bytes, version: int = -1) -> None:
        self._ops.append(SetData(path, data, version))

    def delete(self, path: str, version: int = -1) -> None:
        self._ops.append(Delete(path, version))

    def check(self, path: str, version: int) -> None:
        self._ops.append(Check(path, version))

    def commit_async(self) -> Result:
        return self._client.commit(self._ops)


async def open_coordinator(
    zookeeper: ZooKeeper,
    network: Network,
    loop: HostLoop,
    random: Random,
    timeout_s: float,
    *,
    chroot: str = "",
    sees_all: bool = False,
) -> tuple[ZooKeeperCoordinator, SimKazooClient]:
    """The production coordinator over a simulated client, connected."""
    client = SimKazooClient(
        zookeeper, network, loop, random, timeout_s, chroot=chroot, sees_all=sees_all
    )
    started = loop.create_future()
    client.begin(lambda: None if started.done() else started.set_result(None))
    try:
        await started
    except BaseException:
        client.stop()
        raise
    return ZooKeeperCoordinator(client, loop), client
