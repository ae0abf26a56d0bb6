"""A ZooKeeper ensemble of three on loopback, from the jars that ship inside PySpark."""

from __future__ import annotations

import contextlib
import pathlib
import socket
import subprocess
from collections.abc import Iterator

from dataplane.runtime import embedded_zookeeper as embedded
from dataplane.runtime.parent_death import die_with_parent
from tests.local_cluster import eventually, free_ports

HOST = "127.0.0.1"
SIZE = 3
TICK_TIME_MS = 500


class Ensemble:
    """Servers 1 to 3. Started, killed and started again by number."""

    def __init__(self, data_dir: pathlib.Path) -> None:
        base = free_ports(3 * SIZE)
        self.client_ports = {n: base + n - 1 for n in range(1, SIZE + 1)}
        self._peers = [
            f"server.{n}={HOST}:{base + SIZE + n - 1}:{base + 2 * SIZE + n - 1}"
            for n in self.client_ports
        ]
        self._data_dir = data_dir
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def connect_string(self) -> str:
        return ",".join(f"{HOST}:{port}" for port in self.client_ports.values())

    def start(self, server: int) -> None:
        home = self._data_dir / f"server-{server}"
        arguments = embedded.command(
            home, port=self.client_ports[server], host=HOST, tick_time_ms=TICK_TIME_MS
        )
        arguments[arguments.index("org.apache.zookeeper.server.ZooKeeperServerMain")] = (
            "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        )
        (home / "myid").write_text(str(server))
        with (home / "zoo.cfg").open("a") as config:
            config.write("\n".join(["initLimit=20", "syncLimit=10", *self._peers, ""]))
        with (home / "zookeeper.log").open("ab") as log:
            self._processes[server] = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - one prctl call, no locks taken
            )

    def wait_until_serving(self, *servers: int) -> None:
        for server in servers:
            for _ in eventually(40, f"ZooKeeper server {server}: {self.log_tail(server)}"):
                if self.mode(server):
                    break

    def mode(self, server: int) -> str:
        """`leader`, `follower`, or nothing while it does not serve."""
        with contextlib.suppress(OSError):
            return _asked(self.client_ports[server])
        return ""

    def leader(self) -> int:
        for _ in eventually(40, "a leading ZooKeeper server"):
            for server in self._processes:
                if self.mode(server) == "leader":
                    return server
        raise AssertionError

    def kill(self, server: int) -> None:
        process = self._processes.pop(server)
        process.kill()
        process.wait()

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()
        self._processes.clear()

    def log_tail(self, server: int) -> str:
        path = self._data_dir / f"server-{server}" / "zookeeper.log"
        return path.read_text(errors="replace")[-2000:] if path.exists() else ""


def _asked(port: int) -> str:
    with socket.create_connection((HOST, port), timeout=1) as connection:
        connection.sendall(b"srvr")
        connection.settimeout(1)
        for line in connection.makefile("rb").read().decode().splitlines():
            if line.startswith("Mode: "):
                return line.removeprefix("Mode: ").strip()
    return ""


@contextlib.contextmanager
def ensemble(data_dir: pathlib.Path) -> Iterator[Ensemble]:
    started = Ensemble(data_dir)
    try:
        for server in started.client_ports:
            started.start(server)
        started.wait_until_serving(*started.client_ports)
        yield started
    finally:
        started.stop()
