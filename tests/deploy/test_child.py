"""One part of the service: it is restarted, stopped within its bound, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dataplane.runtime.log_file import LogFile
from deploy.local.child import OLD_LOG_FILES, Child, ChildSpec, wait_until


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    children: list[Child] = []

    def _start(program: str, *, stop_timeout_s: float = 5.0) -> Child:
        spec = ChildSpec(
            name="part", command=(sys.executable, "-c", program), stop_timeout_s=stop_timeout_s
        )
        child = Child(spec, logs_dir=tmp_path, environment=dict(os.environ))
        children.append(child)
        child.start()
        return child

    yield _start
    for child in children:
        child.stop()


def eventually(condition: Callable[[], bool]) -> None:
    assert wait_until(condition, child=None, timeout_s=20)


def test_output_goes_to_its_log(start: Callable[..., Child]) -> None:
    child = start("print('ready'); raise SystemExit(3)")
    eventually(lambda: child.exit_code == 3)
    assert child.log_tail() == "ready"


def test_a_part_that_ends_is_started_again(start: Callable[..., Child]) -> None:
    child = start("import time; time.sleep(60)")
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    eventually(lambda: child.restart_if_exited() == -signal.SIGKILL)
    eventually(lambda: child.restart_if_exited() is None and child.is_running)
    assert child.pid != first
    assert child.restarts == 1


def test_a_part_that_ignores_sigterm_is_killed_after_its_bound(start: Callable[..., Child]) -> None:
    child = start(
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True);"
        " time.sleep(60)",
        stop_timeout_s=0.3,
    )
    eventually(lambda: child.log_tail() == "deaf")
    child.stop()
    assert not child.is_running


def test_helpers_of_a_part_go_with_it(start: Callable[..., Child]) -> None:
    child = start(
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time;"
        " time.sleep(60)']); print(p.pid, flush=True); p.wait()"
    )
    eventually(lambda: child.log_tail().isdecimal())
    helper = int(child.log_tail())
    child.stop()
    eventually(lambda: not alive(helper))


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_waiting_ends_when_the_part_does(start: Callable[..., Child]) -> None:
    child = start("raise SystemExit(1)")
    began_s = time.monotonic()
    assert not wait_until(lambda: False, child=child, timeout_s=30)
    assert time.monotonic() - began_s < 20


def test_a_restarted_part_appends_and_its_log_stays_bounded(tmp_path: Path) -> None:
    bytes_max = 10_000
    command = (sys.executable, "-c", f"print('x' * {bytes_max}); print('end')")
    child = Child(
        ChildSpec(name="part", command=command), logs_dir=tmp_path, environment=dict(os.environ)
    )
    child.log = LogFile(child.log_path, bytes_max=bytes_max, old_files=OLD_LOG_FILES)
    for _ in range(OLD_LOG_FILES + 2):
        child.start()
        eventually(lambda: child.exit_code == 0)
        child.stop()
    assert child.log_tail(1) == "end"
    assert len(list(tmp_path.iterdir())) == OLD_LOG_FILES + 1
    assert all(log.stat().st_size <= bytes_max for log in tmp_path.glob("*.log.*"))
