"""A cluster whose every process the test holds in its hand: ZooKeeper, brokers, supervisors.

Brokers are kept by the same `Supervisor` that host agents use, on a loop in a thread of its own, so
a dead broker is fenced and started again as in production, unless the test holds it down.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from confluent_kafka.admin import AdminClient

from dataplane.agent.supervisor import BrokerSpec, Supervisor
from dataplane.config import format_properties
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from dataplane.runtime.os_clock import OsClock
from dataplane.runtime.parent_death import die_with_parent
from dataplane.runtime.zookeeper import ZooKeeperCoordinator
from tests.local_cluster import eventually
from tests.places import Place
from tests.ports import free_row
from tests.processes import hold_still

T = TypeVar("T")
READY_TIMEOUT_S = 90.0
ZOOKEEPER_START_S = 90.0
CHROOT = "/shared/faults"
"""Brokers see what is below it alone, supervisors the whole tree, as agents do."""
SESSION_TIMEOUT_S = 18.0
"""`zookeeper.session.timeout.ms` at its default."""


class FaultCluster:
    """Three brokers, 0 to 2. Its methods block; call them from the test's thread."""

    def __init__(
        self,
        data_dir: pathlib.Path,
        zookeeper: str,
        *,
        chroot: str = CHROOT,
        places: Sequence[Place] | None = None,
        settings: Mapping[str, str] | None = None,
        log_dirs: Mapping[int, str] | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.ids = [0, 1, 2]
        self._zookeeper = zookeeper
        self._chroot = chroot
        self._places = list(places or [Place()] * 3)
        self._settings = dict(settings or {})
        self._log_dirs = dict(log_dirs or {})
        self._port = free_row(3)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="supervisors")
        self._coordinator: ZooKeeperCoordinator | None = None
        self._supervisors: dict[int, Supervisor] = {}

    # -- the whole ------------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()
        self._coordinator = self._call(ZooKeeperCoordinator.connect(self._zookeeper))
        for broker in self.ids:
            self.start_broker(broker)
        self.wait_until_whole()

    def stop(self) -> None:
        """Every process of it ends, resumed first if it was paused."""
        for broker in self.ids:
            self.resume(broker)
        self._call(self._stop_all(), timeout_s=90)
        if self._coordinator is not None:
            self._call(self._coordinator.close(), timeout_s=30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop_all(self) -> None:
        await asyncio.gather(*(each.stop() for each in self._supervisors.values()))

    def _call(self, work: Coroutine[Any, Any, T], timeout_s: float = 60) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)

    # -- where things are -----------------------------------------------------------------------

    def address(self, broker: int) -> str:
        return f"{self._places[broker].address}:{self._port + broker}"

    @property
    def bootstrap(self) -> str:
        return ",".join(self.address(broker) for broker in self.ids)

    def log_dir(self, broker: int) -> pathlib.Path:
        return pathlib.Path(self._log_dirs.get(broker, self.home(broker) / "data"))

    def home(self, broker: int) -> pathlib.Path:
        return self.data_dir / f"broker-{broker}"

    def partition_dir(self, broker: int, topic: str, partition: int) -> pathlib.Path:
        return self.log_dir(broker) / f"{topic}-{partition}"

    def log_text(self, broker: int) -> str:
        return (self.home(broker) / "broker.log").read_text(errors="replace")

    # -- one broker -----------------------------------------------------------------------------

    def _supervisor(self, broker: int) -> Supervisor:
        home = self.home(broker)
        home.mkdir(parents=True, exist_ok=True)
        settings = {
            "broker.id": str(broker),
            "listeners": f"PLAINTEXT://{self.address(broker)}",
            "log.dirs": str(self.log_dir(broker)),
            "zookeeper.connect": f"{self._zookeeper}{self._chroot}",
            "min.insync.replicas": "2",
            # Three partitions instead of fifty each: only the time to make them depends on it.
            "offsets.topic.num.partitions": "3",
            "transaction.state.log.num.partitions": "3",
            "group.initial.rebalance.delay.ms": "0",
            # A third of 45 s: librdkafka sends the leave of a KIP-848 member once, and where it
            # meets a coordinator that has moved, the group waits for the session to end.
            "group.consumer.session.timeout.ms": "15000",
            "group.consumer.min.session.timeout.ms": "15000",
            **self._settings,
        }
        config = home / "broker.properties"
        config.write_text(format_properties(settings))
        command = [sys.executable, "-m", "dataplane", "broker", "--config", str(config)]
        assert self._coordinator is not None
        return Supervisor(
            BrokerSpec(
                broker_id=broker,
                command=self._places[broker].inside(command),
                log_dir=self.log_dir(broker),
                log_file=home / "broker.log",
                pid_file=home / "broker.pid",
                root=self._chroot,
            ),
            self._coordinator,
            clock=OsClock(),
            preexec=die_with_parent(),
        )

    def start_broker(self, broker: int) -> None:
        """Start it and keep it running from now on."""
        self._supervisors[broker] = self._supervisor(broker)
        self._call(self._supervisors[broker].start())

    def pid(self, broker: int) -> int:
        for _ in eventually(30, f"a process of broker {broker}"):
            pid = self._supervisors[broker].report.pid
            if pid is not None:
                return pid
        raise AssertionError

    def signal(self, number: int, *brokers: int) -> None:
        for pid in [self.pid(broker) for broker in brokers]:
            os.kill(pid, number)

    def kill(self, *brokers: int) -> None:
        """SIGKILL; their supervisors fence them and start them again."""
        self.signal(signal.SIGKILL, *brokers)

    def kill_and_hold(self, broker: int) -> None:
        """SIGKILL, fenced, and not started again before `start_broker`."""
        self._call(self._hold(broker))

    async def _hold(self, broker: int) -> None:
        supervisor = self._supervisors[broker]
        assert supervisor.report.pid is not None
        os.kill(supervisor.report.pid, signal.SIGKILL)
        await supervisor.stop()  # without a pause after the kill, so nothing is started again

    def stop_broker(self, broker: int) -> None:
        """SIGTERM: a controlled shutdown, and not started again before `start_broker`."""
        self._call(self._supervisors[broker].stop())

    def pause(self, broker: int) -> None:
        hold_still(self.pid(broker))

    def resume(self, broker: int) -> None:
        supervisor = self._supervisors.get(broker)
        if supervisor is not None and supervisor.report.pid is not None:
            os.kill(supervisor.report.pid, signal.SIGCONT)

    def lose_power(self, zookeeper: EmbeddedZooKeeper) -> None:
        """SIGKILL to every process at the same time; nobody is left to fence anybody."""
        pids = [self.pid(broker) for broker in self.ids]
        for broker in self.ids:
            self._call(self._supervisors[broker].release())
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        zookeeper.kill()

    # -- what the cluster says ------------------------------------------------------------------

    def leader_of(self, topic: str, partition: int = 0, *, asked: int | None = None) -> int:
        """The leader in one broker's metadata (any broker's, if none is named); -1 for none."""
        bootstrap = self.bootstrap if asked is None else self.address(asked)
        metadata = _admin(bootstrap).list_topics(topic, 10)
        return int(metadata.topics[topic].partitions[partition].leader)

    def isr_of(self, topic: str, partition: int = 0, *, asked: int | None = None) -> set[int]:
        bootstrap = self.bootstrap if asked is None else self.address(asked)
        metadata = _admin(bootstrap).list_topics(topic, 10)
        return set(metadata.topics[topic].partitions[partition].isrs)

    def controller(self, *, asked: int | None = None) -> int:
        bootstrap = self.bootstrap if asked is None else self.address(asked)
        for _ in eventually(30, "a controller"):
            found = int(_admin(bootstrap).list_topics(timeout=10).controller_id)
            if found >= 0:
                return found
        raise AssertionError

    def coordinator_of(self, group: str) -> int:
        admin = _admin(self.bootstrap)  # it must outlive its answer
        described = admin.describe_consumer_groups([group])[group].result(20)
        return int(described.coordinator.id)

    def wait_until_whole(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Until every broker by itself says: all are here, every ISR is full."""
        for _ in eventually(timeout_s, "full ISRs everywhere"):
            if all(self._is_whole(broker) for broker in self.ids):
                return

    def _is_whole(self, broker: int) -> bool:
        try:
            metadata = _admin(self.address(broker)).list_topics(timeout=5)
        except Exception:
            return False
        partitions = [p for topic in metadata.topics.values() for p in topic.partitions.values()]
        return len(metadata.brokers) == len(self.ids) and all(
            p.leader >= 0 and len(p.isrs) == len(p.replicas) for p in partitions
        )


def _admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})


@contextlib.contextmanager
def running(cluster: FaultCluster) -> Iterator[FaultCluster]:
    """Nothing of it runs afterwards, even if it did not start."""
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
