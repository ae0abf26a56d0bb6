"""Misfortunes, one after another and on top of each other, as the seed says.

Every fault ends by itself. Losing power is kept apart from all others, until every replica is in sync
again: Kafka's promise holds for one replica's lost pages at a time (ISR members that lose their
unsynced tail together, or a last ISR member that does, take acknowledged records with them).
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from dataplane.cluster import znodes
from tests.simulation.world.zookeeper import MACHINE as ZOOKEEPER

if TYPE_CHECKING:
    from tests.simulation.machine import Machine
    from tests.simulation.simulation import Simulation

SOLO_WAIT_S = 4.0
SOLO_POLL_S = 0.1


class Chaos:
    """`counts` says how often each kind happened."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.counts: dict[str, int] = {}
        self.active: dict[int, str] = {}
        self.healthy_since_s = 0.0
        self._random = sim.fork_random()
        self._is_over = False
        self._is_solo = False
        self._numbers = 0

    def start(self) -> None:
        self._spawn(self._run())

    def stop(self) -> None:
        """Mend everything: links, disks, power, paused processes."""
        self._is_over = True
        sim = self.sim
        names = [machine.name for machine in sim.machines.values()]
        others = [ZOOKEEPER, "admin", *self._clients()]
        for one in names:
            for other in (*names, *others):
                if one != other:
                    sim.network.mend(one, other)
                    sim.network.mend(other, one)
        for machine in sim.machines.values():
            machine.disk.mend()
            self._mend_directories(machine)
            machine.auto_restart = machine.fences = True
            machine.extra_fence_delay_s = 0.0
            machine.resume()
            if not machine.has_power:
                machine.power_up()
            machine.start()
        self.healthy_since_s = sim.now_s

    # -- the course of it

    async def _run(self) -> None:
        plan = self.sim.plan
        while not self._is_over:
            await asyncio.sleep(self._random.expovariate(1 / plan.fault_gap_s))
            if self._is_over or self._is_solo:
                continue
            kind = self._random.choice(plan.faults)
            self._numbers += 1
            self._spawn(self._strike(self._numbers, kind))

    async def _strike(self, number: int, kind: str) -> None:
        fault: Callable[[], Coroutine[Any, Any, bool]] = getattr(self, f"_{kind}")
        self.active[number] = kind
        try:
            happened = await fault()
        finally:
            del self.active[number]
            self.healthy_since_s = self.sim.now_s
        if happened:
            self._count(kind)

    def _count(self, kind: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def _spawn(self, coroutine: Any) -> None:
        loop = self.sim.wire
        loop.call_soon(lambda: loop.create_task(coroutine))

    async def _last(self, low_s: float, high_s: float) -> None:
        await asyncio.sleep(self._random.uniform(low_s, high_s))

    def _clients(self) -> list[str]:
        sim = self.sim
        return [*(c.name for c in (*sim.producers, *sim.consumers)), *sim.chains.names]

    def _victim(self, *, up: bool = True) -> Machine | None:
        machines = [
            machine
            for machine in self.sim.machines.values()
            if not up
            or (
                machine.process is not None
                and machine.process.is_running
                and not machine.process.loop.is_paused
            )
        ]
        return self._random.choice(machines) if machines else None

    def _trace_fault(self, text: str) -> None:
        self.sim.trace(f"fault: {text}")

    # -- processes

    async def _kill(self) -> bool:
        machine = self._victim()
        if machine is None:
            return False
        self._trace_fault(f"kill {machine.name}")
        machine.kill()
        await self._last(0.5, 1.5)
        return True

    async def _kill_unfenced(self) -> bool:
        """The supervisor dies with its broker, or cannot reach ZooKeeper."""
        machine = self._victim()
        if machine is None:
            return False
        self._trace_fault(f"kill {machine.name}, nobody fences it")
        machine.fences = machine.auto_restart = False
        machine.kill()
        await self._last(0.2, 6.0)
        machine.fences = machine.auto_restart = True
        machine.start()
        await self._last(0.5, 1.0)
        return True

    async def _stale_fence(self) -> bool:
        """The fence of a dead process is carried out when its successor is there already."""
        machine = self._victim()
        if machine is None:
            return False
        self._trace_fault(f"kill {machine.name}, its fence comes late")
        machine.extra_fence_delay_s = self._random.uniform(0.5, 8.0)
        machine.kill()
        await self._last(1.0, 2.0)
        return True

    async def _fence_alive(self) -> bool:
        """The supervisor takes a living process for dead, and kills it only later."""
        machine = self._victim()
        if machine is None or machine.process is None:
            return False
        process = machine.process
        session_id = machine.session_id_of(process)
        if session_id is None:
            return False
        self._trace_fault(f"fence {machine.name} while it lives")
        machine.fence_now(session_id)
        await self._last(0.1, 5.0)
        if machine.process is process:
            machine.kill()
        await self._last(0.5, 1.5)
        return True

    async def _restart(self) -> bool:
        machine = self._victim()
        if machine is None:
            return False
        self._trace_fault(f"restart {machine.name}")
        machine.terminate()
        await self._last(1.0, 2.0)
        return True

    async def _pause(self) -> bool:
        machine = self._victim()
        if machine is None:
            return False
        self._trace_fault(f"pause {machine.name}")
        machine.pause()
        await self._last(0.1, 9.0)
        machine.resume()
        return True

    async def _power_loss(self) -> bool:
        """Alone: see the head of this file."""
        if self._is_solo:
            return False
        self._is_solo = True
        try:
            for _ in range(int(SOLO_WAIT_S / SOLO_POLL_S)):
                if len(self.active) == 1 and not self._unhealthy():
                    break
                await asyncio.sleep(SOLO_POLL_S)
            else:
                return False
            machine = self._victim()
            if machine is None or self._is_over:
                return False
            self._trace_fault(f"power loss at {machine.name}")
            holes = machine.disk.holes
            if machine.lose_power():
                self._count("lost_pages")
            if machine.disk.holes > holes:
                self._count("torn_pages")
            await self._last(0.05, 8.0)
            machine.power_up()
            while self._unhealthy() and not self._is_over:
                await asyncio.sleep(SOLO_POLL_S)
        finally:
            self._is_solo = False
        return True

    def _unhealthy(self) -> bool:
        """Whether some replica is out of sync, by ZooKeeper's word or by its leader's."""
        sim = self.sim
        if len(sim.running()) < len(sim.machines):
            return True
        for tp, (_id, state) in sim.partition_states().items():
            if set(state.isr) != set(state.replicas) or state.leader < 0 or state.is_reassigning:
                return True
            process = sim.machines[state.leader].process
            partition = process.broker.components.replica_manager.get(tp) if process else None
            if partition is None or partition.leader_epoch != state.leader_epoch:
                return True
            if not partition.is_leader or set(partition.isr) != set(state.replicas):
                return True
        nodes = sim.zookeeper.nodes
        return any(f"/brokers/ids/{number}" not in nodes for number in sim.machines)

    # -- links

    async def _cut(self) -> bool:
        pair = self._random.sample(sorted(self.sim.machines), 2)
        one, other = (self.sim.machines[n].name for n in pair)
        self._trace_fault(f"cut {one} | {other}")
        await self.cut_links([(one, other), (other, one)])
        return True

    async def _cut_from_controller(self) -> bool:
        """A broker and the active controller; clients, ZooKeeper and the others see both."""
        controller = self._controller()
        if controller is None:
            return False
        others = [m for m in self.sim.machines.values() if m is not controller]
        one, other = self._random.choice(others).name, controller.name
        self._trace_fault(f"cut {one} | {other}, the controller")
        await self.cut_links([(one, other), (other, one)])
        return True

    def _controller(self) -> Machine | None:
        node = self.sim.zookeeper.find("/controller")
        return None if node is None else self.sim.machines[znodes.decode_controller(node.data)]

    async def _cut_one_way(self) -> bool:
        names = [m.name for m in self.sim.machines.values()]
        one, other = self._random.sample([*names, ZOOKEEPER], 2)
        self._trace_fault(f"cut {one} -> {other}")
        await self.cut_links([(one, other)])
        return True

    async def _isolate(self) -> bool:
        """One broker sees no other broker; clients and ZooKeeper still see it."""
        machine = self._random.choice(list(self.sim.machines.values()))
        others = [m.name for m in self.sim.machines.values() if m is not machine]
        with_clients = self._random.random() < 0.3
        if with_clients:
            others += self._clients()
        self._trace_fault(f"isolate {machine.name}{' from clients too' if with_clients else ''}")
        await self.cut_links(
            [(machine.name, o) for o in others] + [(o, machine.name) for o in others]
        )
        return True

    async def _zk_cut(self) -> bool:
        machine = self._random.choice(list(self.sim.machines.values()))
        self._trace_fault(f"cut {machine.name} | zookeeper")
        await self.cut_links([(machine.name, ZOOKEEPER), (ZOOKEEPER, machine.name)])
        return True

    async def cut_links(self, links: list[tuple[str, str]]) -> None:
        network = self.sim.network
        for source, target in links:
            network.cut(source, target)
        await self._last(0.1, 9.0)
        for source, target in links:
            network.mend(source, target)
        self._trace_fault(f"mended {links[0][0]} | {links[0][1]}")

    async def _slow_link(self) -> bool:
        names = [m.name for m in self.sim.machines.values()]
        one, other = self._random.sample([*names, ZOOKEEPER], 2)
        extra_s = self._random.choice((0.02, 0.2, 0.8))
        self._trace_fault(f"slow {one} -> {other} by {extra_s} s")
        self.sim.network.link(one, other).extra_s = extra_s
        await self._last(0.5, 6.0)
        self.sim.network.link(one, other).extra_s = 0.0
        return True

    async def _reset(self) -> bool:
        names = [m.name for m in self.sim.machines.values()]
        clients = self._clients()
        one = self._random.choice(names)
        other = self._random.choice([n for n in (*names, *clients) if n != one])
        count = self.sim.network.reset_between(one, other)
        self._trace_fault(f"reset {count} connections {one} | {other}")
        return count > 0

    # -- ZooKeeper

    async def _zk_expiry(self) -> bool:
        machine = self._victim()
        if machine is None or machine.process is None or machine.process.client is None:
            return False
        client = machine.process.client
        if client.session is None:
            return False
        if self._random.random() < 0.3:
            self._trace_fault(f"{machine.name} loses its connection to zookeeper")
            client.loop.call_soon(client.drop)
        else:
            self._trace_fault(f"session of {machine.name} expires")
            self.sim.zookeeper.expire(client.session)
        return True

    async def _controller_change(self) -> bool:
        """The controller's node goes: by its session's end, or by hand."""
        zookeeper = self.sim.zookeeper
        node = zookeeper.find("/controller")
        if node is None:
            return False
        session = zookeeper.sessions.get(node.owner)
        if session is None:
            return False
        if self._random.random() < 0.5:
            self._trace_fault("session of the controller expires")
            zookeeper.expire(session)
        else:
            from dataplane.ports.coordinator import Delete

            self._trace_fault("the controller's node is deleted")
            zookeeper.apply([Delete("/controller")], session)
        return True

    # -- disks and clocks

    async def _disk_full(self) -> bool:
        machine = self._victim(up=False)
        if machine is None:
            return False
        self._trace_fault(f"disk of {machine.name} is full")
        machine.disk.fill_up(self._random.choice((0, 100, 2_000)))
        await self._last(0.5, 5.0)
        machine.disk.mend()
        return True

    async def _dir_failure(self) -> bool:
        """A log directory can be neither read nor written until its broker starts again."""
        machine = self._victim()
        if machine is None or machine.process is None or machine.process.has_lost_directory:
            return False
        path = self._random.choice(self.sim.log_dirs)
        self._trace_fault(f"{path} of {machine.name} breaks")
        machine.disk.broken.add(path)
        await self._last(0.5, 8.0)
        self._trace_fault(f"{path} of {machine.name} can be used again")
        self._mend_directories(machine)
        await self._last(0.5, 1.5)
        return True

    def _mend_directories(self, machine: Machine) -> None:
        """What a broker has given up it takes up with its next start."""
        process = machine.process
        if not machine.disk.broken and not (process and process.has_lost_directory):
            return
        machine.disk.broken.clear()
        if self._random.random() < 0.5:
            machine.kill()
        elif process is not None and process.is_serving:
            machine.terminate()
        else:
            machine.kill()

    async def _failed_write(self) -> bool:
        machine = self._victim()
        if machine is None:
            return False
        part = self._random.choice((".log", ".index", "checkpoint", ""))
        number = self._random.choice((errno.EIO, errno.ENOSPC))
        self._trace_fault(f"a write of {part or 'anything'} fails at {machine.name}")
        machine.disk.fail("append", part, number=number)
        await self._last(0.5, 1.5)
        return True

    async def _torn_write(self) -> bool:
        """A process dies in the middle of an append: a part of the batch is in its file."""
        machine = self._victim()
        if machine is None or machine.process is None:
            return False
        torn = []

        def die() -> None:
            torn.append(machine)
            machine.kill()

        self._trace_fault(f"{machine.name} will die in its next append")
        machine.disk.tear_next_append(die)
        await self._last(0.5, 2.0)
        machine.disk.finish_waiting_to_tear()
        return bool(torn)

    async def _failed_sync(self) -> bool:
        machine = self._victim()
        if machine is None:
            return False
        operation = self._random.choice(("sync", "sync", "rename", "truncate"))
        self._trace_fault(f"a {operation} fails at {machine.name}")
        machine.disk.fail(operation, "", number=errno.EIO)
        await self._last(0.5, 1.5)
        return True

    async def _clock_step(self) -> bool:
        machine = self._random.choice(list(self.sim.machines.values()))
        # Less than producer.id.expiration.ms apart: a day's step rightly forgets producers.
        offset_ms = self._random.choice((-36_000_000, -3_600_000, -5_000, 0, 5_000, 36_000_000))
        self._trace_fault(f"clock of {machine.name} steps to {offset_ms} ms off")
        machine.clock.offset_ms = offset_ms
        return True
