"""Child processes, and processes that outlived the agent that started them (Linux).

A process is known by its pid and its start time in clock ticks, so a recycled pid is not taken for
it. Its end is seen at once through a pidfd, whether it is our child or not.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.runtime.log_file import LOG_FILE, LogFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """Which process, in which life. `generation` is that of the configuration it runs."""

    pid: int
    start_ticks: int
    generation: int = 0

    def save(self, path: Path) -> None:
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(dataclasses.asdict(self)))
        temporary.replace(path)

    @staticmethod
    def load(path: Path) -> Identity | None:
        try:
            return Identity(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            return None


def start_ticks_of(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None when there is no live one."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the name before it may hold anything
    return None if fields[0] in ("Z", "X") else int(fields[19])


class Process:
    """A running process. `wait` returns its exit code, None when it is not our child."""

    def __init__(self, identity: Identity, child: subprocess.Popen[bytes] | None) -> None:
        self.identity = identity
        self._child = child
        self._pidfd = os.pidfd_open(identity.pid)
        self._ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._pidfd, self._on_end)

    @property
    def pid(self) -> int:
        return self.identity.pid

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set()

    def _on_end(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._pidfd = -1
        self._ended.set()

    async def wait(self) -> int | None:
        await self._ended.wait()
        # The pidfd is readable before the parent may reap: this returns at once.
        return self._child.wait() if self._child is not None else None

    def signal(self, number: int) -> None:
        """Through the pidfd, so that nobody else can be hit."""
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, number)

    async def stop(self, timeout_s: float) -> int | None:
        """SIGTERM, and SIGKILL when it has not gone in time."""
        self.signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(timeout_s):
                return await self.wait()
        except TimeoutError:
            self.signal(signal.SIGKILL)
            return await self.wait()

    def release(self) -> None:
        """Stop watching; the process goes on."""
        if self._pidfd >= 0:
            self._on_end()


def spawn(
    command: Sequence[str],
    *,
    log_file: Path,
    generation: int,
    environment: Mapping[str, str] | None = None,
    preexec: Callable[[], None] | None = None,
) -> Process:
    """Start a child in its own session, its output appended to `log_file`. Raises OSError.

    The child receives the file's name, to rotate it while it runs (`dataplane.runtime.log_file`).
    A full file is rotated here too, for children that end before they can.
    """
    LogFile(log_file).rename()
    with log_file.open("ab") as log:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # a terminal's Ctrl-C is for us; we stop children in order
            env={
                **(environment if environment is not None else os.environ),
                LOG_FILE: str(log_file.absolute()),
            },
            preexec_fn=preexec,  # noqa: PLW1509 - at most one prctl call, no locks taken
        )
    return Process(Identity(child.pid, start_ticks_of(child.pid) or 0, generation), child)


def adopt(identity: Identity) -> Process | None:
    """Watch a process that an earlier agent started; None when it has gone."""
    try:
        process = Process(identity, None)
    except OSError:
        return None
    # The pidfd is open now, so the pid cannot be recycled between this look and a later signal.
    if start_ticks_of(identity.pid) != identity.start_ticks:
        process.release()
        return None
    return process
