"""Keeps one broker process running: starts it, sees its end at once, fences it, starts it again.

Used by the host agent and by local-cluster. Nothing is started before the dead one was fenced.
"""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.agent.fence import fence, read_session
from dataplane.agent.processes import Identity, Process, adopt, spawn
from dataplane.agent.states import BrokerState, End, backoff_ms, check_move, quick_exits_after
from dataplane.ports.coordinator import CoordinatorError
from dataplane.runtime.log_file import LogFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator

log = logging.getLogger(__name__)

STOP_TIMEOUT_MS = 20_000
FENCE_TIMEOUT_MS = 3_000
FENCE_RETRY_MS = 500
FENCES_OWED_MAX = 8
"""Of one broker; older sessions have timed out by themselves when so many have died since."""
REGISTER_POLL_MS = 25
ENDS_MAX, END_LINES = 5, 10
"""Ends that nobody asked for that are remembered, and how much of the log with each."""
EXIT_BAD_CONFIG = 2
"""A broker's exit code for a configuration it refuses: starting it again would not help."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSpec:
    """What to run. `log_dir` is the broker's first log directory, where it leaves its session id.

    `root` is the cluster's chroot as the supervisor's coordinator sees it, "" for none.
    """

    broker_id: int
    command: Sequence[str]
    log_dir: Path
    log_file: Path
    pid_file: Path
    root: str = ""
    generation: int = 0
    environment: tuple[tuple[str, str], ...] = ()
    """What is set for the process beside the supervisor's own environment."""


@dataclasses.dataclass(slots=True)
class Report:
    """What a supervisor knows of its broker. `ends` are the newest few, the newest last."""

    state: BrokerState = BrokerState.STOPPED
    pid: int | None = None
    restarts: int = 0
    exit_code: int | None = None
    message: str = ""
    since_ms: int = 0
    ends: tuple[End, ...] = ()


class Supervisor:
    """One broker process. `on_change` runs on the loop after every change of `report`."""

    def __init__(
        self,
        spec: BrokerSpec,
        coordinator: Coordinator,
        *,
        clock: Clock,
        on_change: Callable[[Report], None] | None = None,
        preexec: Callable[[], None] | None = None,
    ) -> None:
        self.spec = spec
        self.report = Report(since_ms=clock.realtime_ms())
        self._coordinator = coordinator
        self._clock = clock
        self._on_change = on_change
        self._preexec = preexec
        self._process: Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._owed: collections.deque[int] = collections.deque(maxlen=FENCES_OWED_MAX)
        self._fencing: asyncio.Task[None] | None = None

    # -- commands -------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the broker, or take up the one that runs already; then keep it running."""
        if self._task is not None and not self._task.done():
            return
        self._stopping = False
        process = await self._take_up()
        self._task = asyncio.get_running_loop().create_task(
            self._keep(process), name=f"supervise-{self.spec.broker_id}"
        )

    async def stop(self, timeout_ms: int = STOP_TIMEOUT_MS) -> None:
        """Stop the broker cleanly, by force when it does not go, and leave nothing in ZooKeeper."""
        self._stopping = True
        process = self._process
        if process is not None and not process.has_ended:
            await process.stop(timeout_ms / 1000)
            await self._fence(process.pid)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        if process is None and (left := Identity.load(self.spec.pid_file)) is not None:
            await self._stop_leftover(left, timeout_ms)
        self._process = None
        await self._stop_fencing()
        self.spec.pid_file.unlink(missing_ok=True)
        if self.report.state is not BrokerState.STOPPED:
            self._move(BrokerState.STOPPED, pid=None, message="")

    async def clear(self) -> None:
        """Stop and fence a process of another generation that an earlier supervisor has left."""
        left = Identity.load(self.spec.pid_file)
        if left is None or left.generation == self.spec.generation:
            return
        process = adopt(left)
        if process is not None:
            log.info("broker %d runs an old configuration: stopping it", self.spec.broker_id)
            await process.stop(STOP_TIMEOUT_MS / 1000)
        await self._fence(left.pid)
        self.spec.pid_file.unlink(missing_ok=True)

    async def release(self) -> None:
        """Stop supervising; the process goes on and can be taken up by a later supervisor."""
        self._stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._stop_fencing()
        if self._process is not None:
            self._process.release()

    def log_tail(self, lines: int = 20) -> list[str]:
        return LogFile(self.spec.log_file).tail(lines)

    # -- inside ---------------------------------------------------------------------------------

    async def _take_up(self) -> Process | None:
        """A process of an earlier supervisor: kept if it runs what we want, else stopped."""
        left = Identity.load(self.spec.pid_file)
        if left is None:
            return None
        process = adopt(left)
        if process is None:
            await self._fence(left.pid)  # it died while nobody watched
            return None
        if left.generation == self.spec.generation:
            log.info("broker %d runs already, pid %d", self.spec.broker_id, left.pid)
            self._process = process
            self._move(BrokerState.RUNNING, pid=left.pid)
            return process
        log.info("broker %d runs an old configuration: stopping it", self.spec.broker_id)
        await process.stop(STOP_TIMEOUT_MS / 1000)
        await self._fence(left.pid)
        return None

    async def _stop_leftover(self, left: Identity, timeout_ms: int) -> None:
        process = adopt(left)
        if process is not None:
            await process.stop(timeout_ms / 1000)
        await self._fence(left.pid)

    async def _keep(self, process: Process | None) -> None:
        quick_exits = 0
        while not self._is_stopping():
            if process is None:
                process = await self._launch()
                if process is None:
                    return
            started_ms = self._clock.monotonic_ms()
            exit_code = await process.wait()
            if self._is_stopping():
                return
            ran_ms = self._clock.monotonic_ms() - started_ms
            quick_exits = quick_exits_after(quick_exits, ran_ms)
            await self._ended(process.pid, exit_code)
            if exit_code == EXIT_BAD_CONFIG:
                self._move(BrokerState.FAILED, pid=None, message=self._last_line())
                return
            process = self._process = None
            pause_ms = backoff_ms(quick_exits)
            if pause_ms:
                self._move(BrokerState.BACKOFF, message=f"starting again in {pause_ms} ms")
                await asyncio.sleep(pause_ms / 1000)
            self.report.restarts += 1

    async def _ended(self, pid: int, exit_code: int | None) -> None:
        log.warning("broker %d, pid %d: %s", self.spec.broker_id, pid, _describe(exit_code))
        self.report.exit_code = exit_code
        self._note_end(exit_code)
        self._move(BrokerState.EXITED, pid=None, message=_describe(exit_code))
        await self._fence(pid)
        self.spec.pid_file.unlink(missing_ok=True)

    def _note_end(self, exit_code: int | None) -> None:
        end = End(
            at_ms=self._clock.realtime_ms(),
            exit_code=exit_code,
            message=_describe(exit_code),
            log_tail=tuple(self.log_tail(END_LINES)),
        )
        self.report.ends = (*self.report.ends, end)[-ENDS_MAX:]

    async def _launch(self) -> Process | None:
        spec = self.spec
        self._move(BrokerState.STARTING, message="")
        try:
            spec.pid_file.parent.mkdir(parents=True, exist_ok=True)
            process = spawn(
                spec.command,
                log_file=spec.log_file,
                generation=spec.generation,
                environment={**os.environ, **dict(spec.environment)},
                preexec=self._preexec,
            )
            process.identity.save(spec.pid_file)
        except OSError as error:
            log.exception("broker %d cannot be started", spec.broker_id)
            self._move(BrokerState.FAILED, message=str(error))
            return None
        self._process = process
        self.report.pid = process.pid
        log.info("started broker %d, pid %d", spec.broker_id, process.pid)
        self._changed()
        await self._until_registering(process)
        return process

    async def _until_registering(self, process: Process) -> None:
        """RUNNING once the broker has reached ZooKeeper: its last step before it registers."""
        while not process.has_ended:
            if read_session(self.spec.log_dir, process.pid) is not None:
                self._move(BrokerState.RUNNING, pid=process.pid)
                return
            await asyncio.sleep(REGISTER_POLL_MS / 1000)

    async def _fence(self, pid: int) -> None:
        """Without ZooKeeper the next start does not wait for it: it is done when there is one."""
        session_id = read_session(self.spec.log_dir, pid)
        if session_id is None:
            return
        try:
            async with asyncio.timeout(FENCE_TIMEOUT_MS / 1000):
                await fence(self._coordinator, self.spec.broker_id, session_id, root=self.spec.root)
        except (CoordinatorError, TimeoutError) as error:
            why = error if str(error) else "ZooKeeper does not answer"
            log.warning("broker %d is fenced later: %s", self.spec.broker_id, why)
            self._owed.append(session_id)
            if self._fencing is None or self._fencing.done():
                self._fencing = asyncio.get_running_loop().create_task(self._fence_owed())

    async def _fence_owed(self) -> None:
        """ZooKeeper restarts a session's timeout when it comes back: do not wait for that.

        A fence names one session, so it may come after the next process has been started.
        """
        while self._owed:
            spec = self.spec
            try:
                await fence(self._coordinator, spec.broker_id, self._owed[0], root=spec.root)
            except CoordinatorError:
                await asyncio.sleep(FENCE_RETRY_MS / 1000)
            else:
                self._owed.popleft()

    async def _stop_fencing(self) -> None:
        task, self._fencing = self._fencing, None
        self._owed.clear()
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _is_stopping(self) -> bool:
        return self._stopping

    def _last_line(self) -> str:
        lines = [line for line in self.log_tail(5) if line.strip()]
        return lines[-1] if lines else "the broker refuses its configuration"

    def _move(
        self, state: BrokerState, *, pid: int | None = None, message: str | None = None
    ) -> None:
        check_move(self.report.state, state)
        self.report.state = state
        self.report.since_ms = self._clock.realtime_ms()
        if pid is not None or state in (BrokerState.STOPPED, BrokerState.EXITED):
            self.report.pid = pid
        if message is not None:
            self.report.message = message
        self._changed()

    def _changed(self) -> None:
        if self._on_change is not None:
            self._on_change(self.report)


def _describe(exit_code: int | None) -> str:
    if exit_code is None:
        return "the process is gone"
    if exit_code < 0:
        return f"killed by signal {-exit_code}"
    return f"exited with {exit_code}"
