"""A Spark standalone cluster on loopback: a master and workers of one core, each a process group."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pyspark

from tests.ports import HOST, free_row

START_S = 60.0
SPARK_HOME = Path(pyspark.__file__).parent


@dataclass(slots=True)
class StandaloneCluster:
    """Start it as a context; `url` is what a run names as its master."""

    folder: Path
    workers: int = 2
    port: int = field(default_factory=lambda: free_row(2))
    _master: subprocess.Popen[bytes] | None = None
    _workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"spark://{HOST}:{self.port}"

    def __enter__(self) -> Self:
        self._master = self._start(
            "master.Master", "--port", str(self.port), "--webui-port", str(self.port + 1)
        )
        try:
            self._until_alive(0)
            for _ in range(self.workers):
                self.add_worker()
            self._until_alive(self.workers)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        for process in [*self._workers, *([self._master] if self._master else [])]:
            _kill(process)

    def add_worker(self) -> None:
        number = len(self._workers)
        self._workers.append(
            self._start(
                "worker.Worker",
                *("--cores", "1", "--memory", "1g", "--webui-port", "0"),
                *("--work-dir", str(self.folder / f"worker-{number}")),
                self.url,
            )
        )

    def kill_worker(self) -> None:
        """SIGKILL the first worker together with its executors: a host that is gone."""
        _kill(self._workers.pop(0))

    def alive_workers(self) -> int:
        """Those that the master counts on; raises OSError while it does not answer."""
        url = f"http://{HOST}:{self.port + 1}/json/"
        with urllib.request.urlopen(url, timeout=5) as answer:
            return int(json.load(answer)["aliveworkers"])

    def _start(self, role: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{role}-{time.monotonic_ns()}.log").open("wb")
        command = [
            str(SPARK_HOME / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{role}",
            *("--host", HOST),
            *arguments,
        ]
        environment = {
            **os.environ,
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }
        # Executors are to have what the run sends them, not this checkout.
        environment.pop("PYTHONPATH", None)
        with log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _until_alive(self, workers: int) -> None:
        end_s = time.monotonic() + START_S
        while time.monotonic() < end_s:
            try:
                if self.alive_workers() >= workers:
                    return
            except OSError:
                pass
            time.sleep(0.2)
        raise TimeoutError(f"no Spark cluster of {workers} workers within {START_S:.0f} s")


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
