"""A cluster of either kind: a ZooKeeper of its own and brokers as bare child processes.

Both kinds get the same properties file. Nobody restarts or fences a broker here; the figures that
want our supervisor start `local-cluster`.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from dataplane.config import format_properties
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from dataplane.runtime.parent_death import die_with_parent
from tests.bench.dataplane.load import ROOT, BenchError
from tests.bench.dataplane.protocol import Client
from tests.kafka_jars import class_path
from tests.ports import free_row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Kafka's own start script: bin/kafka-run-class.sh, bin/kafka-server-start.sh of 3.9.
JVM_OPTIONS = (
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
)
START_S_MAX = 90.0
POLL_S = 0.005


class Kind(NamedTuple):
    name: str
    command: Callable[[Path], list[str]]
    needs_zookeeper: bool = True


def _ours(config: Path) -> list[str]:
    return [sys.executable, "-m", "dataplane", "broker", "--config", str(config)]


def _kafka(config: Path) -> list[str]:
    return ["java", *JVM_OPTIONS, "-cp", class_path(), "kafka.Kafka", str(config)]


def _floor(config: Path) -> list[str]:
    return [sys.executable, "-m", "tests.bench.dataplane.floor", str(config)]


OURS = Kind("ours", _ours)
KAFKA = Kind("kafka", _kafka)
FLOOR = Kind("floor", _floor, needs_zookeeper=False)
TWO = Kind("two", _ours)
"""Ours again: a process for each of two cores, beside one of Kafka's that uses both."""


class Broker:
    """One broker process; may be started again after its end."""

    def __init__(
        self,
        kind: Kind,
        broker_id: int,
        port: int,
        home: Path,
        connect: str,
        *,
        settings: Mapping[str, str],
        second: tuple[str, int] | None = None,
    ) -> None:
        self.id, self.port, self.home = broker_id, port, home
        self.second_port = second[1] if second else 0
        listeners = [("PLAINTEXT", port), *([second] if second else [])]
        self.process: subprocess.Popen[bytes] | None = None
        home.mkdir(parents=True)
        config = home / "server.properties"
        config.write_text(
            format_properties(
                {
                    "broker.id": str(broker_id),
                    "listeners": ",".join(f"{name}://127.0.0.1:{at}" for name, at in listeners),
                    "log.dirs": str(home / "data"),
                    "zookeeper.connect": connect,
                    # A deleted topic gives its disk back before the next figure starts.
                    "log.segment.delete.delay.ms": "100",
                    **settings,
                }
            )
        )
        self._command = kind.command(config)

    @property
    def pid(self) -> int:
        if self.process is None:
            raise BenchError(f"broker {self.id} does not run")
        return self.process.pid

    def start(self) -> float:
        """Start without waiting; answers the clock's time just before exec."""
        log = (self.home / "broker.log").open("ab")
        begun = time.perf_counter()
        with log:
            self.process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent(signal.SIGKILL),  # noqa: PLW1509 - one prctl call, no locks
            )
        return begun

    def wait_until(self, is_true: Callable[[Client], bool], what: str) -> float:
        """Ask the broker until `is_true`; answers the clock's time then. BenchError."""
        deadline = time.monotonic() + START_S_MAX
        while time.monotonic() < deadline:
            if self.process is None or self.process.poll() is not None:
                tail = (self.home / "broker.log").read_text(errors="replace")[-2000:]
                raise BenchError(f"broker {self.id} ended\n{tail}")
            try:
                with Client(self.port, timeout_s=30) as client:
                    if is_true(client):
                        return time.perf_counter()
            except OSError:
                pass
            time.sleep(POLL_S)
        raise BenchError(f"broker {self.id}: not within {START_S_MAX:.0f} s: {what}")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


class Cluster:
    """ZooKeeper and brokers 0 to `count` - 1, their files removed at the end.

    `settings` go to every broker. Of several clusters that run at once, `name` tells them apart.
    `second_listener` is a security protocol: for clients, the brokers stay with the plain one.
    """

    def __init__(
        self,
        kind: Kind,
        count: int,
        settings: Mapping[str, str] | None = None,
        *,
        name: str = "",
        second_listener: str = "",
    ) -> None:
        self.name = name or kind.name
        self.kind = kind
        self.work = Path(tempfile.mkdtemp(prefix=f"penstock-bench-{kind.name}-"))
        self.zookeeper = EmbeddedZooKeeper(self.work / "zookeeper")
        first = free_row(2 * count if second_listener else count)
        self.brokers = [
            Broker(
                kind,
                number,
                first + number,
                self.work / str(number),
                self.zookeeper.connect_string,
                settings=settings or {},
                second=(second_listener, first + count + number) if second_listener else None,
            )
            for number in range(count)
        ]

    def __enter__(self) -> Self:
        try:
            if self.kind.needs_zookeeper:
                self.zookeeper.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def start(self) -> Cluster:
        """Start every broker and wait until each knows of all."""
        for broker in self.brokers:
            broker.start()
        count = len(self.brokers)
        for broker in self.brokers:
            broker.wait_until(lambda c: len(c.metadata().brokers) == count, "all brokers known")
        return self

    @property
    def port(self) -> int:
        return self.brokers[0].port

    @property
    def pids(self) -> list[int]:
        return [broker.pid for broker in self.brokers]

    def wait_until(self, is_true: Callable[[Client], bool], what: str) -> float:
        """Until every running broker says so; answers the clock's time then."""
        return max(
            broker.wait_until(is_true, what)
            for broker in self.brokers
            if broker.process is not None and broker.process.poll() is None
        )

    def wait_until_deleted(self) -> None:
        """Until the files of deleted topics are gone: the next figure gets their pages."""
        deadline = time.monotonic() + START_S_MAX
        while any(self.work.glob("[0-9]/data/*-delete")):
            if time.monotonic() > deadline:
                raise BenchError("deleted topics keep their files")
            time.sleep(0.1)

    def stop(self) -> None:
        for broker in self.brokers:
            broker.stop()
        self.zookeeper.stop()
        shutil.rmtree(self.work, ignore_errors=True)
