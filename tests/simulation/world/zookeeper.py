"""The model of the ZooKeeper ensemble: one tree, sessions that expire, one-shot watches in order.

The ensemble itself never fails here (its own replication is not ours to test); the way to it does:
requests and answers of one session stay in order, may be late, and are lost with the connection.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from kazoo import exceptions as kz

from dataplane.ports.coordinator import ANY_VERSION, Check, Create, Delete, NodeStat, Op, SetData

MACHINE = "zookeeper"


@dataclasses.dataclass(slots=True)
class Node:
    data: bytes
    czxid: int
    mzxid: int
    owner: int
    version: int = 0
    cversion: int = 0
    children: set[str] = dataclasses.field(default_factory=set)

    def stat(self) -> NodeStat:
        return NodeStat(self.version, self.czxid, self.mzxid, self.owner, ctime_ms=0)


@dataclasses.dataclass(slots=True)
class Session:
    id: int
    timeout_s: float
    heard_s: float
    is_over: bool = False
    on_over: Callable[[], None] = lambda: None


def parent_of(path: str) -> str:
    return path.rsplit("/", 1)[0] or "/"


class ZooKeeper:
    """The tree and its sessions. `on_change(path, node)` notifies the probes of every new state."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self.nodes: dict[str, Node] = {"/": Node(b"", 0, 0, 0)}
        self.sessions: dict[int, Session] = {}
        self.zxid = 0
        self._undo: list[Callable[[], None]] = []
        self._fired: list[tuple[str, str]] = []
        self._watches: dict[tuple[str, str], dict[int, Callable[[], None]]] = {}
        self._watch_numbers = 0
        self.on_change: Callable[[str, Node | None], None] = lambda _path, _node: None

    # -- sessions

    def open_session(self, timeout_s: float) -> Session:
        # As large as real ones, so that nobody takes them for something else.
        session = Session(0x1000_0000 + len(self.sessions) + 1, timeout_s, self._now_s())
        self.sessions[session.id] = session
        return session

    def expire(self, session: Session) -> None:
        """The session ends, by its timeout, by `close`, or because a test says so."""
        if session.is_over:
            return
        session.is_over = True
        ephemeral = sorted(
            (path for path, node in self.nodes.items() if node.owner == session.id), reverse=True
        )
        if ephemeral:
            self.apply([Delete(path) for path in ephemeral], session)
        session.on_over()

    def expire_silent(self) -> None:
        """End the sessions that were not heard of for their timeout."""
        now_s = self._now_s()
        for session in list(self.sessions.values()):
            if not session.is_over and now_s - session.heard_s > session.timeout_s:
                self.expire(session)

    # -- the tree

    def find(self, path: str) -> Node | None:
        return self.nodes.get(path)

    def lookup(self, path: str) -> Node:
        node = self.nodes.get(path)
        if node is None:
            raise kz.NoNodeError(path)
        return node

    def apply(self, ops: Sequence[Op], session: Session) -> list[object]:
        """All or nothing. Raises kazoo's error with `.failed_index`."""
        self._undo, self._fired = [], []
        self.zxid += 1
        results: list[object] = []
        for index, op in enumerate(ops):
            try:
                results.append(self._apply_one(op, session))
            except kz.ZookeeperError as error:
                for undo in reversed(self._undo):
                    undo()
                error.failed_index = index  # type: ignore[attr-defined]
                raise
        fired, self._fired = self._fired, []
        for kind, path in fired:
            for callback in self._watches.pop((kind, path), {}).values():
                callback()
        for path in dict.fromkeys(path for _kind, path in fired):
            self.on_change(path, self.nodes.get(path))
        return results

    def _apply_one(self, op: Op, session: Session) -> object:
        match op:
            case Create():
                return self._create(op, session)
            case SetData(path, data, version):
                node = self.lookup(path)
                self._check(node, path, version)
                before = (node.data, node.version, node.mzxid)
                self._undo.append(lambda: self._restore(node, before))
                node.data, node.version, node.mzxid = data, node.version + 1, self.zxid
                self._fired.append(("data", path))
                return node.stat()
            case Delete(path, version):
                self._delete(path, version)
            case Check(path, version):
                self._check(self.lookup(path), path, version)
        return None

    def _create(self, op: Create, session: Session) -> str:
        above = parent_of(op.path)
        parent = self.lookup(above)
        path = f"{op.path}{parent.cversion:010d}" if op.sequential else op.path
        if path in self.nodes:
            raise kz.NodeExistsError(path)
        name = path.rsplit("/", 1)[1]
        self.nodes[path] = Node(op.data, self.zxid, self.zxid, session.id if op.ephemeral else 0)
        parent.children.add(name)
        parent.cversion += 1

        def undo() -> None:
            del self.nodes[path]
            parent.children.discard(name)
            parent.cversion -= 1

        self._undo.append(undo)
        self._fired += [("data", path), ("children", above)]
        return path

    def _delete(self, path: str, version: int) -> None:
        node = self.lookup(path)
        self._check(node, path, version)
        if node.children:
            raise kz.NotEmptyError(path)
        parent = self.lookup(parent_of(path))
        name = path.rsplit("/", 1)[1]
        del self.nodes[path]
        parent.children.discard(name)
        parent.cversion += 1

        def undo() -> None:
            self.nodes[path] = node
            parent.children.add(name)
            parent.cversion -= 1

        self._undo.append(undo)
        self._fired += [("data", path), ("children", path), ("children", parent_of(path))]

    @staticmethod
    def _restore(node: Node, before: tuple[bytes, int, int]) -> None:
        node.data, node.version, node.mzxid = before

    @staticmethod
    def _check(node: Node, path: str, version: int) -> None:
        if version not in (ANY_VERSION, node.version):
            raise kz.BadVersionError(f"{path} has version {node.version}, not {version}")

    # -- watches

    def watch(self, kind: str, path: str, callback: Callable[[], None]) -> None:
        """Fires once, at the next change of `kind` ("data" or "children")."""
        self._watch_numbers += 1
        self._watches.setdefault((kind, path), {})[self._watch_numbers] = callback
