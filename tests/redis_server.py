"""A Redis of a test's own: started on a free port, killed and started again by the test."""

import shutil
import signal
import subprocess
import time
from pathlib import Path

import redis

from tests.ports import free_row
from tests.processes import hold_still

START_TIMEOUT_S = 10.0


class RedisServer:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_row(1)
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        self._process = subprocess.Popen(
            (
                shutil.which("redis-server") or "redis-server",
                *("--port", str(self.port), "--bind", "127.0.0.1"),
                *("--save", "", "--dir", str(self._directory)),
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            if time.monotonic() > deadline_s:
                raise AssertionError("redis-server does not serve")
            time.sleep(0.02)

    def pause(self) -> None:
        """It hangs: connections stay open and nothing is answered."""
        assert self._process is not None
        hold_still(self._process.pid)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL: what it held is lost."""
        if self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _answers(self) -> bool:
        try:
            return bool(redis.Redis(port=self.port, socket_timeout=1).ping())
        except redis.RedisError:
            return False
