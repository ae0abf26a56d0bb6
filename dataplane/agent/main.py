"""Runs a host agent until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dataplane.agent.host_agent import HostAgent, HostSettings
from dataplane.agent.secrets import SecretError, Unsealer
from dataplane.ports.coordinator import CoordinatorError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator

log = logging.getLogger("dataplane.agent")

EXIT_FAILED, EXIT_BAD_ARGUMENTS = 1, 2


class Closable(Protocol):
    async def close(self) -> None: ...


Connect = Callable[[str], Awaitable["tuple[Coordinator, Closable]"]]
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
        unsealer = Unsealer(Path(options.key_file))

        def make(coordinator: Coordinator) -> HostAgent:
            return HostAgent(settings, coordinator, clock=clock, unseal=unsealer, preexec=preexec)

        with _only_agent_of(settings.data_dir):
            return asyncio.run(_serve(options, settings, connect, make))
    except (ArgumentsError, SecretError) as error:
        sys.stderr.write(f"penstock agent: {error}\n")
        return EXIT_BAD_ARGUMENTS
    except (CoordinatorError, OSError) as error:
        sys.stderr.write(f"penstock agent: {error}\n")
        return EXIT_FAILED


def settings_from(options: argparse.Namespace) -> HostSettings:
    """Raises ArgumentsError."""
    low, dash, high = options.port_range.partition("-")
    if not (dash and low.isdigit() and high.isdigit() and 0 < int(low) <= int(high) < 65_536):
        raise ArgumentsError(f"--port-range {options.port_range}: expected LOW-HIGH")
    if not options.host_id or "/" in options.host_id or options.host_id.startswith("."):
        raise ArgumentsError(f"--host-id {options.host_id}: expected a plain name")
    return HostSettings(
        host_id=options.host_id,
        data_dir=Path(options.data_dir).absolute(),
        rack=options.rack or options.host_id,
        address=options.address,
        port_range=(int(low), int(high)),
    )


@contextlib.contextmanager
def _only_agent_of(data_dir: Path) -> Iterator[None]:
    """Two agents on one data directory would fight over its brokers."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ArgumentsError(f"another agent runs on {data_dir}") from error
        yield


async def _serve(
    options: argparse.Namespace,
    settings: HostSettings,
    connect: Connect,
    make: Callable[[Coordinator], HostAgent],
) -> int:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    coordinator, session = await connect(options.zookeeper)
    agent = make(coordinator)
    try:
        await agent.start()
        await stopping.wait()
    finally:
        log.info("stopping the brokers of host %s", settings.host_id)
        await agent.stop(keep_brokers=bool(getattr(options, "keep_brokers", False)))
        await session.close()
    return 0
