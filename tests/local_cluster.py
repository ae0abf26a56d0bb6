"""A real cluster for tests: `python -m dataplane local-cluster`, on free ports, stopped by pid."""

from __future__ import annotations

import contextlib
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from tests.ports import free_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
START_TIMEOUT_S = 90.0


class LocalCluster:
    """A started cluster; brokers are named by id, from 0.

    `bootstrap` is for clients of the PLAINTEXT listener that every cluster has, `bootstraps` for
    those of the listeners named.
    """

    def __init__(
        self,
        data_dir: pathlib.Path,
        *,
        brokers: int = 3,
        settings: Mapping[str, str] | None = None,
        listeners: Sequence[str] = (),
    ) -> None:
        self.brokers = brokers
        self.port = free_row(brokers * (1 + len(listeners)))
        self.data_dir = data_dir
        self.output: list[str] = []
        command = [sys.executable, "-m", "dataplane", "local-cluster"]
        command += [
            "--brokers",
            str(brokers),
            "--port",
            str(self.port),
            "--data-dir",
            str(data_dir),
        ]
        self.bootstraps: dict[str, str] = {}
        for number, name in enumerate(listeners, 1):
            first = self.port + number * brokers
            command += ["--listener", f"{name}://127.0.0.1:{first}"]
            ports = range(first, first + brokers)
            self.bootstraps[name] = ",".join(f"127.0.0.1:{port}" for port in ports)
        for key, value in (settings or {}).items():
            command += ["--set", f"{key}={value}"]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._ready: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read_output, daemon=True).start()
        try:
            self.bootstrap = self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output.append(line.rstrip())
            if line.startswith("ready bootstrap="):
                self._ready.put(line.strip().removeprefix("ready bootstrap="))
        self._ready.put("")

    def _wait_until_ready(self) -> str:
        try:
            bootstrap = self._ready.get(timeout=START_TIMEOUT_S)
        except queue.Empty:
            bootstrap = ""
        if not bootstrap:
            raise RuntimeError("the cluster did not start:\n" + "\n".join(self.output[-60:]))
        return bootstrap

    def broker_pid(self, broker_id: int) -> int:
        """The process that listens on the broker's port."""
        inode = _listening_inode(self.port + broker_id)
        for descriptor in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
            with contextlib.suppress(OSError):
                if str(descriptor.readlink()) == f"socket:[{inode}]":
                    return int(descriptor.parts[2])
        raise LookupError(f"no process listens as broker {broker_id}")

    def kill_broker(self, broker_id: int, *, for_good: bool = False) -> int:
        """SIGKILL; answers the pid that died. The supervisor starts it again, but not for good."""
        if for_good:
            (properties,) = self.data_dir.glob(f"**/broker-{broker_id}/broker.properties")
            properties.write_text("broker.id=none")  # nothing that could be started
        pid = self.broker_pid(broker_id)
        os.kill(pid, signal.SIGKILL)
        return pid

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def _listening_inode(port: int) -> str:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and int(columns[1].rpartition(":")[2], 16) == port:
                return columns[9]
    raise LookupError(f"nobody listens on port {port}")


@contextlib.contextmanager
def local_cluster(data_dir: pathlib.Path, **options: object) -> Iterator[LocalCluster]:
    cluster = LocalCluster(data_dir, **options)  # type: ignore[arg-type]  # passed on as given
    try:
        yield cluster
    finally:
        cluster.stop()


def eventually(seconds: float, what: str) -> Iterator[None]:
    """`for _ in eventually(10, "…"): …; break` — tries until the body breaks or time is up."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        yield
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {what}")
