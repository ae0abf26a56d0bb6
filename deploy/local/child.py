"""One part of the local service as a child process with a log file."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from dataplane.runtime.log_file import LogFile

RESTART_DELAY_MAX_S = 15.0
STEADY_AFTER_S = 20.0
OLD_LOG_FILES = 2
_PR_SET_PDEATHSIG = 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ChildSpec:
    """What to run. `stop_timeout_s` is how long SIGTERM may take before SIGKILL follows."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    stop_timeout_s: float = 10.0


class Child:
    """A running part: started, watched, restarted with growing delays, stopped."""

    def __init__(self, spec: ChildSpec, *, logs_dir: Path, environment: Mapping[str, str]) -> None:
        self.spec = spec
        self.log_path = logs_dir / f"{spec.name}.log"
        self.log = LogFile(self.log_path, old_files=OLD_LOG_FILES)
        self.restarts = 0
        self._environment = {**environment, **spec.environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at_s = 0.0
        self._restart_at_s: float | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process else None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        self.log.copy()
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self.spec.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                # Its own session: Ctrl-C reaches only the launcher, which stops parts in order.
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self._started_at_s = time.monotonic()
        self._restart_at_s = None

    def restart_if_exited(self) -> int | None:
        """Restart after an exit, later each time; return the exit code when one was just seen."""
        if self._process is None or self._process.poll() is None:
            return None
        now_s = time.monotonic()
        if self._restart_at_s is None:
            if now_s - self._started_at_s > STEADY_AFTER_S:
                self.restarts = 0
            delay_s = min(0.5 * 2**self.restarts, RESTART_DELAY_MAX_S)
            self._restart_at_s = now_s + delay_s
            return self._process.returncode
        if now_s >= self._restart_at_s:
            self.restarts += 1
            self.start()
        return None

    def stop(self) -> None:
        """SIGTERM, then after the bound SIGKILL to the whole process group."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(self.spec.stop_timeout_s)
            except subprocess.TimeoutExpired:
                _kill_group(process.pid, signal.SIGKILL)
                process.wait(5)
        # A part may leave helpers of its own behind (pool workers): they share its group.
        _kill_group(process.pid, signal.SIGKILL)

    def log_tail(self, lines: int = 15) -> str:
        return "\n".join(self.log.tail(lines)) or "(no log)"


def wait_until(ready: Callable[[], bool], *, child: Child | None, timeout_s: float) -> bool:
    """Poll `ready` until it is true (True), the child exits or time is up (False)."""
    deadline_s = time.monotonic() + timeout_s
    while time.monotonic() < deadline_s:
        if ready():
            return True
        if child is not None and not child.is_running:
            return False
        time.sleep(0.05)
    return False


def _die_with_parent() -> None:
    """A launcher that is killed outright must not leave its parts running (Linux only)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _kill_group(pid: int, sig: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, sig)
