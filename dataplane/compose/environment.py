"""What one broker stands on: this machine, or a simulated one."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Protocol

from dataplane.ports.background import Background, Pacer
from dataplane.ports.coordinator import Coordinator

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

    from dataplane.config import BrokerConfig
    from dataplane.ports.clock import Clock
    from dataplane.ports.entropy import Entropy
    from dataplane.ports.filesystem import FileSystem
    from zookeeper_access.settings import ZooKeeperAccess


class ClosableCoordinator(Coordinator, Protocol):
    """A coordinator whose session can be ended, and whose requests are timed."""

    async def close(self) -> None: ...

    def on_answer(self, callback: Callable[[float], object]) -> None:
        """`callback(seconds)` runs on the loop after each request."""
        ...


class ClosableBackground(Background, Protocol):
    """Background work that can be brought to its end."""

    def close(self) -> None:
        """Finish what was submitted; afterwards nothing more may be."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Everything that a broker takes from outside but its configuration and its event loop.

    `bind(listener name, host, port)` gives a bound socket for the loop's `create_server`.
    `connect(config)` opens a coordinator's session, or raises CoordinatorError.
    """

    clock: Clock
    entropy: Entropy
    files: FileSystem
    process_id: int
    background: Callable[[], ClosableBackground]
    bind: Callable[[str, str, int], socket.socket]
    connect: Callable[[BrokerConfig], Awaitable[ClosableCoordinator]]
    pacer: Pacer | None = None
    """Holds compaction back; without one it works as fast as it can."""


def of_this_machine() -> Environment:
    """The real clock, files, threads, sockets and ZooKeeper."""
    import asyncio

    from dataplane.runtime.os_clock import OsClock
    from dataplane.runtime.os_entropy import OsEntropy
    from dataplane.runtime.os_filesystem import OsFileSystem
    from dataplane.runtime.thread_background import ThreadBackground
    from dataplane.runtime.thread_pacer import ThreadPacer
    from dataplane.server.socket_binding import bind

    return Environment(
        clock=OsClock(),
        entropy=OsEntropy(),
        files=OsFileSystem(),
        process_id=os.getpid(),
        background=lambda: ThreadBackground(asyncio.get_running_loop()),
        bind=bind,
        connect=_connect,
        pacer=ThreadPacer(),
    )


async def _connect(config: BrokerConfig) -> ClosableCoordinator:
    from dataplane.runtime.zookeeper import ZooKeeperCoordinator

    session_ms = config.get_int("zookeeper.session.timeout.ms")
    connect_ms = config["zookeeper.connection.timeout.ms"]
    return await ZooKeeperCoordinator.connect(
        config.require("zookeeper.connect"),
        session_timeout_ms=session_ms,
        connect_timeout_ms=connect_ms if isinstance(connect_ms, int) else session_ms,
        access=zookeeper_access(config),
    )


def zookeeper_access(config: BrokerConfig) -> ZooKeeperAccess:
    """How the broker logs in to ZooKeeper. Raises ConfigError, which shows no secret."""
    from dataplane.config import BROKER_CONFIGS, ConfigError
    from zookeeper_access.settings import AccessError, ZooKeeperAccess

    try:
        return ZooKeeperAccess.parse(config.static)
    except AccessError as error:
        key = BROKER_CONFIGS[error.key]
        shown = "[hidden]" if key.is_sensitive else config.static.get(error.key, "null")
        raise ConfigError(error.key, shown, error.reason) from error
