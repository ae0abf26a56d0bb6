"""The demo's own worker paused, another at work that stands still at a chosen step and dies there.

The service runs as `make up` starts it. Its worker is stopped with SIGSTOP, so that every step
comes to a second worker, whose holds make the kill hit the middle of the step for certain; then
the first goes on and finds the operation as the dead one left it.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tests.controlplane.live.holds import VARIABLE, Holds
from tests.e2e.service import REPOSITORY, LocalService
from tests.processes import hold_still


@dataclass(frozen=True, slots=True)
class Kill:
    """The kill that will hit one step of one kind of operation."""

    holds: Holds
    worker: subprocess.Popen[bytes]

    def strike(self, operation_id: str) -> None:
        """SIGKILL the worker once it waits in this operation's step."""
        held = self.holds.await_held()
        assert held == {"pid": self.worker.pid, "operation_id": operation_id}
        self.worker.kill()
        self.worker.wait()


@contextlib.contextmanager
def worker_killed_at(service: LocalService, kind: str, step: str, when: str) -> Iterator[Kill]:
    """Within, only the worker to be killed runs; after it, only the demo's own."""
    holds = Holds(service.directory / "holds")
    holds.place(kind, step, when)
    own = service.pid_of("worker")
    hold_still(own)
    command = (
        *(sys.executable, "-m", "celery", "-A", "tests.controlplane.live.held_worker", "worker"),
        *("--hostname", "killed@%h", "--pool", "threads", "--concurrency", "2"),
        *("--without-gossip", "--without-mingle", "--loglevel", "info"),
    )
    with (service.directory / "killed-worker.log").open("ab") as log:
        worker = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**service.child_environment(), VARIABLE: str(holds.directory)},
            cwd=REPOSITORY,
        )
    try:
        yield Kill(holds, worker)
    finally:
        worker.kill()
        worker.wait()
        os.kill(own, signal.SIGCONT)
