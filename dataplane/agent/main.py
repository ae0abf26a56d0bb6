"""Runs a host agent until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dataplane.agent.data_dirs import DataDirError, extra_from
from dataplane.agent.ensemble import EnsembleError
from dataplane.agent.host_agent import HostAgent, HostSettings
from dataplane.agent.host_lock import HostLock
from dataplane.agent.incarnation import IncarnationError
from dataplane.agent.secrets import SecretError, Unsealer
from dataplane.agent.spec import chroot_of
from dataplane.agent.versions import VersionError, Versions
from dataplane.agent.zookeeper import AgentZooKeeper, read_access
from dataplane.ports.coordinator import CoordinatorError
from dataplane.runtime.host_addresses import beside_loopback
from zookeeper_access.identity import is_connect_string, plain_connect_string
from zookeeper_access.settings import AccessError, ZooKeeperAccess

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator
    from zookeeper_access.settings import Login

log = logging.getLogger("dataplane.agent")

EXIT_FAILED, EXIT_BAD_ARGUMENTS = 1, 2
LOOPBACK = "127.0.0.1"
LABELS_MAX = 20
VERSIONS_VARIABLE = "PENSTOCK_VERSIONS_DIR"
LABELS_VARIABLE = "PENSTOCK_HOST_LABELS"
DATA_DIRS_VARIABLE = "PENSTOCK_EXTRA_DATA_DIRS"
_LABEL_KEY = re.compile(r"[a-z0-9](?:[a-z0-9._/-]{0,61}[a-z0-9])?")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._ :/-]{0,61}[A-Za-z0-9])?")
ADDRESSES_SHOWN = 4


class AgentSession(Protocol):
    """A session with ZooKeeper, besides what a Coordinator asks of it."""

    async def authenticate(self, login: Login) -> None:
        """Act as `login` too. Raises CoordinatorError."""
        ...

    async def close(self) -> None: ...


Connect = Callable[[str, ZooKeeperAccess], Awaitable["tuple[Coordinator, AgentSession]"]]
"""Opens a session with ZooKeeper at a connect string."""


class ArgumentsError(Exception):
    """One line about what is wrong with the command line."""


def run(
    options: argparse.Namespace,
    *,
    connect: Connect,
    clock: Clock,
    preexec: Callable[[], None] | None = None,
) -> int:
    """Exit code 0, 1 (failed) or 2 (bad arguments)."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("kazoo").setLevel(logging.WARNING)
    try:
        settings = settings_from(options)
        versions = Versions(_versions_dir(options))
        unsealer = Unsealer(Path(options.key_file))
        access, connection = read_access(options.zookeeper_config)

        async def open_session() -> tuple[HostAgent, AgentSession]:
            coordinator, session = await connect(settings.zookeeper, access)
            chroot = chroot_of(settings.zookeeper)
            has_login = bool(access.sasl or access.identity)
            zookeeper = (
                AgentZooKeeper(connection, session.authenticate, chroot=chroot)
                if has_login
                else AgentZooKeeper(chroot=chroot)
            )
            agent = HostAgent(
                settings,
                coordinator,
                clock=clock,
                unseal=unsealer,
                zookeeper=zookeeper,
                preexec=preexec,
                versions=versions,
            )
            return agent, session

        with _only_agent_of(settings.data_dir), _locks_of(settings.extra_dirs.values()):
            return asyncio.run(_serve(options, settings, open_session))
    except (
        *(ArgumentsError, IncarnationError, EnsembleError),
        *(SecretError, AccessError, VersionError),
    ) as error:
        sys.stderr.write(f"penstock agent: {error}\n")
        return EXIT_BAD_ARGUMENTS
    except (CoordinatorError, OSError) as error:
        sys.stderr.write(f"penstock agent: {error}\n")
        return EXIT_FAILED


def settings_from(
    options: argparse.Namespace, *, addresses: Callable[[], Sequence[str]] = beside_loopback
) -> HostSettings:
    """Raises ArgumentsError.

    Args:
        options: the command line.
        addresses: those that this host has beside loopback.
    """
    low, dash, high = options.port_range.partition("-")
    if not (dash and low.isdigit() and high.isdigit() and 0 < int(low) <= int(high) < 65_536):
        raise ArgumentsError(f"--port-range {options.port_range}: expected LOW-HIGH")
    if not options.host_id or "/" in options.host_id or options.host_id.startswith("."):
        raise ArgumentsError(f"--host-id {options.host_id}: expected a plain name")
    address = options.address
    if address is None:
        if others := addresses():
            raise ArgumentsError(
                "--address: say where clients and other brokers reach this host;"
                f" it has {', '.join(others[:ADDRESSES_SHOWN])}"
            )
        address = LOOPBACK
    data_dir = Path(options.data_dir).absolute()
    try:
        extra = extra_from(
            getattr(options, "extra_data_dir", None) or _listed(DATA_DIRS_VARIABLE), main=data_dir
        )
    except DataDirError as error:
        raise ArgumentsError(f"--extra-data-dir: {error}") from error
    renewed = tuple(getattr(options, "replace_data_dir", None) or ())
    if unknown := sorted(set(renewed) - extra.keys()):
        raise ArgumentsError(f"--replace-data-dir {unknown[0]}: no such --extra-data-dir")
    return HostSettings(
        host_id=options.host_id,
        data_dir=data_dir,
        rack=options.rack or options.host_id,
        address=address,
        port_range=(int(low), int(high)),
        replaces_host=bool(getattr(options, "replace_host", False)),
        labels=labels_from(getattr(options, "label", None) or _listed(LABELS_VARIABLE)),
        extra_dirs=extra,
        renewed_dirs=renewed,
        zookeeper=connect_string(options.zookeeper),
        adopts_ensemble=bool(getattr(options, "adopt_ensemble", False)),
    )


def connect_string(given: str) -> str:
    """As it is compared: without blanks. Raises ArgumentsError."""
    text = plain_connect_string(given)
    if not is_connect_string(text):
        raise ArgumentsError(f"--zookeeper {given[:130]}: expected HOST:PORT[,…][/chroot]")
    return text


def _versions_dir(options: argparse.Namespace) -> Path | None:
    """Raises ArgumentsError."""
    given = getattr(options, "versions", None) or os.environ.get(VERSIONS_VARIABLE)
    if not given:
        return None
    found = Path(given).absolute()
    if not found.is_dir():
        raise ArgumentsError(f"--versions {given}: no such directory")
    return found


def _listed(variable: str) -> list[str]:
    """`key=value,…` of a settings file, for who has no say in the command line."""
    return [text.strip() for text in os.environ.get(variable, "").split(",") if text.strip()]


def labels_from(given: Sequence[str]) -> dict[str, str]:
    """`key=value` each. Raises ArgumentsError."""
    labels = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (equals and _LABEL_KEY.fullmatch(key) and _LABEL_VALUE.fullmatch(value)):
            raise ArgumentsError(
                f"--label {text[:130]}: expected key=value, the key of a-z 0-9 . _ / -, the value"
                " also with capitals, colons and spaces, each of at most 63 characters"
            )
        labels[key] = value
    if len(labels) > LABELS_MAX:
        raise ArgumentsError(f"--label: at most {LABELS_MAX}")
    return labels


@contextlib.contextmanager
def _only_agent_of(data_dir: Path) -> Iterator[None]:
    """Two agents on one data directory would fight over its brokers."""
    data_dir.mkdir(parents=True, exist_ok=True)
    lock = HostLock(data_dir)
    if not lock.take():
        raise ArgumentsError(f"another agent runs on {data_dir}")
    with contextlib.closing(lock):
        lock.sign()
        yield


@contextlib.contextmanager
def _locks_of(directories: Iterable[Path]) -> Iterator[None]:
    """One that cannot be locked because its disk is away keeps no agent from the others."""
    with contextlib.ExitStack() as locks:
        for directory in directories:
            with contextlib.suppress(OSError):
                lock = locks.enter_context(contextlib.closing(HostLock(directory)))
                if not lock.take():
                    raise ArgumentsError(f"another agent runs on {directory}")
                lock.sign()
        yield


async def _serve(
    options: argparse.Namespace,
    settings: HostSettings,
    open_session: Callable[[], Awaitable[tuple[HostAgent, AgentSession]]],
) -> int:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    keep_brokers = bool(getattr(options, "keep_brokers", False))

    def stop_all() -> None:
        nonlocal keep_brokers
        keep_brokers = False
        stopping.set()

    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    loop.add_signal_handler(signal.SIGINT, stop_all)
    agent, session = await open_session()
    try:
        await agent.start()
        agent.replaced.add_done_callback(lambda _: stopping.set())
        await stopping.wait()
        if agent.replaced.done():
            # Its brokers are another host's now, and must not run twice. Of another ZooKeeper
            # nothing is believed: what runs goes on.
            keep_brokers = isinstance(agent.replaced.result(), EnsembleError)
            raise agent.replaced.result()
    finally:
        kept = "leaving" if keep_brokers else "stopping"
        log.info("%s the brokers of host %s", kept, settings.host_id)
        await agent.stop(keep_brokers=keep_brokers)
        await session.close()
    return 0
