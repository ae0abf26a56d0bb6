"""A run never outlives its deadline or its supervisor.

The supervisor kills the whole process group; this is for when the supervisor itself is gone.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

CHECK_INTERVAL_S = 1.0


def overdue(
    *, started_s: float, now_s: float, deadline_s: float, lease_age_s: float | None, lease_s: float
) -> str | None:
    """Why a run must end now, or None."""
    if now_s - started_s > deadline_s:
        return f"the deadline of {deadline_s:.0f} s has passed"
    if lease_age_s is not None and lease_age_s > lease_s:
        return f"nobody supervised this run for {lease_s:.0f} s"
    return None


def start(*, deadline_s: float, lease_path: str | None, lease_s: float) -> None:
    """Watch from a daemon thread; when overdue, end the process group (Spark's JVM is in it)."""
    started_s = time.monotonic()

    def watch() -> None:
        while True:
            time.sleep(CHECK_INTERVAL_S)
            reason = overdue(
                started_s=started_s,
                now_s=time.monotonic(),
                deadline_s=deadline_s,
                lease_age_s=_age_s(lease_path),
                lease_s=lease_s,
            )
            if reason is not None:
                _end_group(reason)

    threading.Thread(target=watch, name="watchdog", daemon=True).start()


def _age_s(lease_path: str | None) -> float | None:
    if lease_path is None:
        return None
    try:
        return time.time() - Path(lease_path).stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _end_group(reason: str) -> None:
    os.write(2, f"spark_analytics: {reason}; ending\n".encode())
    if os.getpgrp() == os.getpid():
        # At once and for all: a run may be killed at any point, that is what it is built for.
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
