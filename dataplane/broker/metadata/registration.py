"""This broker's place in ZooKeeper: /brokers/ids/N, for as long as its session lives.

Before registering, the session id is written to a file in the first log directory. The supervisor
that started this process reads it when the process has died, and removes what that session left
in ZooKeeper (DESIGN decision 14), so that nobody waits for the session timeout.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from typing import TYPE_CHECKING

from dataplane.broker.metadata.own_nodes import delete_own_node
from dataplane.cluster import znodes
from dataplane.cluster.session_file import SESSION_FILE, encode_session
from dataplane.config.release import VERSION
from dataplane.ports.coordinator import (
    ConnectionLossError,
    CoordinatorError,
    NodeExistsError,
    NoNodeError,
    SessionExpiredError,
    SessionState,
)
from dataplane.ports.filesystem import replace_whole

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dataplane.cluster.image import BrokerInfo
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator, NodeStat, Watch
    from dataplane.ports.entropy import Entropy
    from dataplane.ports.filesystem import FileSystem

log = logging.getLogger(__name__)

RETRY_MS = 100


class RegistrationError(Exception):
    """This broker id is in use by another live broker, or this broker may not register."""


async def ensure_layout(coordinator: Coordinator) -> None:
    """Make the persistent nodes that every broker relies on."""
    missing = await asyncio.gather(*(_is_missing(coordinator, p) for p in znodes.PERSISTENT_PATHS))
    for path, absent in zip(znodes.PERSISTENT_PATHS, missing, strict=True):
        if absent:
            try:
                await coordinator.create(path, make_parents=True)
            except NodeExistsError:
                continue  # another broker starts at the same time


async def _is_missing(coordinator: Coordinator, path: str) -> bool:
    return await coordinator.exists(path) is None


async def ensure_cluster_id(coordinator: Coordinator, entropy: Entropy) -> str:
    """The cluster's id; the first broker draws it, in Kafka's spelling (base64 of a UUID)."""
    try:
        data, _ = await coordinator.get(znodes.CLUSTER_ID)
    except NoNodeError:
        drawn = base64.urlsafe_b64encode(entropy.uuid4().bytes).rstrip(b"=").decode()
        try:
            await coordinator.create(
                znodes.CLUSTER_ID, znodes.encode_cluster_id(drawn), make_parents=True
            )
        except NodeExistsError:
            data, _ = await coordinator.get(znodes.CLUSTER_ID)
        else:
            return drawn
    return znodes.decode_cluster_id(data)


async def epoch_floor(coordinator: Coordinator) -> int:
    """A broker epoch above that of every earlier registration and below every later one.

    Until it has registered a broker goes by this one: a controller that still holds its earlier
    life for alive must not give roles to a process that may have lost what that one had.
    """
    while True:
        try:
            stat = await coordinator.set(znodes.BROKER_SEQUENCE, b"")
        except (ConnectionLossError, SessionExpiredError):
            await asyncio.sleep(RETRY_MS / 1000)
        else:
            return stat.mzxid


class Registration:
    """Registers at start, and again when an expired session has been replaced or the node is gone.

    A live broker's node may be removed: a fence of its earlier life that was late, or somebody's
    hand. It is as good as dead then, and comes back with another epoch.

    `epoch` is the creation id (czxid) of the present registration, -1 before the first.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        broker: BrokerInfo,
        *,
        clock: Clock,
        files: FileSystem,
        log_dir: str,
        process_id: int,
        session_timeout_ms: int = 18_000,
        on_registered: Callable[[int], None] | None = None,
        check: Callable[[], Awaitable[None]] | None = None,
        protocol: str = "",
    ) -> None:
        """`check` raises RegistrationError while the broker may not register; `protocol` is what it
        sends other brokers by, which its supervisor is told.
        """
        self.epoch = -1
        self._check = check
        self._coordinator = coordinator
        self._broker = broker
        self._clock = clock
        self._files = files
        self._log_dir = log_dir
        self._process_id = process_id
        self._protocol = protocol
        self._session_timeout_ms = session_timeout_ms
        self._on_registered = on_registered
        self._expired = False
        self._stopped = False
        self._task: asyncio.Task[None] | None = None
        self._watch: Watch | None = None

    async def wait_until_free(self) -> None:
        """Until nothing is registered under this id, as an earlier life's session ends.

        Raises RegistrationError when the id is taken.
        """
        path = znodes.broker_path(self._broker.id)
        deadline_ms = self._deadline_ms()
        while True:
            try:
                present = await self._coordinator.exists(path)
            except (ConnectionLossError, SessionExpiredError):
                await asyncio.sleep(RETRY_MS / 1000)
                continue
            if present is None or present.ephemeral_owner == self._coordinator.session_id:
                return
            await self._wait_until_gone(path, deadline_ms)

    def _deadline_ms(self) -> int:
        return self._clock.monotonic_ms() + self._session_timeout_ms * 2

    async def start(self) -> int:
        """Register and return the broker epoch. Raises RegistrationError when the id is taken."""
        self._coordinator.on_session(self._on_session)
        await self._register()
        return self.epoch

    async def stop(self) -> None:
        """Give the place up now, before the session is closed."""
        self._stopped = True
        if self._watch is not None:
            self._watch.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await delete_own_node(self._coordinator, znodes.broker_path(self._broker.id))

    def _on_session(self, state: SessionState) -> None:
        if state is SessionState.EXPIRED:
            self._expired = True
        elif state is SessionState.CONNECTED and self._expired and not self._stopped:
            self._expired = False
            self._begin_again("the ZooKeeper session expired")

    def _watch_own(self, path: str) -> None:
        """Set for each registration: it then reports one that is gone before it was seen, too."""
        if self._watch is not None:
            self._watch.cancel()
        self._watch = self._coordinator.watch_data(path, self._on_own_node)

    def _on_own_node(self, data: bytes | None, _stat: NodeStat | None) -> None:
        if data is None and not self._stopped and not self._expired:
            self._begin_again("the registration was removed")

    def _begin_again(self, reason: str) -> None:
        if self._task is None or self._task.done():
            log.warning("%s: registering broker %d again", reason, self._broker.id)
            self._task = asyncio.get_running_loop().create_task(self._register_again())

    async def _register_again(self) -> None:
        while not self._stopped:
            try:
                await self._register()
            except (CoordinatorError, RegistrationError) as error:
                log.warning("registration failed: %s", error)
                await asyncio.sleep(RETRY_MS / 1000)
            else:
                return

    async def _register(self) -> None:
        path = znodes.broker_path(self._broker.id)
        deadline_ms = self._deadline_ms()
        while True:
            if self._check is not None:
                await self._check()
            session_id = self._coordinator.session_id
            self._write_session_file(session_id)
            data = znodes.encode_broker(self._broker, timestamp_ms=self._clock.realtime_ms())
            try:
                _, stat = await self._coordinator.create(path, data, ephemeral=True)
            except (ConnectionLossError, SessionExpiredError):
                await asyncio.sleep(RETRY_MS / 1000)
                continue  # if it did happen, the next round finds our own node
            except NodeExistsError:
                present = await self._coordinator.exists(path)
                if present is None:
                    continue
                if present.ephemeral_owner != self._coordinator.session_id:
                    await self._wait_until_gone(path, deadline_ms)
                    continue
                stat = present
            self.epoch = stat.czxid
            self._watch_own(path)
            log.info("registered broker %d with epoch %d", self._broker.id, self.epoch)
            if self._on_registered is not None:
                self._on_registered(self.epoch)
            return

    async def _wait_until_gone(self, path: str, deadline_ms: int) -> None:
        """A node of an earlier life of this broker vanishes with its session; another's stays."""
        left_ms = deadline_ms - self._clock.monotonic_ms()
        gone = asyncio.Event()

        def look(data: bytes | None, _stat: NodeStat | None) -> None:
            if data is None:
                gone.set()

        watch = self._coordinator.watch_data(path, look)
        try:
            async with asyncio.timeout(max(0, left_ms) / 1000):
                await gone.wait()
        except TimeoutError:
            raise RegistrationError(
                f"broker id {self._broker.id} is registered by another live broker"
            ) from None
        finally:
            watch.cancel()

    def _write_session_file(self, session_id: int) -> None:
        content = encode_session(
            self._process_id, session_id, software=VERSION, protocol=self._protocol
        )
        path = f"{self._log_dir}/{SESSION_FILE}"
        try:
            self._files.make_dirs(self._log_dir)
            # After a power cut there is no process to fence in a hurry: no need to sync.
            replace_whole(self._files, path, content, sync=False)
        except OSError as error:
            log.warning("the supervisor will not be able to fence this broker: %s", error)
