"""One simulated machine: its disk, the broker process on it, and the supervisor that restarts it.

The process is production's `BrokerProcess` on simulated environment. The supervisor follows
`dataplane.agent.supervisor`: it sees the end at once, fences by the session file, starts it again.
"""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, Any

from dataplane.agent.fence import fence
from dataplane.cluster.session_file import SESSION_FILE, session_of
from dataplane.compose.broker_process import BrokerProcess
from dataplane.compose.environment import Environment
from dataplane.config import BrokerConfig
from dataplane.ports.coordinator import CoordinatorError
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.ports.filesystem import read_whole
from tests.simulation.world.disk import Disk, ProcessFiles
from tests.simulation.world.kazoo_client import SimKazooClient, open_coordinator
from tests.simulation.world.loop import HostLoop
from tests.simulation.world.ports import WORK_MAX_S, WORK_MIN_S, LoopBackground, MachineClock

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

LOG_DIR, MORE_LOGS_DIR = "/data", "/more"
PORT = 9092
FENCE_TIMEOUT_S = 3.0
RESTART_MIN_S, RESTART_MAX_S = 0.05, 1.5
HOOK_POLL_S = 0.001


@dataclasses.dataclass(eq=False)
class Process:
    """One life of a broker."""

    pid: int
    loop: HostLoop
    files: ProcessFiles
    broker: BrokerProcess
    stop: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)
    client: SimKazooClient | None = None
    is_serving: bool = False
    is_over: bool = False

    @property
    def is_running(self) -> bool:
        return self.is_serving and not self.is_over

    @property
    def replica_manager(self) -> Any:
        """The replica manager, once it is there."""
        components = self.broker.components
        return components.replica_manager if components is not None else None

    @property
    def has_lost_directory(self) -> bool:
        """Whether it has given a log directory up: it takes it up again with its next start only."""
        components = self.broker.components
        return components is not None and any(
            report.error for report in components.logs.directories()
        )


class Machine:
    """Machine and broker share their number; the network knows it as `broker-N`."""

    def __init__(self, sim: Simulation, number: int) -> None:
        self.sim = sim
        self.number = number
        self.name = f"broker-{number}"
        self.disk = Disk(sim.fork_random())
        self.clock = MachineClock(lambda: sim.scheduler.now_s)
        self.process: Process | None = None
        self.auto_restart = True
        self.fences = True
        self.extra_fence_delay_s = 0.0
        self.has_power = True
        self.healthy_since_s = 0.0
        self.lives = 0
        self._random = sim.fork_random()
        self._agent = HostLoop(sim.scheduler, sim.network, self.name, f"agent-{number}")
        self._agent.on_error = sim.on_loop_error(self._agent)
        self._agent_session: asyncio.Task[object] | None = None

    # -- life

    def start(self) -> None:
        """Start a process, unless one is there."""
        if self.process is not None or not self.has_power:
            return
        sim = self.sim
        self.lives += 1
        loop = HostLoop(sim.scheduler, sim.network, self.name, f"{self.name}.{self.lives}")
        loop.on_error = sim.on_loop_error(loop)
        files = self.disk.process_view()
        random = sim.fork_random()
        process = Process(self.number * 1000 + self.lives, loop, files, None)  # type: ignore[arg-type] # its broker is set below

        async def connect(config: BrokerConfig) -> object:
            timeout_s = config.get_int("zookeeper.session.timeout.ms") / 1000
            coordinator, process.client = await open_coordinator(
                sim.zookeeper, sim.network, loop, random, timeout_s, chroot=sim.plan.chroot
            )
            return coordinator

        process.broker = BrokerProcess(
            BrokerConfig.parse(sim.settings(self.number)),
            on_fatal=process.stop.set,
            environment=Environment(
                clock=self.clock,
                entropy=FakeEntropy(random.getrandbits(32)),
                files=files,
                process_id=process.pid,
                background=lambda: LoopBackground(
                    loop, lambda: random.uniform(WORK_MIN_S, WORK_MAX_S)
                ),
                bind=lambda _name, host, port: sim.network.bind(loop, host, port),  # type: ignore[arg-type,return-value] # a simulated socket
                connect=connect,  # type: ignore[arg-type] # knows kazoo's stand-in
            ),
        )
        self.process = process
        sim.trace(f"{loop.name} starts")
        loop.call_soon(lambda: loop.create_task(self._live(process)))
        loop.call_later(HOOK_POLL_S, self._hook, process)

    def _hook(self, process: Process) -> None:
        """Listen to changes of role as soon as there is something to listen to."""
        replica_manager = process.replica_manager
        if replica_manager is None:
            process.loop.call_later(HOOK_POLL_S, self._hook, process)
            return
        sim = self.sim
        sim.chains.broker_starts(process)
        replica_manager.on_leadership(
            lambda tp, leads, epoch: sim.leadership(self, process, tp, leads, epoch)
        )

    async def _live(self, process: Process) -> None:
        sim = self.sim
        try:
            await process.broker.start()
        except Exception as error:
            sim.trace(f"{process.loop.name} could not start: {error!r}")
            self._ended(process)
            return
        process.is_serving = True
        self.healthy_since_s = sim.now_s
        sim.trace(f"{process.loop.name} serves")
        sim.started(self, process)
        await process.stop.wait()
        sim.trace(f"{process.loop.name} stops {process.broker.failure}")
        await process.broker.stop()
        self._ended(process)

    def _ended(self, process: Process, *, silently: bool = False) -> None:
        """The process is gone; the supervisor learns of it, unless the whole machine is."""
        self.sim.ending()
        process.is_over = True
        process.loop.kill()
        process.files.end()
        if process.client is not None:
            process.client.vanish()
        self.sim.network.process_ended(process.loop, silently=silently)
        self.process = None
        self.sim.ended_processes.append(process)
        if not silently and self.auto_restart:
            self._agent.call_soon(lambda: self._agent.create_task(self._restart(process)))

    # -- the supervisor

    async def _restart(self, process: Process) -> None:
        session_id = self.session_id_of(process)
        if self.fences and session_id is not None:
            if self.extra_fence_delay_s:
                # A stale fence: somebody else has started the broker again by then.
                self._agent.call_later(self.extra_fence_delay_s, self.fence_now, session_id)
                self.extra_fence_delay_s = 0.0
            else:
                await self._fence(session_id)
        await asyncio.sleep(self._random.uniform(RESTART_MIN_S, RESTART_MAX_S))
        if self.auto_restart:
            self.start()

    def session_id_of(self, process: Process) -> int | None:
        """What the session file says, as the supervisor reads it."""
        try:
            content = read_whole(self.disk, f"{LOG_DIR}/{SESSION_FILE}")
        except OSError:
            return None
        return session_of(content, process.pid)

    def fence_now(self, session_id: int) -> None:
        self._agent.call_soon(lambda: self._agent.create_task(self._fence(session_id)))

    async def _fence(self, session_id: int) -> None:
        sim = self.sim
        coordinator, client = None, None
        try:
            async with asyncio.timeout(FENCE_TIMEOUT_S):
                coordinator, client = await open_coordinator(
                    sim.zookeeper,
                    sim.network,
                    self._agent,
                    self._random,
                    FENCE_TIMEOUT_S * 2,
                    chroot=sim.plan.chroot,
                    sees_all=True,
                )
                removed = await fence(coordinator, self.number, session_id, root=sim.plan.chroot)
        except (CoordinatorError, TimeoutError) as error:
            sim.trace(f"agent-{self.number} cannot fence {session_id:#x}: {error!r}")
        else:
            sim.trace(f"agent-{self.number} fenced {session_id:#x}: {removed}")
        if client is not None:
            client.stop()

    # -- what happens to it

    def kill(self) -> None:
        """SIGKILL: the page cache stays."""
        if self.process is not None:
            self.sim.trace(f"{self.process.loop.name} is killed")
            self._ended(self.process)

    def lose_power(self) -> int:
        """Everything stops at once, and what was not synced is lost or torn: so many bytes."""
        lost = 0
        if self.process is not None:
            process = self.process
            process.loop.kill()
            lost = self.disk.lose_power()
            self.sim.trace(f"{process.loop.name} loses power, {lost} bytes not on disk")
            self._ended(process, silently=True)
        self.has_power = False
        self.sim.network.powerless.add(self.name)
        return lost

    def power_up(self) -> None:
        self.has_power = True
        self.sim.network.powerless.discard(self.name)
        self.start()

    def terminate(self) -> None:
        """SIGTERM: a controlled shutdown."""
        if self.process is not None and self.process.is_serving:
            self.sim.trace(f"{self.process.loop.name} gets SIGTERM")
            stop = self.process.stop
            self.process.loop.call_soon(stop.set)

    def pause(self) -> None:
        if self.process is not None:
            self.process.loop.pause()
            self.sim.trace(f"{self.process.loop.name} is paused")

    def resume(self) -> None:
        if self.process is not None and self.process.loop.is_paused:
            self.sim.trace(f"{self.process.loop.name} goes on")
            self.process.loop.resume()
            self.healthy_since_s = self.sim.now_s
