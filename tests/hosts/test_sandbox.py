"""Whatever ends a run, nothing of it is left."""

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.sandbox import why_not
from tests.processes import children
from tests.waiting import wait_until

RUN = "from tests.hosts.sandbox import run_apart; run_apart(['http.server', '--bind', '127.0.0.1'])"


def below(pid: int) -> list[int]:
    found = children(pid)
    return [*found, *(each for child in found for each in below(child))]


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def is_serving(pids: list[int]) -> bool:
    """Not what makes the place ready before, which is one process for a moment, too."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return (
            len(pids) == 3 and b"-m\0http.server" in Path(f"/proc/{pids[-1]}/cmdline").read_bytes()
        )
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_is_ended_leaves_no_process(how: signal.Signals) -> None:
    if reason := why_not():
        pytest.skip(f"no namespaces here: {reason}")
    run = subprocess.Popen([sys.executable, "-c", RUN], stderr=subprocess.DEVNULL)
    try:
        # `unshare`, the first process in there, and what it runs.
        wait_until(lambda: is_serving(below(run.pid)), "it runs")
        started = below(run.pid)
        networks = {str(Path(f"/proc/{pid}/ns/net").readlink()) for pid in started[1:]}
        assert str(Path("/proc/self/ns/net").readlink()) not in networks
    finally:
        run.send_signal(how)
        run.wait(60)
    wait_until(lambda: all(is_gone(pid) for pid in started), "all of it has ended")
