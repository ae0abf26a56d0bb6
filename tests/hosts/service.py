"""The control plane of many hosts: its own processes on the hub, an agent on each host.

PostgreSQL, Redis, web, workers and beat are on loopback of the hub; ZooKeeper's servers and the
hosts each have an address. All of Penstock's nodes are below a chroot of a shared ensemble.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deploy.local import zookeeper_logins
from tests.controlplane.live.service import REPOSITORY, LiveService, python
from tests.faults.network import SUBNET
from tests.local_cluster import eventually

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tests.places import Place

CHROOT = "/shared/penstock"
FIRST_PORT, LAST_PORT = 9100, 9199
FINISHED_S = 420.0
"""What any operation may take on a machine that is busy with other things."""
CLOCK = Path(__file__).parent / "clock"
HOSTS_S = 120.0
ALIVE = """
import json
from controlplane.clusters.hosts import hosts
print(json.dumps([each.host_id for each in hosts().hosts() if each.alive]))
"""


class HostsService(LiveService):
    """`places` of hosts by id; `clock_offsets_s` of those whose clocks are wrong; `spares` are those
    of the hosts that have no agent at first.
    """

    def __init__(
        self,
        directory: Path,
        *,
        zookeeper: str,
        database_url: str,
        places: Mapping[str, Place],
        clock_offsets_s: Mapping[str, int],
        spares: Sequence[str] = (),
    ) -> None:
        super().__init__(directory, database_url=database_url)
        self.spares = tuple(spares)
        self.zookeeper = f"{zookeeper}{CHROOT}"
        self.places = places
        self.clock_offsets_s = clock_offsets_s
        self.environment |= {
            "PENSTOCK_ZOOKEEPER": self.zookeeper,
            "PENSTOCK_EGRESS_ALLOWED": f"127.0.0.0/8,{SUBNET}.0/24",
            "PENSTOCK_OBSERVE_INTERVAL_S": "2",
            # One host has a disk smaller than what a broker gets elsewhere.
            "PENSTOCK_BROKER_DISK_MIN_BYTES": str(128 * 2**20),
        }
        del self.environment["PENSTOCK_READ_PATIENCE_S"]  # reads are timed: the product's own

    def start_zookeeper(self) -> None:
        """It runs already (`site`), with the users that `logins` has."""

    def admit_hosts(self) -> None:
        self.manage("zookeeper", "prepare")
        for host in self.places:
            self.manage("secrets", "host-key", host, "--file", str(self.logins / f"{host}.key"))
            self.manage(
                "zookeeper",
                *("host", host),
                *("--connection", str(self.logins / f"{zookeeper_logins.MEMBER}.properties")),
                *("--file", str(self.logins / f"{host}.properties")),
            )

    def start_agents(self) -> None:
        for host in self.places:
            self.versions_dir(host).mkdir(mode=0o755, parents=True)
        for host in self.at_first:
            self.start_agent(host)

    @property
    def at_first(self) -> list[str]:
        """Hosts whose agents run from the start."""
        return [host for host in self.places if host not in self.spares]

    def start_agent(self, login: str, *options: str) -> None:
        """Of the host of that name. It gets nothing of the control plane's environment."""
        place = self.places[login]
        command = place.inside(
            [
                *python("-m", "dataplane"),
                *("agent", "--host-id", login),
                *("--zookeeper", self.zookeeper),
                *("--zookeeper-config", str(self.logins / f"{login}.properties")),
                *("--data-dir", str(self.data_dir(login))),
                *("--key-file", str(self.logins / f"{login}.key")),
                *("--address", place.address),
                *("--rack", f"rack-{login}"),
                *("--port-range", f"{FIRST_PORT}-{LAST_PORT}"),
                *("--versions", str(self.versions_dir(login))),
                *options,
            ]
        )
        with (self.directory / f"agent-{login}.log").open("ab") as log:
            self.processes[f"agent-{login}"] = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={
                    "PATH": os.environ["PATH"],
                    "PYTHONUNBUFFERED": "1",
                    "PYTHONPATH": str(CLOCK),
                    "PENSTOCK_TEST_CLOCK_OFFSET_S": str(self.clock_offsets_s.get(login, 0)),
                },
                cwd=REPOSITORY,
            )

    def data_dir(self, host: str) -> Path:
        return self.directory / "hosts" / host

    def versions_dir(self, host: str) -> Path:
        return self.directory / "versions-of" / host

    def install_version(self, host: str, name: str, source: Path) -> None:
        """Beside the agent's own software there, by the command that an operator has."""
        subprocess.run(
            [
                *python("-m", "dataplane"),
                *("install-version", name),
                *("--versions", str(self.versions_dir(host)), "--from", str(source)),
            ],
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            timeout=300,
            check=True,
        )

    def stop(self) -> None:
        """The kernel ends what is left, with the namespace of all processes."""
        for process in self.processes.values():
            process.kill()

    # -- what is where --------------------------------------------------------------------------

    def wait_for_hosts(self, hosts: Collection[str]) -> None:
        """Until their agents have made them known to the control plane."""
        for _ in eventually(HOSTS_S, "every host is alive"):
            ended = [host for host in hosts if self.processes[f"agent-{host}"].poll()]
            assert not ended, "\n".join(self.log_tail(f"agent-{host}") for host in ended)
            if set(hosts) <= self.alive_hosts():
                return

    def alive_hosts(self) -> set[str]:
        """As the control plane sees it."""
        return set(json.loads(self.manage("shell", "--verbosity", "0", "-c", ALIVE)))

    def finish(self, operation: Any, *, timeout_s: float = FINISHED_S) -> Any:
        return super().finish(operation, timeout_s=timeout_s)

    def host_of(self, broker: int) -> str:
        (address,) = [row["host"] for row in self.brokers() if row["id"] == broker]
        return self.host_at(address)

    def host_at(self, address: str) -> str:
        return next(host for host, place in self.places.items() if place.address == address)

    def brokers(self) -> list[Any]:
        found: list[Any] = self.get(f"/clusters/{self.cluster_id}")["brokers"]
        return found
