"""A real Alertmanager of a test's own, on loopback, without its cluster."""

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.ports import free_row

START_TIMEOUT_S = 30.0
CONFIG = """
route:
  receiver: test
  group_by: [alert_id]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 24h
receivers:
  - name: test
    webhook_configs:
      - url: {told}
        send_resolved: true
"""


class Alertmanager:
    """It tells `told`, a webhook, of what is told to it."""

    def __init__(self, directory: Path, told: str) -> None:
        self._directory = directory
        self._config = directory / "alertmanager.yml"
        self._config.write_text(CONFIG.format(told=told))
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_row(1)
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
        self._process = subprocess.Popen(
            (
                program or "prometheus-alertmanager",
                f"--config.file={self._config}",
                f"--storage.path={self._directory / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
                "--cluster.listen-address=",
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self._directory / "alertmanager.log").open("wb"),
        )
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while not self._is_ready():
            if time.monotonic() > deadline_s or self._process.poll() is not None:
                raise AssertionError((self._directory / "alertmanager.log").read_text())
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def alerts(self) -> list[dict[str, Any]]:
        """Those that are active, as its own API has them."""
        with urllib.request.urlopen(f"{self.url}/api/v2/alerts?active=true", timeout=10) as answer:
            return json.load(answer)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=1) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False
