"""Runs the real ZooKeeper server from the jars that ship inside PySpark.

    python -m dataplane.runtime.embedded_zookeeper --port P --data-dir D

replaces itself by the server (the same pid), so whoever started it can watch and stop it. From
Python, `EmbeddedZooKeeper` starts one as a child, waits until it serves, and stops it. It listens
on loopback only. The child dies with the thread that started it (Linux), so nothing is left over.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

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
_LOG4J = """\
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
"""


class ZooKeeperStartError(Exception):
    """The server did not start; the message says why and ends with its log's last lines."""


def jars_dir() -> Path:
    """Where PySpark keeps its jars, without importing PySpark (which costs 0.3 s and 30 MB)."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ZooKeeperStartError("pyspark is not installed, so there are no ZooKeeper jars")
    return Path(spec.origin).parent / "jars"


def class_path(directory: Path) -> str:
    """The needed jars in `directory`, as a Java class path."""
    found: list[str] = []
    for pattern in _JAR_PATTERNS:
        matches = sorted(directory.glob(pattern))
        if not matches:
            raise ZooKeeperStartError(f"no {pattern} in {directory}")
        found.append(str(matches[-1]))
    return os.pathsep.join(found)


def write_config(data_dir: Path, *, port: int, host: str, tick_time_ms: int, fsync: bool) -> Path:
    """Write `zoo.cfg` into `data_dir` and return its path."""
    data_dir.mkdir(parents=True, exist_ok=True)
    lines = [
        f"dataDir={data_dir}",
        f"clientPortAddress={host}",
        f"clientPort={port}",
        f"tickTime={tick_time_ms}",
        "minSessionTimeout=1000",
        "maxSessionTimeout=60000",
        "maxClientCnxns=0",
        "admin.enableServer=false",
        "4lw.commands.whitelist=srvr,mntr,ruok",
        "autopurge.snapRetainCount=3",
        "autopurge.purgeInterval=1",
        "preAllocSize=4096",
        f"forceSync={'yes' if fsync else 'no'}",
    ]
    config = data_dir / "zoo.cfg"
    config.write_text("\n".join(lines) + "\n")
    (data_dir / "log4j2.properties").write_text(_LOG4J)
    return config


def command(
    data_dir: Path,
    *,
    port: int,
    host: str = "127.0.0.1",
    tick_time_ms: int = 500,
    heap_mib: int = 128,
    fsync: bool = True,
) -> list[str]:
    """Prepare `data_dir` and return the command line that runs a server on it."""
    config = write_config(data_dir, port=port, host=host, tick_time_ms=tick_time_ms, fsync=fsync)
    return [
        "java",
        f"-Xmx{heap_mib}m",
        *_JVM_FLAGS,
        f"-Dlog4j2.configurationFile={data_dir / 'log4j2.properties'}",
        "-cp",
        class_path(jars_dir()),
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
    ) -> None:
        self.data_dir = Path(data_dir).absolute()
        self.host = host
        self.port = port or free_port(host)
        self.log_file = self.data_dir / "zookeeper.log"
        self._tick_time_ms = tick_time_ms
        self._fsync = fsync
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
