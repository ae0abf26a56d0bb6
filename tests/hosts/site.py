"""Hosts on a bridge, an ensemble of three ZooKeeper servers, and the control plane over them."""

from __future__ import annotations

import contextlib
import logging
import os
import pathlib
import signal
from typing import TYPE_CHECKING, Any

from deploy.local import zookeeper_logins
from tests.controlplane.live.conftest import OPEN, QUICK
from tests.controlplane.live.service import ServiceError
from tests.faults.disk import SmallDisk, small_disk
from tests.faults.network import Network, ip
from tests.hosts.service import CHROOT, HostsService
from tests.local_cluster import eventually
from tests.postgres_server import PostgresServer
from tests.zookeeper_ensemble import ZooKeeperEnsemble
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import Login, ZooKeeperAccess

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTS = ("h1", "h2", "h3")
SPARES = ("h4", "h5")
"""Admitted and empty; a cluster that grows gets them."""
CLOCK_OFFSETS_S = {"h2": 47, "h3": -95}
"""A clock that is ahead, one that is behind: nothing that matters may follow the time of day."""
SERVERS = ("zk1", "zk2", "zk3")
SMALL_HOST, SMALL_MIB = "h3", 384
"""One host keeps its data on a small disk of its own, which a scenario fills."""
SESSION_TIMEOUT_S = 18.0
LAG_TIME_S = 7.5
"""Managed brokers' `zookeeper.session.timeout.ms` and `replica.lag.time.max.ms`."""
CREATED_S = 180.0
DEAD_S = 90.0
"""Until an agent that was killed counts as dead: its session has to expire."""


class Site:
    def __init__(self, directory: pathlib.Path, network: Network, disk: SmallDisk) -> None:
        self.directory = directory
        self.network = network
        self.disk = disk
        self.logins = directory / "zookeeper-logins"
        self.zookeeper = ZooKeeperEnsemble(
            directory,
            users=zookeeper_logins.ensure(self.logins),
            places=[network.places[name] for name in SERVERS],
        )
        self.postgres = PostgresServer()
        self.service = HostsService(
            directory,
            zookeeper=self.zookeeper.connect_string,
            database_url=self.postgres.url,
            places={host: network.places[host] for host in (*HOSTS, *SPARES)},
            clock_offsets_s=CLOCK_OFFSETS_S,
            spares=SPARES,
        )

    def start(self) -> None:
        self.postgres.start()
        for number in range(1, len(SERVERS) + 1):
            self.zookeeper.start(number)
        self.zookeeper.wait_until_serving()
        self._make_parent_of_chroot()
        self.service.start()
        self.service.wait_for_hosts(HOSTS)

    def _make_parent_of_chroot(self) -> None:
        """The ensemble is shared: what is above our chroot is its owner's to make."""
        users = zookeeper_logins.ensure(self.logins)
        owner = ZooKeeperAccess(sasl=Login("super", users["super"]))
        client = AccessClient(
            self.zookeeper.connect_string, owner, logger=logging.getLogger("kazoo.client")
        )
        client.start()
        try:
            client.ensure_path(CHROOT.rpartition("/")[0])
        finally:
            client.stop()
            client.close()

    def stop(self) -> None:
        self.service.stop()
        self.zookeeper.stop()
        self.postgres.remove()

    # -- a cluster --------------------------------------------------------------------------------

    def create_cluster(self) -> dict[str, Any]:
        """Over all hosts, placed by the control plane; the operation that made it."""
        body = {**OPEN, "name": "wide", "broker_count": 3, "config": QUICK, "confirm": True}
        operation = self.service.post("/clusters", body)["operation"]
        ended: dict[str, Any] = self.service.finish(operation, timeout_s=CREATED_S)
        assert ended["state"] == "succeeded", ended
        self.service.cluster_id = ended["cluster_id"]
        return ended

    # -- a host -----------------------------------------------------------------------------------

    def kill_host(self, host: str) -> None:
        """SIGKILL to every process on it, its agent first: nobody is left to fence a broker."""
        place = self.network.places[host]
        while pids := ip("netns", "pids", place.namespace).split():
            agent = self.service.processes[f"agent-{host}"].pid
            for pid in sorted(map(int, pids), key=lambda pid: pid != agent):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.service.processes[f"agent-{host}"].wait()

    def kill_agent(self, host: str) -> None:
        """SIGKILL to it alone; its brokers go on."""
        self.service.kill(f"agent-{host}")

    def start_host(self, host: str) -> None:
        """Its agent, which starts what is desired of the host."""
        self.service.start_agent(host)

    def empty_hosts(self) -> list[str]:
        """Those that have no broker of the cluster; the spares' agents run from now on."""
        for host in SPARES:
            process = self.service.processes.get(f"agent-{host}")
            if process is None or process.poll() is not None:
                self.start_host(host)
        self.service.wait_for_hosts(SPARES)
        taken = {self.service.host_at(row["host"]) for row in self.service.brokers()}
        return [host for host in self.service.places if host not in taken]

    def part_from_spares(self) -> None:
        """Those that are empty: what else is placed is placed without them."""
        taken = {self.service.host_at(row["host"]) for row in self.service.brokers()}
        for host in set(SPARES) - taken:
            self.kill_host(host)

    def declare_lost(self, host: str) -> None:
        """As an operator does it, once its agent counts as dead."""
        for _ in eventually(DEAD_S, f"{host} is dead"):
            if host not in self.service.alive_hosts():
                break
        self.service.manage(
            *("host", "declare-lost", host, "--confirm", host, "--reason", "it burnt down")
        )

    def welcome(self, host: str) -> None:
        """A host that was lost and is back gets brokers again: an operator has looked at it.

        Refused until its agent has said that what it had is wiped.
        """
        for _ in eventually(DEAD_S, f"{host} owes nothing any more"):
            try:
                self.service.manage("host", "cordon", host)
            except ServiceError as error:
                if "still has to wipe" not in str(error):
                    raise
            else:
                break
        self.service.manage("host", "uncordon", host)

    def cut_from_zookeeper(self, host: str) -> None:
        for server in SERVERS:
            self.network.cut(host, server)

    def pid_of(self, broker: int) -> int:
        """Of a running broker, as its agent reports it."""
        for _ in eventually(60, f"a process of broker {broker}"):
            for row in self.service.brokers():
                if row["id"] == broker and row["pid"]:
                    return int(row["pid"])
        raise AssertionError


@contextlib.contextmanager
def running_site(directory: pathlib.Path) -> Iterator[Site]:
    """The calling thread, and all that it starts, lives on the hub meanwhile."""
    network = Network([*HOSTS, *SPARES, *SERVERS])
    network.make()
    small = directory / "hosts" / SMALL_HOST
    with small_disk(small, SMALL_MIB) as disk, network.inside():
        site = Site(directory, network, disk)
        try:
            site.start()
            yield site
        finally:
            site.stop()
            network.remove()
