"""The whole service as `make up` starts it: on free ports, with data of its own, stopped by pid."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from dataplane.runtime.parent_death import die_with_parent
from deploy.local.config import LocalConfig
from tests.ports import free_row

REPOSITORY = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 60.0
BROKER_PORTS = 40


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service is and who may come in."""

    url: str
    username: str
    password: str

    @classmethod
    def from_environment(cls) -> "Address | None":
        """A running service that somebody points the tests to."""
        url = os.environ.get("PENSTOCK_E2E_URL")
        if not url:
            return None
        user, password = os.environ["PENSTOCK_E2E_USER"], os.environ["PENSTOCK_E2E_PASSWORD"]
        return cls(url.rstrip("/"), user, password)


class LocalService:
    """`python -m deploy.local up` in a process of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._log_path = directory / "launcher.log"
        http, zookeeper, redis = (free_row(1) for _ in range(3))
        first = free_row(BROKER_PORTS)
        self._environment = {
            **os.environ,
            "PENSTOCK_DATA_DIR": str(directory / "data"),
            "PENSTOCK_SPARK_JARS_DIR": os.environ.get("PENSTOCK_SPARK_JARS_DIR")
            or str(REPOSITORY / "build" / "jars"),
            "PENSTOCK_HTTP_PORT": str(http),
            "PENSTOCK_ZOOKEEPER_PORT": str(zookeeper),
            "PENSTOCK_REDIS_PORT": str(redis),
            "PENSTOCK_BROKER_PORTS": f"{first}-{first + BROKER_PORTS - 1}",
            # Some tests kill a worker and wait until its hold on the operation has run out.
            "PENSTOCK_OPERATION_LEASE_S": "5",
            "PENSTOCK_OBSERVE_INTERVAL_S": "1",
            # Of a busy machine: what a read may take is tried on hosts (`tests/hosts`).
            "PENSTOCK_READ_PATIENCE_S": "10",
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> Address:
        """As the banner says it; once started."""
        banner = self._log_path.read_text()
        return Address(
            *(
                re.findall(rf"^  {word} +(\S+)", banner, re.MULTILINE)[0]
                for word in ("console", "login", "password")
            )
        )

    def start(self) -> None:
        """Wait for the banner: by then the demo cluster runs and its workload too."""
        with self._log_path.open("wb") as log:
            self._process = subprocess.Popen(
                (sys.executable, "-m", "deploy.local", "up"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                cwd=REPOSITORY,
                start_new_session=True,
                # Test runs get killed too; the launcher then stops its parts as after Ctrl-C.
                preexec_fn=die_with_parent(signal.SIGTERM),  # noqa: PLW1509 - loaded before the fork
            )
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline_s:
            if "Ctrl-C stops everything" in self._log_path.read_text():
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"the service did not come up:\n{self._log_path.read_text()}")

    def child_environment(self) -> dict[str, str]:
        """What every part of the service sees."""
        config = LocalConfig.from_environment(self._environment)
        return {**self._environment, **config.child_environment()}

    def pid_of(self, part: str) -> int:
        """A running part's process, by its name in `make status`."""
        state = json.loads((self.directory / "data" / "run" / "state.json").read_text())
        return next(int(row["pid"]) for row in state["parts"] if row["name"] == part)

    def brokers_with(self, partition: str) -> set[int]:
        """The brokers that hold data of the partition, by their directories."""
        homes = (self.directory / "data" / "brokers").glob(f"*/data/{partition}")
        return {int(found.parent.parent.name.rpartition("-")[2]) for found in homes}

    def stop(self) -> None:
        """SIGTERM: the launcher stops its parts in order. It takes them along even when killed."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
