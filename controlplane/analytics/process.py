"""The run's process: started in a group of its own, found again by its pid file, ended as a group.

A pid alone may be somebody else's by now; it counts only together with the process's start time.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

TERM_WAIT_S = 1.5
LOG_FILE = "run.log"
PID_FILE = "pid.json"
# The run needs the way to the brokers (on a file) and nothing else that this process knows.
_KEPT_TO_OURSELVES = (
    "PENSTOCK_SECRET_KEY",
    "PENSTOCK_FERNET_KEY",
    "DATABASE_URL",
    # On the run's own file of secrets instead.
    "PENSTOCK_LAKE_CATALOG_PASSWORD",
)


@dataclass(frozen=True, slots=True)
class RunProcess:
    """`start_ticks` is /proc's start time; 0 where there is no /proc."""

    pid: int
    start_ticks: int


def start(config_path: Path, work_dir: Path) -> RunProcess:
    """Start `python -m spark_analytics run` in a session of its own; its output goes to a file."""
    environment = {key: value for key, value in os.environ.items() if key not in _KEPT_TO_OURSELVES}
    environment.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with (work_dir / LOG_FILE).open("ab") as log:
        child = subprocess.Popen(
            command(config_path),
            cwd=settings.REPOSITORY,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    found = RunProcess(child.pid, _start_ticks(child.pid))
    part = work_dir / f"{PID_FILE}.part"
    part.write_text(json.dumps({"pid": found.pid, "start_ticks": found.start_ticks}))
    part.replace(work_dir / PID_FILE)
    return found


def command(config_path: Path) -> list[str]:
    return [sys.executable, "-m", "spark_analytics", "run", "--config", str(config_path)]


def find(work_dir: Path) -> RunProcess | None:
    """The process that was started there, or None when none was noted."""
    try:
        row = json.loads((work_dir / PID_FILE).read_text())
        return RunProcess(int(row["pid"]), int(row["start_ticks"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_alive(process: RunProcess) -> bool:
    """Running, and still the same process. A child of ours that ended is reaped on the way."""
    with contextlib.suppress(ChildProcessError, OSError):
        os.waitpid(process.pid, os.WNOHANG)
    try:
        os.kill(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return _start_ticks(process.pid) == process.start_ticks and not _is_zombie(process.pid)


def end(process: RunProcess) -> None:
    """TERM to the group, KILL after a moment; returns when the leader is gone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not is_alive(process) and number == signal.SIGTERM:
            # The leader is gone; what it left in its group goes too.
            number = signal.SIGKILL
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if _group_is_ours(process):
                os.killpg(process.pid, number)
        gone_by_s = time.monotonic() + TERM_WAIT_S
        while is_alive(process) and time.monotonic() < gone_by_s:
            time.sleep(0.05)


def last_words(work_dir: Path, limit: int = 300) -> str:
    """The last line of the run's log: why it went, when it left no result."""
    try:
        lines = (work_dir / LOG_FILE).read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:limit] if lines else ""


def _group_is_ours(process: RunProcess) -> bool:
    """A dead leader's pid cannot be reused while its group has members; else it may be."""
    return is_alive(process) or not Path(f"/proc/{process.pid}").exists()


def _start_ticks(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[19]) if fields else 0


def _is_zombie(pid: int) -> bool:
    fields = _stat(pid)
    return bool(fields) and fields[0] == "Z"


def _stat(pid: int) -> list[str]:
    """Fields of /proc/<pid>/stat from the third on (the second, the name, may hold spaces)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return text.rpartition(")")[2].split()
