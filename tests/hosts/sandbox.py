"""A place of its own for hosts: namespaces that end, with all that is in them, when this run ends.

Network, processes and mounts are namespaces of one child. Whatever ends that child ends every
process, and with them every address, bridge and mounted disk: an interrupt, SIGKILL, a crash.
Nothing has to be taken down for that, and nothing outside is ever bound or mounted.
"""

from __future__ import annotations

import contextlib
import math
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from dataplane.runtime.parent_death import die_with_parent
from tests.processes import children

if TYPE_CHECKING:
    from collections.abc import Sequence

APART = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child=KILL", "--mount-proc")
OF_ITS_OWN = (pathlib.Path("/tmp"), pathlib.Path("/run/netns"))
"""Folders that only this run sees: what is left behind there goes with it."""
END_TIMEOUT_S, TURN_S = 60.0, 0.2
_TRY = "mount -t tmpfs none /tmp && ip link add try type bridge && ip link set lo up"


def why_not() -> str:
    """One line about what this machine does not let us do; empty when it lets us."""
    try:
        done = subprocess.run(
            [*APART, "sh", "-c", _TRY],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except FileNotFoundError:
        return "`unshare` is not installed"
    except subprocess.TimeoutExpired:
        return "`unshare` does not answer"
    said = done.stderr.strip().splitlines()
    return (
        (said[-1] if said else f"unshare ended with {done.returncode}") if done.returncode else ""
    )


def run_apart(arguments: Sequence[str]) -> int:
    """Run `python -m …` in there; its exit code. SIGTERM and Ctrl-C end it in good order."""
    apart = subprocess.Popen(
        [*APART, sys.executable, "-m", "tests.hosts.sandbox", *arguments],
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C comes by us, once
        preexec_fn=die_with_parent(signal.SIGKILL),  # noqa: PLW1509 - one prctl call, no locks taken
    )

    killed_at_s = math.inf

    def end(_number: int, _frame: object) -> None:
        nonlocal killed_at_s
        killed_at_s = min(killed_at_s, time.monotonic() + END_TIMEOUT_S)
        for child in children(apart.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    while True:  # in turns, as a signal is taken between them
        with contextlib.suppress(subprocess.TimeoutExpired):
            return apart.wait(TURN_S)
        if time.monotonic() > killed_at_s:
            apart.kill()


def main(arguments: Sequence[str]) -> int:
    """The first process in there: it starts the others, and buries those whose parents died."""
    workers: list[subprocess.Popen[bytes]] = []
    asked = []

    def end(number: int, _frame: object) -> None:
        asked.append(number)
        for worker in workers:
            worker.send_signal(signal.SIGINT)

    # Before there is anything to end: what the first process does not handle, it never hears of.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    for folder in OF_ITS_OWN:
        folder.mkdir(exist_ok=True)
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "mode=1777", "penstock", str(folder)], check=True
        )
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    workers.append(subprocess.Popen([sys.executable, "-m", *arguments]))
    if asked:
        workers[0].send_signal(signal.SIGINT)
    while True:
        ended, status = os.wait()
        if ended == workers[0].pid:
            return abs(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
