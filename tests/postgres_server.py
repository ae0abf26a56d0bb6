"""A PostgreSQL of a test's own: stopped, killed, frozen and started again by the test."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from tests.ports import free_row
from tests.processes import children, hold_still

START_TIMEOUT_S = 30
OWNER = "postgres"
"""Who runs it when root runs the tests: PostgreSQL refuses to run as root."""


def programs() -> Path:
    """Where `initdb` and `pg_ctl` are."""
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    found = str(packaged[-1]) if packaged else shutil.which("pg_ctl")
    if found is None:
        raise AssertionError("there is no PostgreSQL on this machine")
    return Path(found).parent


class PostgresServer:
    def __init__(self) -> None:
        # Short, as a socket's path is bounded, and where another user may go.
        self._directory = Path(tempfile.mkdtemp(prefix="penstock-pg-", dir="/tmp"))
        self._data = self._directory / "data"
        self._programs = programs()
        self.port = free_row(1)
        self.url = f"postgres://penstock@127.0.0.1:{self.port}/postgres"
        if os.getuid() == 0:
            os.chown(self._directory, pwd.getpwnam(OWNER).pw_uid, -1)
        self._run("initdb", "-U", "penstock", "--auth=trust", "--encoding=UTF8", "--locale=C")

    def start(self) -> None:
        # A backend that SIGKILL left behind holds the shared memory for a moment.
        options = f"-p {self.port} -k {self._directory} -c listen_addresses=127.0.0.1 -c fsync=off"
        log = str(self._directory / "log")
        self._run("pg_ctl", "-w", "-t", str(START_TIMEOUT_S), "-o", options, "-l", log, "start")

    def stop(self) -> None:
        """In good order, its sessions broken off."""
        self._run("pg_ctl", "-w", "-m", "fast", "stop")

    def kill(self) -> None:
        """SIGKILL to every process of it: what a machine that loses its power leaves."""
        self._signal(signal.SIGKILL)

    def pause(self) -> None:
        """It hangs: the kernel takes connections and bytes, and nothing is answered."""
        self._signal(signal.SIGSTOP)
        for process in self._processes():
            hold_still(process)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def remove(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self._signal(signal.SIGCONT)
            self._run("pg_ctl", "-m", "immediate", "stop", check=False)
        shutil.rmtree(self._directory, ignore_errors=True)

    def _signal(self, number: signal.Signals) -> None:
        for process in self._processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        owner = OWNER if os.getuid() == 0 else None
        done = subprocess.run(
            [str(self._programs / program), "-D", str(self._data), *arguments],
            user=owner,
            group=owner,
            extra_groups=[] if owner else None,
            cwd=self._directory,
            stdin=subprocess.DEVNULL,
            stdout=(self._directory / "commands").open("a"),
            stderr=subprocess.STDOUT,
            timeout=START_TIMEOUT_S * 2,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError((self._directory / "commands").read_text())

    def _processes(self) -> tuple[int, ...]:
        """First itself, so that it does not react to what happens to its children, which are
        another process's once it is gone.
        """
        postmaster = int((self._data / "postmaster.pid").read_text().split()[0])
        return (postmaster, *children(postmaster))
