"""Runs the real ZooKeeper server from the jars that ship inside PySpark.

    python -m dataplane.runtime.embedded_zookeeper --port P --data-dir D

replaces itself by the server (the same pid), so whoever started it can watch and stop it. From
Python, `EmbeddedZooKeeper` starts one as a child, waits until it serves, and stops it. It listens
on loopback only. The child dies with the thread that started it (Linux), so nothing is left over.

With `users` the server does nothing for a client that has not logged in as one of them by SASL
DIGEST-MD5. A user called `super` is above every ACL.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from dataplane.config import format_properties
from dataplane.runtime.parent_death import die_with_parent

# What ZooKeeper 3.9's standalone server needs; the other 240 jars would only slow the start.
_JAR_PATTERNS = (
    "zookeeper-3.*.jar",
    "zookeeper-jute-*.jar",
    "slf4j-api-*.jar",
    "log4j-slf4j2-impl-*.jar",
    "log4j-api-*.jar",
    "log4j-core-*.jar",
    "metrics-core-*.jar",
    "snappy-java-*.jar",
    "netty-buffer-*.jar",
    "netty-common-*.jar",
    "netty-handler-4*.jar",
    "netty-transport-4*.jar",
)
# What it needs on top to serve TLS.
_TLS_JAR_PATTERNS = (
    "netty-codec-4*.jar",
    "netty-resolver-4*.jar",
    "netty-transport-classes-epoll-*.jar",
    "netty-transport-native-unix-common-*.jar",
    "netty-tcnative-classes-*.jar",
)
_JVM_FLAGS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Xss512k",
    "-Djava.awt.headless=true",
    "-Dzookeeper.admin.enableServer=false",
    # Topic creation sends multis; Kafka's own advice for large clusters is 4 MiB.
    "-Djute.maxbuffer=4194304",
)
_PLAIN = re.compile(r"[!#-\[\]-~]+")
"""Printable ASCII without blanks, double quotes and backslashes."""
_LOG4J = """\
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
"""


_AUTHENTICATED = {
    "authProvider.sasl": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
    # Whoever has not logged in may open a session, and nothing else.
    "enforce.auth.enabled": "true",
    "enforce.auth.schemes": "sasl",
    "superUser": "super",
}


class ZooKeeperStartError(Exception):
    """The server did not start; the message says why and ends with its log's last lines."""


def jars_dir() -> Path:
    """Where PySpark keeps its jars, without importing PySpark (which costs 0.3 s and 30 MB)."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ZooKeeperStartError("pyspark is not installed, so there are no ZooKeeper jars")
    return Path(spec.origin).parent / "jars"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ServerTls:
    """TLS of a server: a port of its own, its key with certificate and whom it trusts, in PEM.

    `client_auth` is `need`, `want` or `none`: whether clients show a certificate.
    """

    port: int
    key_store: Path
    trust_store: Path
    client_auth: str = "none"


def class_path(directory: Path, *, tls: bool = False) -> str:
    """The needed jars in `directory`, as a Java class path."""
    found: list[str] = []
    for pattern in (*_JAR_PATTERNS, *(_TLS_JAR_PATTERNS if tls else ())):
        matches = sorted(directory.glob(pattern))
        if not matches:
            raise ZooKeeperStartError(f"no {pattern} in {directory}")
        found.append(str(matches[-1]))
    return os.pathsep.join(found)


def _tls_settings(host: str, tls: ServerTls) -> dict[str, str]:
    return {
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "secureClientPortAddress": host,
        "secureClientPort": str(tls.port),
        "ssl.keyStore.location": str(tls.key_store),
        "ssl.keyStore.type": "PEM",
        "ssl.trustStore.location": str(tls.trust_store),
        "ssl.trustStore.type": "PEM",
        "ssl.clientAuth": tls.client_auth,
    }


def write_config(
    data_dir: Path,
    *,
    port: int,
    host: str,
    tick_time_ms: int,
    fsync: bool,
    users: Mapping[str, str] | None = None,
    tls: ServerTls | None = None,
) -> Path:
    """Write `zoo.cfg` into `data_dir`, `jaas.conf` if there are `users`; return zoo.cfg's path."""
    data_dir.mkdir(parents=True, exist_ok=True)
    settings = {
        "dataDir": str(data_dir),
        "clientPortAddress": host,
        "clientPort": str(port),
        "tickTime": str(tick_time_ms),
        "minSessionTimeout": "1000",
        "maxSessionTimeout": "60000",
        "maxClientCnxns": "0",
        "admin.enableServer": "false",
        "4lw.commands.whitelist": "srvr,mntr,ruok",
        "autopurge.snapRetainCount": "3",
        "autopurge.purgeInterval": "1",
        "preAllocSize": "4096",
        "forceSync": "yes" if fsync else "no",
    }
    if users:
        settings |= _AUTHENTICATED
        write_private(jaas_file(data_dir), jaas(users))
    if tls is not None:
        settings |= _tls_settings(host, tls)
    config = data_dir / "zoo.cfg"
    config.write_text(format_properties(settings), encoding="ascii")
    (data_dir / "log4j2.properties").write_text(_LOG4J)
    return config


def jaas_file(data_dir: Path) -> Path:
    return data_dir / "jaas.conf"


def jaas(users: Mapping[str, str]) -> str:
    """A server's JAAS section. Raises ValueError for what cannot stand in one as it is."""
    for text in (*users, *users.values()):
        if not _PLAIN.fullmatch(text):
            raise ValueError("a user or a password with characters that JAAS would not keep")
    rows = "".join(f'\n    user_{name}="{password}"' for name, password in sorted(users.items()))
    module = "org.apache.zookeeper.server.auth.DigestLoginModule required"
    return f"Server {{\n    {module}{rows};\n}};\n"


def write_private(path: Path, text: str) -> None:
    """For the eyes of this user alone, from the first byte on; replaces what was there."""
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    temporary.replace(path)


def command(
    data_dir: Path,
    *,
    port: int,
    host: str = "127.0.0.1",
    tick_time_ms: int = 500,
    heap_mib: int = 128,
    fsync: bool = True,
    users: Mapping[str, str] | None = None,
    tls: ServerTls | None = None,
) -> list[str]:
    """Prepare `data_dir` and return the command line that runs a server on it.

    `users` are names and passwords; they stand in a file that only this user can read.
    """
    config = write_config(
        data_dir,
        port=port,
        host=host,
        tick_time_ms=tick_time_ms,
        fsync=fsync,
        users=users,
        tls=tls,
    )
    login = [f"-Djava.security.auth.login.config={jaas_file(data_dir)}"] if users else []
    return [
        "java",
        f"-Xmx{heap_mib}m",
        *_JVM_FLAGS,
        *login,
        f"-Dlog4j2.configurationFile={data_dir / 'log4j2.properties'}",
        "-cp",
        class_path(jars_dir(), tls=tls is not None),
        "org.apache.zookeeper.server.ZooKeeperServerMain",
        str(config),
    ]


def serves(host: str, port: int, timeout_s: float = 0.5) -> bool:
    """Whether a ZooKeeper server answers `srvr` at this address."""
    try:
        with socket.create_connection((host, port), timeout=timeout_s) as connection:
            connection.sendall(b"srvr")
            connection.settimeout(timeout_s)
            return b"Mode:" in connection.makefile("rb").read()
    except OSError:
        return False


def free_port(host: str = "127.0.0.1") -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


class EmbeddedZooKeeper:
    """A standalone server as a child process."""

    def __init__(
        self,
        data_dir: str | Path,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        tick_time_ms: int = 500,
        fsync: bool = True,
        users: Mapping[str, str] | None = None,
        tls: ServerTls | None = None,
    ) -> None:
        self.data_dir = Path(data_dir).absolute()
        self.host = host
        self.port = port or free_port(host)
        self.log_file = self.data_dir / "zookeeper.log"
        self._tick_time_ms = tick_time_ms
        self._fsync = fsync
        self._users = users
        self._tls = tls
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def connect_string(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self, timeout_s: float = 20.0) -> None:
        """Blocking. Raises ZooKeeperStartError when it does not serve in time; nothing is left."""
        self._refuse_taken_port()
        arguments = command(
            self.data_dir,
            port=self.port,
            host=self.host,
            tick_time_ms=self._tick_time_ms,
            fsync=self._fsync,
            users=self._users,
            tls=self._tls,
        )
        with self.log_file.open("ab") as log:
            try:
                self._process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # a Ctrl-C is for the starter, which stops us in order
                    preexec_fn=die_with_parent(),  # noqa: PLW1509 - one prctl call, no locks taken
                )
            except FileNotFoundError as error:
                raise ZooKeeperStartError("java is not on PATH (17 or newer is needed)") from error
        deadline = time.monotonic() + timeout_s
        while not serves(self.host, self.port):
            exit_code = self._process.poll()
            if exit_code is not None or time.monotonic() > deadline:
                self.stop()
                how = f"exited with {exit_code}" if exit_code is not None else "did not answer"
                raise ZooKeeperStartError(f"ZooKeeper {how} on port {self.port}\n{self.log_tail()}")
            time.sleep(0.02)

    def _refuse_taken_port(self) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                raise ZooKeeperStartError(f"port {self.port} is taken on {self.host}") from error

    def log_tail(self, lines: int = 20) -> str:
        """The last lines that the server wrote, without the frames of Java stack traces."""
        try:
            said = self.log_file.read_text(errors="replace").splitlines()
            return "\n".join([each for each in said if not each.startswith("\tat ")][-lines:])
        except FileNotFoundError:
            return ""

    def stop(self, timeout_s: float = 5.0) -> None:
        """Blocking: SIGTERM, then SIGKILL when it does not go."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout_s)
        if process.poll() is None:
            process.kill()
            process.wait()
        self._process = None

    def kill(self) -> None:
        """SIGKILL, for tests of a lost coordination service."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dataplane.runtime.embedded_zookeeper",
        description="Run a standalone ZooKeeper server in the foreground.",
    )
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data-dir", required=True, type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--no-fsync", action="store_true", help="for tests: metadata may be lost")
    options = parser.parse_args(arguments)
    try:
        line = command(
            options.data_dir.absolute(),
            port=options.port,
            host=options.host,
            fsync=not options.no_fsync,
        )
        os.execvp(line[0], line)  # noqa: S606 - replacing ourselves is the point
    except (ZooKeeperStartError, OSError) as error:
        sys.stderr.write(f"zookeeper: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
