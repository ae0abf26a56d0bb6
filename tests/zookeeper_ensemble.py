"""Three real ZooKeeper servers that elect a leader among them, on loopback, for tests.

    with ensemble(directory) as zookeeper:
        zookeeper.connect_string        # a,b,c for `zookeeper.connect`
        zookeeper.kill(zookeeper.leader())

Servers die by SIGKILL and come back with `start`. They are children of this process and end with it.
"""

from __future__ import annotations

import contextlib
import pathlib
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from dataplane.config import format_properties
from dataplane.runtime import embedded_zookeeper
from dataplane.runtime.embedded_zookeeper import ServerTls
from dataplane.runtime.parent_death import die_with_parent
from tests.places import Place
from tests.ports import free_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SERVERS = 3
START_TIMEOUT_S = 120.0
TICK_MS = 500
STANDALONE = "org.apache.zookeeper.server.ZooKeeperServerMain"
QUORUM = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


class Secured(NamedTuple):
    """Logins that the servers ask for, and their TLS, among each other and towards clients."""

    users: Mapping[str, str]
    key_store: pathlib.Path
    trust_store: pathlib.Path


class ZooKeeperEnsemble:
    """Servers are numbered from 1, as in their `myid`."""

    def __init__(
        self,
        directory: pathlib.Path,
        servers: int = SERVERS,
        *,
        secured: Secured | None = None,
        users: Mapping[str, str] | None = None,
        places: Sequence[Place] | None = None,
    ) -> None:
        """`users` are logins without TLS; `places` one for each server, by default all loopback."""
        self._directory = directory
        self._secured = secured
        self._users = secured.users if secured else users
        self._places = list(places or [Place()] * servers)
        self._numbers = range(1, servers + 1)
        first = free_row(servers * 4)
        self._ports = {
            number: (first + 4 * place, first + 4 * place + 1, first + 4 * place + 2)
            for place, number in enumerate(self._numbers)
        }
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def connect_string(self) -> str:
        return ",".join(
            f"{self._address(number)}:{client}" for number, (client, _, _) in self._ports.items()
        )

    @property
    def secure_connect_string(self) -> str:
        return ",".join(
            f"{self._address(number)}:{_secure_port(client)}"
            for number, (client, _, _) in self._ports.items()
        )

    def _address(self, number: int) -> str:
        return self._places[number - 1].address

    @property
    def pids(self) -> dict[int, int]:
        return {number: process.pid for number, process in self._processes.items()}

    def start(self, number: int) -> None:
        """Start a server; it serves once it has found the others (`wait_until_serving`)."""
        home = self._directory / f"zookeeper-{number}"
        client, _, _ = self._ports[number]
        secured = self._secured
        command = embedded_zookeeper.command(
            home,
            port=client,
            host=self._address(number),
            tick_time_ms=TICK_MS,
            heap_mib=64,
            users=self._users,
            tls=ServerTls(
                port=_secure_port(client),
                key_store=secured.key_store,
                trust_store=secured.trust_store,
                client_auth="need",
            )
            if secured
            else None,
        )
        peers = {
            f"server.{other}": f"{self._address(other)}:{peer}:{election}"
            for other, (_, peer, election) in self._ports.items()
        }
        if secured:
            peers |= _quorum_tls(secured)
        with (home / "zoo.cfg").open("a") as config:
            config.write(format_properties({"initLimit": "20", "syncLimit": "10", **peers}))
        (home / "myid").write_text(f"{number}\n")
        with (home / "zookeeper.log").open("ab") as log:
            self._processes[number] = subprocess.Popen(
                self._places[number - 1].inside(
                    [QUORUM if word == STANDALONE else word for word in command]
                ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - one prctl call, no locks taken
            )

    def kill(self, number: int) -> None:
        process = self._processes.pop(number)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def roles(self) -> dict[int, str]:
        """`leader` or `follower` by number, of the servers that serve now."""
        found = {
            number: _mode(self._address(number), self._ports[number][0])
            for number in self._processes
        }
        return {number: mode for number, mode in found.items() if mode}

    def leader(self) -> int:
        return next(number for number, role in self.roles().items() if role == "leader")

    def follower(self) -> int:
        return next(number for number, role in self.roles().items() if role == "follower")

    def wait_until_serving(self) -> None:
        """Until every started server serves and one of them leads."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            roles = self.roles()
            if len(roles) == len(self._processes) and "leader" in roles.values():
                return
            ended = [n for n, process in self._processes.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"ZooKeeper servers: {roles}, ended: {ended}\n{self._logs()}")
            time.sleep(0.05)

    def _logs(self) -> str:
        texts = [p.read_text(errors="replace") for p in self._directory.glob("*/zookeeper.log")]
        return "\n".join("\n".join(text.splitlines()[-20:]) for text in texts)

    def stop(self) -> None:
        for number in [*self._processes]:
            self.kill(number)


def _secure_port(client: int) -> int:
    return client + 3


def _quorum_tls(secured: Secured) -> dict[str, str]:
    return {
        "sslQuorum": "true",
        "ssl.quorum.keyStore.location": str(secured.key_store),
        "ssl.quorum.keyStore.type": "PEM",
        "ssl.quorum.trustStore.location": str(secured.trust_store),
        "ssl.quorum.trustStore.type": "PEM",
    }


def _mode(host: str, port: int) -> str:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1) as asked:
        asked.sendall(b"srvr")
        for line in asked.makefile("rb").read().decode(errors="replace").splitlines():
            if line.startswith("Mode: "):
                return line.removeprefix("Mode: ")
    return ""


@contextlib.contextmanager
def ensemble(
    directory: pathlib.Path, servers: int = SERVERS, *, secured: Secured | None = None
) -> Iterator[ZooKeeperEnsemble]:
    """A running ensemble; nothing of it is left afterwards."""
    made = ZooKeeperEnsemble(directory, servers, secured=secured)
    try:
        for number in range(1, servers + 1):
            made.start(number)
        made.wait_until_serving()
        yield made
    finally:
        made.stop()
