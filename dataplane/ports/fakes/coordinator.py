"""ZooKeeper in memory: one `FakeZooKeeper` holds the tree, each `FakeCoordinator` is a session.

It fails on demand: `expire()` ends a session as the server would, `suspend()`/`resume()` break
and restore the connection, `fail_next(error)` refuses the next write, and `lose_reply_of_next()`
carries the next write out but loses its answer.
"""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

from dataplane.ports.coordinator import (
    ANY_VERSION,
    BadVersionError,
    Check,
    ChildrenCallback,
    ConnectionLossError,
    CoordinatorError,
    Create,
    DataCallback,
    Delete,
    Get,
    NodeExistsError,
    NodeStat,
    NoNodeError,
    NotEmptyError,
    Op,
    OpResult,
    SessionCallback,
    SessionState,
    SetData,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclasses.dataclass(slots=True)
class _Node:
    data: bytes
    czxid: int
    mzxid: int
    owner: int
    version: int = 0
    children_version: int = 0
    children: set[str] = dataclasses.field(default_factory=set)

    def stat(self) -> NodeStat:
        return NodeStat(self.version, self.czxid, self.mzxid, self.owner, ctime_ms=0)


def parent_of(path: str) -> str:
    """The path of a node's parent; `/` for a top-level node."""
    return path.rsplit("/", 1)[0] or "/"


class FakeZooKeeper:
    """The tree that the sessions share."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {"/": _Node(b"", 0, 0, 0)}
        self._zxid = 0
        self._next_session = 1
        self._sessions: list[FakeCoordinator] = []

    def connect(self) -> FakeCoordinator:
        """Open a session."""
        session = FakeCoordinator(self)
        self._sessions.append(session)
        return session

    def new_session_id(self) -> int:
        self._next_session += 1
        return self._next_session

    def lookup(self, path: str) -> _Node:
        node = self._nodes.get(path)
        if node is None:
            raise NoNodeError(path)
        return node

    def find(self, path: str) -> _Node | None:
        return self._nodes.get(path)

    def apply(self, ops: Sequence[Op], session_id: int) -> list[OpResult]:
        """Carry all out, or none; then notify every session's watches."""
        before = {
            path: dataclasses.replace(n, children=set(n.children))
            for path, n in self._nodes.items()
        }
        zxid_before = self._zxid
        self._zxid += 1
        results: list[OpResult] = []
        for index, op in enumerate(ops):
            try:
                results.append(self._apply_one(op, session_id))
            except CoordinatorError as error:
                self._nodes, self._zxid = before, zxid_before
                error.failed_index = index
                raise
        self._notify()
        return results

    def _apply_one(self, op: Op, session_id: int) -> OpResult:
        match op:
            case Create():
                return self._create(op, session_id)
            case SetData(path, data, version):
                node = self.lookup(path)
                self._check_version(node, path, version)
                node.data, node.version, node.mzxid = data, node.version + 1, self._zxid
                return node.stat()
            case Delete(path, version):
                node = self.lookup(path)
                self._check_version(node, path, version)
                if node.children:
                    raise NotEmptyError(path)
                del self._nodes[path]
                parent = self.lookup(parent_of(path))
                parent.children.discard(path.rsplit("/", 1)[1])
                parent.children_version += 1
            case Check(path, version):
                self._check_version(self.lookup(path), path, version)
        return None

    def _create(self, op: Create, session_id: int) -> str:
        parent = self.lookup(parent_of(op.path))
        path = op.path
        if op.sequential:
            path = f"{op.path}{parent.children_version:010d}"
        if path in self._nodes:
            raise NodeExistsError(path)
        parent.children_version += 1
        owner = session_id if op.ephemeral else 0
        self._nodes[path] = _Node(op.data, self._zxid, self._zxid, owner)
        parent.children.add(path.rsplit("/", 1)[1])
        return path

    @staticmethod
    def _check_version(node: _Node, path: str, version: int) -> None:
        if version not in (ANY_VERSION, node.version):
            raise BadVersionError(f"{path} has version {node.version}, not {version}")

    def end_session(self, session_id: int) -> None:
        """Remove the session's ephemeral nodes, as the server does on close or expiry."""
        ephemeral = [path for path, node in self._nodes.items() if node.owner == session_id]
        if ephemeral:
            self.apply([Delete(path) for path in ephemeral], session_id)

    def _notify(self) -> None:
        for session in self._sessions:
            session.poke()


class _FakeWatch:
    def __init__(self, session: FakeCoordinator, path: str) -> None:
        self._session = session
        self.path = path
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def deliver(self) -> None:
        raise NotImplementedError


class _ChildrenWatch(_FakeWatch):
    def __init__(self, session: FakeCoordinator, path: str, callback: ChildrenCallback) -> None:
        super().__init__(session, path)
        self._callback = callback
        self._seen: tuple[int, int] | None = (-1, -1)

    def deliver(self) -> None:
        node = self._session.zookeeper.find(self.path)
        # The version counts changes: a child that was removed and created again is reported.
        now = (node.czxid, node.children_version) if node else None
        if not self.cancelled and now != self._seen:
            self._seen = now
            self._callback(sorted(node.children) if node else [])


class _DataWatch(_FakeWatch):
    def __init__(self, session: FakeCoordinator, path: str, callback: DataCallback) -> None:
        super().__init__(session, path)
        self._callback = callback
        self._seen: tuple[int, int] | None = (-1, -1)

    def deliver(self) -> None:
        node = self._session.zookeeper.find(self.path)
        now = (node.czxid, node.mzxid) if node else None
        if self.cancelled or now == self._seen:
            return
        self._seen = now
        if node is None:
            self._callback(None, None)
        else:
            self._callback(node.data, node.stat())


class FakeCoordinator:
    """A session with a `FakeZooKeeper`. Implements `dataplane.ports.coordinator.Coordinator`."""

    def __init__(self, zookeeper: FakeZooKeeper) -> None:
        self.zookeeper = zookeeper
        self.writes = 0
        self._session_id = zookeeper.new_session_id()
        self._connected = asyncio.Event()
        self._connected.set()
        self._watches: list[_FakeWatch] = []
        self._listeners: list[SessionCallback] = []
        self._failures: list[CoordinatorError] = []
        self._lost_replies = 0
        self._poked = False
        self._is_gone = False

    @property
    def session_id(self) -> int:
        return self._session_id

    # -- faults ---------------------------------------------------------------------------------

    def fail_next(self, error: CoordinatorError) -> None:
        """The next write raises `error` and changes nothing."""
        self._failures.append(error)

    def lose_reply_of_next(self) -> None:
        """The next write happens, yet raises ConnectionLossError."""
        self._lost_replies += 1

    def ignore(self, *paths: str) -> None:
        """End this session's watches of these nodes, until it watches them again."""
        for watch in self._watches:
            if watch.path in paths:
                watch.cancel()

    def suspend(self) -> None:
        self._connected.clear()
        self._announce(SessionState.SUSPENDED)

    def resume(self) -> None:
        self._connected.set()
        self._announce(SessionState.CONNECTED)
        self.poke()

    def expire(self) -> None:
        """The server forgets the session; the client notices and opens a new one."""
        old = self._session_id
        self._session_id = self.zookeeper.new_session_id()
        self.zookeeper.end_session(old)
        self._announce(SessionState.EXPIRED)
        self.resume()

    def vanish(self) -> None:
        """The process dies: its ephemeral nodes linger. What still asks loses its connection."""
        self._is_gone = True
        self._connected.clear()
        for watch in self._watches:
            watch.cancel()

    async def close(self) -> None:
        self.vanish()
        self.zookeeper.end_session(self._session_id)

    def _announce(self, state: SessionState) -> None:
        for listener in self._listeners:
            listener(state)

    # -- verbs ----------------------------------------------------------------------------------

    async def get(self, path: str) -> tuple[bytes, NodeStat]:
        await self._turn()
        node = self.zookeeper.lookup(path)
        return node.data, node.stat()

    async def exists(self, path: str) -> NodeStat | None:
        await self._turn()
        node = self.zookeeper.find(path)
        return node.stat() if node else None

    async def children(self, path: str) -> list[str]:
        await self._turn()
        return sorted(self.zookeeper.lookup(path).children)

    async def create(
        self,
        path: str,
        data: bytes = b"",
        *,
        ephemeral: bool = False,
        sequential: bool = False,
        make_parents: bool = False,
    ) -> tuple[str, NodeStat]:
        ops: list[Op] = []
        if make_parents:
            parts = parent_of(path).strip("/").split("/")
            for depth in range(1, len(parts) + 1):
                ancestor = "/" + "/".join(parts[:depth])
                if ancestor != "/" and self.zookeeper.find(ancestor) is None:
                    ops.append(Create(ancestor))
        ops.append(Create(path, data, ephemeral, sequential))
        made = (await self._write(ops))[-1]
        return str(made), self.zookeeper.lookup(str(made)).stat()

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> NodeStat:
        stat = (await self._write([SetData(path, data, version)]))[0]
        if not isinstance(stat, NodeStat):
            raise TypeError(f"set of {path} answered {stat!r}")
        return stat

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        await self._write([Delete(path, version)])

    async def multi(self, ops: Sequence[Op | Get]) -> list[OpResult]:
        reads = [op for op in ops if isinstance(op, Get)]
        writes = [op for op in ops if not isinstance(op, Get)]
        if not reads:
            return await self._write(writes)
        if writes:
            raise ValueError("reads and writes do not mix in a multi")
        await self._turn()
        nodes = [self.zookeeper.find(read.path) for read in reads]
        return [(node.data, node.stat()) if node else None for node in nodes]

    def watch_children(self, path: str, callback: ChildrenCallback) -> _FakeWatch:
        return self._watch(_ChildrenWatch(self, path, callback))

    def watch_data(self, path: str, callback: DataCallback) -> _FakeWatch:
        return self._watch(_DataWatch(self, path, callback))

    def on_session(self, callback: SessionCallback) -> None:
        self._listeners.append(callback)

    # -- inside ---------------------------------------------------------------------------------

    async def _turn(self) -> None:
        await asyncio.sleep(0)
        if self._is_gone:
            raise ConnectionLossError("this process is gone")
        await self._connected.wait()

    async def _write(self, ops: Sequence[Op]) -> list[OpResult]:
        await asyncio.sleep(0)
        if self._failures:
            raise self._failures.pop(0)
        if not self._connected.is_set():
            raise ConnectionLossError("not connected")
        self.writes += 1
        results = self.zookeeper.apply(ops, self._session_id)
        if self._lost_replies:
            self._lost_replies -= 1
            raise ConnectionLossError("the answer was lost")
        return results

    def _watch(self, watch: _FakeWatch) -> _FakeWatch:
        self._watches.append(watch)
        self.poke()
        return watch

    def poke(self) -> None:
        """Let the watches look at the tree on the loop's next turn."""
        if not self._poked and self._connected.is_set():
            self._poked = True
            asyncio.get_running_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        self._poked = False
        self._watches = [watch for watch in self._watches if not watch.cancelled]
        for watch in list(self._watches):
            watch.deliver()
