"""`local-cluster`: ZooKeeper and N brokers in the foreground, for tests, benchmarks, a first look.

One line `ready bootstrap=…` on stdout when every broker knows of every other; clean stop on SIGTERM
or SIGINT. A broker that dies is fenced and started again by the same supervisor that host agents
use. Nothing is left behind when a start fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dataplane.agent.processes import Identity, start_ticks_of
from dataplane.agent.states import BrokerState
from dataplane.agent.supervisor import BrokerSpec, Supervisor
from dataplane.config import BrokerConfig, ConfigError, format_properties
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper, ZooKeeperStartError
from dataplane.runtime.os_clock import OsClock
from dataplane.runtime.parent_death import die_with_parent
from dataplane.runtime.zookeeper import ZooKeeperCoordinator
from dataplane.server.socket_binding import bind
from dataplane.wire.codec import decode
from dataplane.wire.headers import encode_request_frame, parse_response_header
from dataplane.wire.messages.metadata import MetadataRequest, MetadataResponse

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

_log = logging.getLogger("dataplane.local-cluster")

HOST = "127.0.0.1"
PORT_MAX = 65_535
READY_TIMEOUT_S = 60.0
POLL_S = 0.02
LAST_WORDS = 20
"""Lines of a broker's log that are shown when it does not serve."""
METADATA_VERSION = 1
EXIT_BAD_CONFIG = 2
_BROKER_ID = re.compile("0|[1-9][0-9]{0,9}")


class LocalClusterError(Exception):
    """The cluster cannot start; one line says which part failed, its log's last lines follow."""


class Plan(NamedTuple):
    """One broker to run: its id, its properties file, where clients reach it.

    `logged_bytes`: what earlier runs have left in its log file.
    """

    broker_id: int
    config: Path
    log_dir: Path
    log_file: Path
    bootstrap: str
    listeners: Mapping[str, tuple[str, int]]  # name: host, port
    logged_bytes: int

    @property
    def pid_file(self) -> Path:
        return self.config.with_name("broker.pid")


def main(options: argparse.Namespace) -> int:
    """Run until stopped. Exit code 0, 1 (failed) or 2 (bad arguments or configuration)."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    logging.getLogger("kazoo").setLevel(logging.WARNING)
    try:
        return asyncio.run(_run(options))
    except (ConfigError, ValueError) as error:
        sys.stderr.write(f"local-cluster: {error}\n")
        return EXIT_BAD_CONFIG
    except (LocalClusterError, ZooKeeperStartError) as error:
        sys.stderr.write(f"local-cluster: {error}\n")
        return 1
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        sys.stderr.write(f"local-cluster: {what}\n")
        return 1


async def _run(options: argparse.Namespace) -> int:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    data_dir = _made(options.data_dir)
    async with contextlib.AsyncExitStack() as undo:
        zookeeper = EmbeddedZooKeeper(data_dir / "zookeeper", port=options.zookeeper_port)
        plans = plan_brokers(options, data_dir, zookeeper.connect_string)
        refuse_taken_ports(plans)
        await asyncio.to_thread(zookeeper.start)
        undo.push_async_callback(asyncio.to_thread, zookeeper.stop)
        coordinator = await ZooKeeperCoordinator.connect(zookeeper.connect_string)
        undo.push_async_callback(coordinator.close)
        supervisors = [_supervisor(plan, coordinator) for plan in plans]
        undo.push_async_callback(_stop_all, supervisors)
        for supervisor in supervisors:
            await supervisor.start()
        await _until_ready(plans, supervisors, stop)
        if not stop.is_set():
            sys.stdout.write(f"ready bootstrap={','.join(plan.bootstrap for plan in plans)}\n")
            sys.stdout.flush()
            await stop.wait()
    return 0


def _made(directory: str) -> Path:
    """ValueError when the place cannot be written."""
    path = Path(directory).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--data-dir {directory}: {error.strerror}") from error
    return path


def plan_brokers(options: argparse.Namespace, data_dir: Path, zookeeper: str) -> list[Plan]:
    """Write each broker's properties and check them. ConfigError, ValueError."""
    ids = _broker_ids(options.broker_ids, options.brokers)
    if options.port == 0:
        options.port = _free_ports(len(ids))
    return [_plan(options, data_dir, zookeeper, ids, place) for place in range(len(ids))]


def _free_ports(count: int) -> int:
    """The first of `count` neighbouring ports that were free a moment ago."""
    for _ in range(100):
        with contextlib.ExitStack() as held:
            first = held.enter_context(socket.socket())
            first.bind((HOST, 0))
            base = int(first.getsockname()[1])
            try:
                for port in range(base + 1, base + count):
                    held.enter_context(socket.socket()).bind((HOST, port))
            except (OSError, OverflowError):
                continue
            return base
    raise LocalClusterError(f"no {count} neighbouring ports are free")


def refuse_taken_ports(plans: list[Plan]) -> None:
    """Before anything is started. LocalClusterError names listener, address and reason.

    A broker that an earlier run left is passed over: its supervisor ends it or takes it up.
    """
    for plan in plans:
        left = Identity.load(plan.pid_file)
        if left is not None and start_ticks_of(left.pid) == left.start_ticks:
            continue
        for name, (host, port) in plan.listeners.items():
            try:
                bind(name, host, port).close()
            except OSError as error:
                raise LocalClusterError(f"broker {plan.broker_id}: {error}") from error


def _broker_ids(text: str | None, count: int | None) -> list[int]:
    if text is None:
        return list(range(count or 1))
    parts = [part.strip() for part in text.split(",")]
    if len(set(parts)) != len(parts) or not all(_BROKER_ID.fullmatch(part) for part in parts):
        raise ValueError(
            f"--broker-ids {text}: expected distinct ids of at least 0, between commas"
        )
    if count is not None and count != len(parts):
        raise ValueError(f"--brokers {count} and --broker-ids {text}: that is {len(parts)} ids")
    return [int(part) for part in parts]


def _plan(
    options: argparse.Namespace, data_dir: Path, zookeeper: str, ids: list[int], place: int
) -> Plan:
    broker_id = ids[place]
    home = data_dir / f"broker-{broker_id}"
    home.mkdir(parents=True, exist_ok=True)
    listeners = {"PLAINTEXT": (HOST, options.port + place)}
    for text in options.listener:
        name, host, port = _listener(text)
        listeners[name] = (host, port + place)
    for name, (_, port) in listeners.items():
        if port > PORT_MAX:
            raise ValueError(f"listener {name} of broker {broker_id}: there is no port {port}")
    factor = str(min(3, len(ids)))
    settings = {
        "broker.id": str(broker_id),
        "listeners": ",".join(f"{n}://{host}:{port}" for n, (host, port) in listeners.items()),
        "log.dirs": str(home / "data"),
        "zookeeper.connect": zookeeper,
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.replication.factor": factor,
        "transaction.state.log.min.isr": str(min(2, len(ids))),
        "group.initial.rebalance.delay.ms": "0",
    }
    for item in options.set:
        key, separator, value = item.partition("=")
        if not separator:
            raise ValueError(f"--set {item}: expected KEY=VALUE")
        settings[key.strip()] = value.strip().replace("{broker}", str(broker_id))
    log_dir = Path(BrokerConfig.parse(settings).log_dirs[0])
    config = home / "broker.properties"
    config.touch(mode=0o600)
    config.write_text(format_properties(settings), encoding="ascii")
    host, port = listeners["PLAINTEXT"]
    log = home / "broker.log"
    logged_bytes = log.stat().st_size if log.exists() else 0
    return Plan(broker_id, config, log_dir, log, f"{host}:{port}", listeners, logged_bytes)


def _listener(text: str) -> tuple[str, str, int]:
    name, separator, address = text.partition("://")
    host, colon, port = address.rpartition(":")
    if not (separator and name and colon and port.isdigit()):
        raise ValueError(f"--listener {text}: expected NAME://HOST:PORT")
    return name.upper(), host, int(port)


def _supervisor(plan: Plan, coordinator: ZooKeeperCoordinator) -> Supervisor:
    spec = BrokerSpec(
        broker_id=plan.broker_id,
        command=[sys.executable, "-m", "dataplane", "broker", "--config", str(plan.config)],
        log_dir=plan.log_dir,
        log_file=plan.log_file,
        pid_file=plan.pid_file,
    )
    return Supervisor(spec, coordinator, clock=OsClock(), preexec=die_with_parent())


async def _stop_all(supervisors: list[Supervisor]) -> None:
    await asyncio.gather(*(supervisor.stop() for supervisor in supervisors))


async def _until_ready(
    plans: list[Plan], supervisors: list[Supervisor], stop: asyncio.Event
) -> None:
    """Until every broker's metadata names every broker. LocalClusterError when one fails."""
    wanted = {plan.broker_id for plan in plans}
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            for plan in plans:
                while not stop.is_set() and not await _known_brokers(plan.bootstrap) >= wanted:
                    for each, supervisor in zip(plans, supervisors, strict=True):
                        _refuse_ended(each, supervisor)
                    await asyncio.sleep(POLL_S)
    except TimeoutError:
        said = "\n".join(f"broker {each.broker_id}:\n{_last_words(each)}" for each in plans)
        raise LocalClusterError(
            f"not every broker serves after {READY_TIMEOUT_S:.0f} s\n{said}"
        ) from None


def _refuse_ended(plan: Plan, supervisor: Supervisor) -> None:
    report = supervisor.report
    if report.exit_code is not None or report.state is BrokerState.FAILED:
        what = f"exited with {report.exit_code}" if report.exit_code else "failed"
        raise LocalClusterError(f"broker {plan.broker_id} {what}\n{_last_words(plan)}")


def _last_words(plan: Plan) -> str:
    """The end of what the broker has logged in this run: what it said before may be mended."""
    try:
        data = plan.log_file.read_bytes()
    except OSError as error:
        return f"{plan.log_file}: {error.strerror}"
    new = data[plan.logged_bytes :] if len(data) >= plan.logged_bytes else data  # rotated
    return "\n".join(new.decode(errors="replace").splitlines()[-LAST_WORDS:])


async def _known_brokers(bootstrap: str) -> set[int]:
    """The brokers that one broker's metadata names."""
    host, _, port = bootstrap.rpartition(":")
    try:
        reader, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return set()
    try:
        request = MetadataRequest(topics=[])
        writer.write(encode_request_frame(request, METADATA_VERSION, 1, "local-cluster"))
        size = int.from_bytes(await reader.readexactly(4), "big")
        frame = memoryview(await reader.readexactly(size))
        _, position = parse_response_header(frame, MetadataRequest.API_KEY, METADATA_VERSION)
        response, _ = decode(MetadataResponse, METADATA_VERSION, frame, position)
        return {broker.node_id for broker in response.brokers}
    except (OSError, asyncio.IncompleteReadError):
        return set()
    finally:
        writer.close()
