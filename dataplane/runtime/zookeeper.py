"""ZooKeeper by kazoo, bridged to asyncio.

kazoo runs its own threads. Every call here hands a request to kazoo's queue without waiting, and
kazoo's completion thread hands the answer back to the loop, so the loop never blocks on the
network and many requests travel at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import TYPE_CHECKING, Any, Self

from kazoo import exceptions as kz
from kazoo.client import KazooClient, KazooState
from kazoo.retry import KazooRetry

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
    NotAuthorizedError,
    NotEmptyError,
    Op,
    OpResult,
    SessionCallback,
    SessionExpiredError,
    SessionState,
    SetData,
)
from dataplane.runtime.zookeeper_multi_read import MultiRead
from dataplane.runtime.zookeeper_watch import ChildrenWatch, DataWatch
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import AccessError, ZooKeeperAccess

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from zookeeper_access.settings import Login

log = logging.getLogger(__name__)

_ERRORS: tuple[tuple[type[Exception], type[CoordinatorError]], ...] = (
    (kz.NoNodeError, NoNodeError),
    (kz.NodeExistsError, NodeExistsError),
    (kz.BadVersionError, BadVersionError),
    (kz.NotEmptyError, NotEmptyError),
    (kz.NoAuthError, NotAuthorizedError),
    (kz.AuthFailedError, NotAuthorizedError),
    (kz.InvalidACLError, NotAuthorizedError),
    (kz.SessionClosedRequireSaslError, NotAuthorizedError),
    (kz.SessionExpiredError, SessionExpiredError),
    (kz.ConnectionClosedError, ConnectionLossError),
    (kz.ConnectionLoss, ConnectionLossError),
)
EARLY = 0.05
"""A server ends a session at the first of its ticks after the timeout, so that of a silent client
would outlive it by up to `tickTime` (`ExpiryQueue`). Asked for this part less, it does not where a
tick is no longer than that."""
_STATES = {
    KazooState.CONNECTED: SessionState.CONNECTED,
    KazooState.SUSPENDED: SessionState.SUSPENDED,
    KazooState.LOST: SessionState.EXPIRED,
}


def translate(error: BaseException, failed_index: int = -1) -> CoordinatorError:
    """The port's error for one of kazoo."""
    for theirs, ours in _ERRORS:
        if isinstance(error, theirs):
            return ours(str(error) or type(error).__name__, failed_index=failed_index)
    return CoordinatorError(f"{type(error).__name__}: {error}", failed_index=failed_index)


def asked_timeout_s(session_timeout_ms: int) -> float:
    """What to ask for, so that the session of a silent client ends within the timeout."""
    return session_timeout_ms * (1 - EARLY) / 1000


def node_stat(stat: Any) -> NodeStat:
    """The port's stat for one of kazoo."""
    return NodeStat(stat.version, stat.czxid, stat.mzxid, stat.ephemeralOwner, ctime_ms=stat.ctime)


class ZooKeeperCoordinator:
    """One session with an ensemble. Implements `dataplane.ports.coordinator.Coordinator`."""

    def __init__(self, client: KazooClient, loop: asyncio.AbstractEventLoop) -> None:
        self._client = client
        self._loop = loop
        self._connected = asyncio.Event()
        self._connected.set()
        self._closed = False
        self._listeners: list[SessionCallback] = []
        self._watches: dict[ChildrenWatch | DataWatch, None] = {}
        self._on_answer: Callable[[float], object] = lambda _seconds: None
        client.add_listener(self._on_kazoo_state)

    @classmethod
    async def connect(
        cls,
        connect_string: str,
        *,
        session_timeout_ms: int = 18_000,
        connect_timeout_ms: int = 15_000,
        access: ZooKeeperAccess | None = None,
        makes_chroot: bool = True,
    ) -> Self:
        """Open a session at `host:port,host:port/chroot`, creating the chroot when it is missing.

        A session that is not heard of for `session_timeout_ms` has ended (`asked_timeout_s`).
        Without `makes_chroot` it is not looked at: it is another's, who lets us in further below.

        Raises CoordinatorError when no server answers within `connect_timeout_ms`, and its subclass
        NotAuthorizedError when the servers do not take `access` for a login.
        """
        # kazoo would warn about a chroot that does not exist yet: it is set after it was made.
        hosts, _, chroot = connect_string.partition("/")
        try:
            client = AccessClient(
                hosts,
                access or ZooKeeperAccess(),
                timeout=asked_timeout_s(session_timeout_ms),
                # Reconnects go on for ever, 0.05 s to 1 s apart.
                connection_retry=KazooRetry(
                    max_tries=-1, delay=0.05, max_delay=1.0, ignore_expire=False
                ),
                logger=logging.getLogger("kazoo.client"),
            )
        except AccessError as error:
            raise CoordinatorError(str(error)) from error
        try:
            await asyncio.to_thread(_start, client, connect_timeout_ms / 1000)
        except Exception as error:
            await asyncio.to_thread(_dispose, client)
            if client.refusal:
                raise NotAuthorizedError(client.refusal) from error
            if isinstance(error, kz.SessionClosedRequireSaslError):
                raise NotAuthorizedError(
                    f"ZooKeeper at {hosts} asks for a login, and none is configured"
                ) from error
            raise CoordinatorError(
                f"no ZooKeeper server answered at {connect_string} within {connect_timeout_ms} ms"
            ) from error
        coordinator = cls(client, asyncio.get_running_loop())
        if chroot.strip("/"):
            root = "/" + chroot.strip("/")
            try:
                if makes_chroot:
                    await coordinator._make_persistent(root)
            except CoordinatorError as error:
                await coordinator.close()
                if isinstance(error, NotAuthorizedError):
                    why = f"ZooKeeper gives this login no right to {root}"
                    raise NotAuthorizedError(why) from error
                raise
            client.chroot = root
        return coordinator

    async def close(self) -> None:
        """End the session at once, so that its ephemeral nodes vanish now."""
        self._closed = True
        for watch in list(self._watches):
            watch.cancel()
        await asyncio.to_thread(_dispose, self._client)

    async def authenticate(self, login: Login) -> None:
        """Act as `login` too, from now on and after every reconnect. Raises CoordinatorError.

        Without a connection it counts from the next one on, before anything else is asked there.
        """
        self._client.remember(login)
        if self._connected.is_set():
            with contextlib.suppress(ConnectionLossError, SessionExpiredError):
                await self._await(self._client.authenticate(login))

    @property
    def session_id(self) -> int:
        identity = self._client.client_id
        return int(identity[0]) if identity and identity[0] else 0

    def is_closed(self) -> bool:
        return self._closed

    # -- session --------------------------------------------------------------------------------

    def on_session(self, callback: SessionCallback) -> None:
        self._listeners.append(callback)

    def on_answer(self, callback: Callable[[float], object]) -> None:
        """`callback(seconds)` runs on the loop after each request, with how long it took."""
        self._on_answer = callback

    def _on_kazoo_state(self, state: str) -> None:
        """Runs in kazoo's thread."""
        if not self._closed:
            self.call_soon(self._announce, _STATES[state])

    def call_soon(self, function: Callable[..., object], *arguments: object) -> None:
        """From any thread: run on the loop, unless the loop has ended."""
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            log.debug("the event loop has ended before a ZooKeeper answer arrived")

    def _announce(self, state: SessionState) -> None:
        log.info("ZooKeeper session is %s", state.value)
        if state is SessionState.CONNECTED:
            self._connected.set()
        else:
            self._connected.clear()
        for listener in self._listeners:
            listener(state)

    # -- reads ----------------------------------------------------------------------------------

    async def get(self, path: str) -> tuple[bytes, NodeStat]:
        return await self.get_watched(path, None)

    async def get_watched(
        self, path: str, watch: Callable[[Any], None] | None
    ) -> tuple[bytes, NodeStat]:
        """Also arms a one-shot kazoo watch, which runs in kazoo's thread."""
        data, stat = await self._read(lambda: self._client.get_async(path, watch=watch))
        return data, node_stat(stat)

    async def exists(self, path: str) -> NodeStat | None:
        return await self.exists_watched(path, None)

    async def exists_watched(
        self, path: str, watch: Callable[[Any], None] | None
    ) -> NodeStat | None:
        stat = await self._read(lambda: self._client.exists_async(path, watch=watch))
        return node_stat(stat) if stat is not None else None

    async def children(self, path: str) -> list[str]:
        return await self.children_watched(path, None)

    async def children_watched(self, path: str, watch: Callable[[Any], None] | None) -> list[str]:
        names = await self._read(lambda: self._client.get_children_async(path, watch=watch))
        return list(names)

    async def _read(self, send: Callable[[], Any]) -> Any:
        """Reads are repeatable, so a lost connection or session only means waiting."""
        while True:
            try:
                return await self._await(send())
            except (ConnectionLossError, SessionExpiredError):
                if self._closed:
                    raise
            await asyncio.sleep(0.01)
            await self._connected.wait()

    # -- writes ---------------------------------------------------------------------------------

    async def create(
        self,
        path: str,
        data: bytes = b"",
        *,
        ephemeral: bool = False,
        sequential: bool = False,
        make_parents: bool = False,
    ) -> tuple[str, NodeStat]:
        if make_parents:
            await self._make_persistent(path.rsplit("/", 1)[0])
        made, stat = await self._await(
            self._client.create_async(
                path, data, ephemeral=ephemeral, sequence=sequential, include_data=True
            )
        )
        return made, node_stat(stat)

    async def _make_persistent(self, path: str) -> None:
        parts = [part for part in path.split("/") if part]
        if not parts or await self.exists(path) is not None:
            return
        for depth in range(1, len(parts) + 1):
            try:
                await self._await(self._client.create_async("/" + "/".join(parts[:depth])))
            except NodeExistsError:
                continue

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> NodeStat:
        return node_stat(await self._await(self._client.set_async(path, data, version)))

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        await self._await(self._client.delete_async(path, version))

    async def multi(self, ops: Sequence[Op | Get]) -> list[OpResult]:
        if ops and isinstance(ops[0], Get):
            return await self._multi_read(ops)
        request = self._client.transaction()
        for op in ops:
            match op:
                case Create(path, data, ephemeral, sequential):
                    request.create(path, data, ephemeral=ephemeral, sequence=sequential)
                case SetData(path, data, version):
                    request.set_data(path, data, version)
                case Delete(path, version):
                    request.delete(path, version)
                case Check(path, version):
                    request.check(path, version)
        answers = await self._await(request.commit_async())
        for index, answer in enumerate(answers):
            # kazoo puts RolledBack before the refused operation, RuntimeInconsistency after.
            if isinstance(answer, Exception) and not isinstance(
                answer, kz.RolledBackError | kz.RuntimeInconsistency
            ):
                refused = getattr(ops[index], "path", "")
                raise translate(type(answer)(refused), failed_index=index)
        return [_op_result(op, answer) for op, answer in zip(ops, answers, strict=True)]

    async def _multi_read(self, reads: Sequence[Op | Get]) -> list[OpResult]:
        if not all(isinstance(read, Get) for read in reads):
            raise ValueError("reads and writes do not mix in a multi")
        request = MultiRead(tuple(f"{self._client.chroot}{read.path}" for read in reads))

        def send() -> Any:
            result = self._client.handler.async_result()
            # kazoo has no public way to send a request that it does not know.
            self._client._call(request, result)  # noqa: SLF001 - see above
            return result

        return list(await self._read(send))

    def _await(self, result: Any) -> Awaitable[Any]:
        """A future for kazoo's asynchronous result."""
        future: asyncio.Future[Any] = self._loop.create_future()
        sent_s = self._loop.time()

        def settle(error: BaseException | None, value: Any) -> None:
            self._on_answer(self._loop.time() - sent_s)
            if future.done():
                return
            if error is not None:
                future.set_exception(translate(error))
            else:
                future.set_result(value)

        def completed(done: Any) -> None:  # in kazoo's completion thread
            self.call_soon(settle, done.exception, done.value if done.successful() else None)

        result.rawlink(completed)
        return future

    # -- watches --------------------------------------------------------------------------------

    def _forget_watch(self, watch: ChildrenWatch | DataWatch) -> None:
        self._watches.pop(watch, None)

    def watch_children(self, path: str, callback: ChildrenCallback) -> ChildrenWatch:
        watch = ChildrenWatch(self, path, callback, on_cancel=self._forget_watch)
        self._watches[watch] = None
        return watch

    def watch_data(self, path: str, callback: DataCallback) -> DataWatch:
        watch = DataWatch(self, path, callback, on_cancel=self._forget_watch)
        self._watches[watch] = None
        return watch


def _op_result(op: Op | Get, answer: Any) -> OpResult:
    match op:
        case Create():
            return str(answer)
        case SetData():
            return node_stat(answer)
        case _:
            return None


def _start(client: AccessClient, timeout_s: float) -> None:
    """Blocking: a session counts once the servers have done something for it.

    kazoo calls itself connected before it logs in.
    """
    deadline_s = time.monotonic() + timeout_s
    client.start(timeout_s)
    while True:
        try:
            client.exists_async("/").get(timeout=max(0.01, deadline_s - time.monotonic()))
        except (kz.ConnectionLoss, kz.SessionExpiredError):
            if client.refusal or time.monotonic() > deadline_s:
                raise
            time.sleep(0.01)
        except kz.NoAuthError:
            return  # let in, though not to that node
        else:
            return


def _dispose(client: KazooClient) -> None:
    """Blocking: end the session and kazoo's threads."""
    client.stop()
    client.close()
