"""What the core asks of the coordination service: ZooKeeper's verbs, as coroutines.

Paths are absolute within the cluster's chroot. Watches are level-triggered: a callback first gets
the present value, then the newest one after every change; changes in between may be skipped.
Callbacks run on the event loop and must not block.

Reads wait out a lost connection. A write whose answer was lost raises `ConnectionLossError`: it
may or may not have happened, and the caller has to read the truth again.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

ANY_VERSION = -1


class SessionState(enum.Enum):
    """CONNECTED; SUSPENDED = not connected, ephemerals may still live; EXPIRED = they are gone."""

    CONNECTED = "connected"
    SUSPENDED = "suspended"
    EXPIRED = "expired"


@dataclasses.dataclass(frozen=True, slots=True)
class NodeStat:
    """What ZooKeeper knows of a node.

    `czxid` is the id of the transaction that created it, unique in the ensemble's life. `version`
    counts changes of its data from 0. `ephemeral_owner` is a session id, or 0 when persistent.
    """

    version: int
    czxid: int
    mzxid: int
    ephemeral_owner: int
    ctime_ms: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Create:
    """Create a node; its parent must exist."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class SetData:
    """Replace a node's data if its version is `version` (or -1: any)."""

    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclasses.dataclass(frozen=True, slots=True)
class Delete:
    """Delete a childless node if its version is `version` (or -1: any)."""

    path: str
    version: int = ANY_VERSION


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """Fail the whole multi unless the node's version is `version`."""

    path: str
    version: int


@dataclasses.dataclass(frozen=True, slots=True)
class Get:
    """Read a node. A multi of reads holds nothing else, and is not one moment's picture."""

    path: str


Op: TypeAlias = Create | SetData | Delete | Check
OpResult: TypeAlias = str | NodeStat | tuple[bytes, NodeStat] | None
"""Create → the path made; SetData → the new stat; Get → data and stat, or None where there is no
node; Delete and Check → None."""


class CoordinatorError(Exception):
    """The service refused. `failed_index` is the refused operation's place in a multi, or -1."""

    def __init__(self, message: str = "", *, failed_index: int = -1) -> None:
        super().__init__(message)
        self.failed_index = failed_index


class NoNodeError(CoordinatorError):
    """The node, or the parent of a node to create, does not exist."""


class NodeExistsError(CoordinatorError):
    """The node to create exists already."""


class BadVersionError(CoordinatorError):
    """The node's version is not the expected one."""


class NotEmptyError(CoordinatorError):
    """The node to delete has children."""


class NotAuthorizedError(CoordinatorError):
    """The node's ACL, or the service itself, does not let this session do that."""


class SessionExpiredError(CoordinatorError):
    """The session is gone, and every ephemeral node with it; nothing was done."""


class ConnectionLossError(CoordinatorError):
    """The answer was lost: whether the write happened is unknown."""


ChildrenCallback: TypeAlias = Callable[[list[str]], None]
DataCallback: TypeAlias = Callable[[bytes | None, NodeStat | None], None]
SessionCallback: TypeAlias = Callable[[SessionState], None]


class Watch(Protocol):
    """A watch that stays until it is cancelled, unlike ZooKeeper's one-shot ones."""

    def cancel(self) -> None:
        """No callback runs after this returns."""
        ...


class Coordinator(Protocol):
    """One session with ZooKeeper.

    Not in this contract: connecting, closing, and renewing an expired session. An implementation
    opens a new session by itself and reports EXPIRED, then CONNECTED; watches survive.
    """

    @property
    def session_id(self) -> int:
        """The present session's id; changes when an expired session is replaced."""
        ...

    async def get(self, path: str) -> tuple[bytes, NodeStat]:
        """Raises NoNodeError."""
        ...

    async def exists(self, path: str) -> NodeStat | None: ...

    async def children(self, path: str) -> list[str]:
        """Names, in no order. Raises NoNodeError."""
        ...

    async def create(
        self,
        path: str,
        data: bytes = b"",
        *,
        ephemeral: bool = False,
        sequential: bool = False,
        make_parents: bool = False,
    ) -> tuple[str, NodeStat]:
        """Raises NodeExistsError; NoNodeError when the parent is missing."""
        ...

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> NodeStat:
        """Raises NoNodeError, BadVersionError."""
        ...

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Raises NoNodeError, BadVersionError, NotEmptyError."""
        ...

    async def multi(self, ops: Sequence[Op | Get]) -> list[OpResult]:
        """Writes: all or nothing; raises the first refused operation's error with `failed_index`.

        Reads: many for the price of one, needs ZooKeeper 3.6.
        """
        ...

    def watch_children(self, path: str, callback: ChildrenCallback) -> Watch:
        """`[]` while the node does not exist."""
        ...

    def watch_data(self, path: str, callback: DataCallback) -> Watch:
        """`(None, None)` while the node does not exist."""
        ...

    def on_session(self, callback: SessionCallback) -> None:
        """Runs at every change of the session's state, in order."""
        ...
