"""One seed, from an empty disk to the last check."""

from __future__ import annotations

import dataclasses
import gc
import hashlib
import time
import uuid
from collections.abc import Callable
from random import Random
from typing import Any

from dataplane.cluster import znodes
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from tests.simulation.chains.world import Chains
from tests.simulation.chaos import Chaos
from tests.simulation.clients.admin import Admin
from tests.simulation.clients.consumer import Answer, Consumer
from tests.simulation.clients.fleeting import Fleeting
from tests.simulation.clients.producer import KINDS, Producer
from tests.simulation.invariants import Invariant, all_invariants
from tests.simulation.log_capture import LogCapture
from tests.simulation.machine import LOG_DIR, MORE_LOGS_DIR, PORT, Machine, Process
from tests.simulation.oracle import Oracle
from tests.simulation.plan import Plan
from tests.simulation.verify import Verifier
from tests.simulation.world.loop import HostLoop
from tests.simulation.world.network import Network
from tests.simulation.world.ports import EPOCH_MS
from tests.simulation.world.scheduler import LivelockError, Scheduler
from tests.simulation.world.zookeeper import Node, ZooKeeper

PROBE_S = 0.05
ZK_TICK_S = 0.25
SETUP_MAX_S = 30.0
QUIET_MAX_S = 90.0
VERIFY_MAX_S = 60.0
SPREAD_MAX_S = 10.0
DELETE_DELAY_MS = "1000"
"""Of files of deleted logs: their removal has to be seen before a seed ends."""

COORDINATORS = {
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "group.min.session.timeout.ms": "1000",
    "group.initial.rebalance.delay.ms": "200",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}


@dataclasses.dataclass(slots=True)
class Result:
    """What became of a seed. `digest` is the same whenever the seed runs again."""

    seed: int
    violations: list[str]
    faults: dict[str, int]
    counts: dict[str, int]
    virtual_s: float
    real_s: float
    steps: int
    digest: str
    trace: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Replica:
    """One broker's copy of a partition, as a probe sees it."""

    machine: Machine
    process: Process
    partition: Any

    @property
    def number(self) -> int:
        return self.machine.number


class Simulation:
    """The cluster, its clients, its misfortunes and those who watch."""

    def __init__(self, seed: int, *, detail: bool = False) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.plan = Plan.of(Random(f"plan {seed}"))
        self.scheduler = Scheduler()
        self.network = Network(self.scheduler, self.fork_random())
        self.wire = HostLoop(self.scheduler, self.network, "wire", "wire")
        self.network.wire = self.wire
        self.zookeeper = ZooKeeper(lambda: self.scheduler.now_s)
        self.oracle = Oracle()
        self.violations: list[str] = []
        self.events: list[str] = []
        self.lines: list[str] = []
        self.detail = detail
        self.ended_processes: list[Process] = []
        self.machines = {n: Machine(self, n) for n in range(1, self.plan.brokers + 1)}
        self.invariants: list[Invariant] = all_invariants(self)
        self.admin = Admin(self)
        self.producers = [
            Producer(self, n, KINDS[n % len(KINDS)] if n else KINDS[0])
            for n in range(self.plan.producers)
        ]
        if self.plan.producers > 2:
            self.producers[-1].kind = self.random.choice(KINDS)
        self.consumers = [Consumer(self, n) for n in range(self.plan.consumers)]
        self.chaos = Chaos(self)
        self.fleeting = Fleeting(self)
        self.chains = Chains(self)
        self.verifier = Verifier(self)
        self._states_zxid = -1
        self._states: dict[TopicPartition, tuple[uuid.UUID, PartitionState]] = {}
        self._seen_replicas: tuple[float, int, dict[TopicPartition, list[Replica]]] = (-1.0, 0, {})
        self.wire.on_error = self.on_loop_error(self.wire)
        self.zookeeper.on_change = self._node_changed
        self._log = LogCapture(self)

    # -- running

    def run(self) -> Result:
        began_s = time.perf_counter()
        start_s = self.now_s
        gc.disable()
        self._log.install()
        try:
            self._run()
        except LivelockError as error:
            self.violate("livelock", str(error))
        finally:
            self._log.remove()
            gc.enable()
        hasher = hashlib.blake2b("\n".join(self.events).encode(), digest_size=12)
        hasher.update(f"{self.network.digest} {self.network.deliveries}".encode())
        return Result(
            self.seed,
            self.violations,
            dict(sorted(self.chaos.counts.items())),
            dict(sorted(self.oracle.counts.items())),
            self.now_s - start_s,
            time.perf_counter() - began_s,
            self.scheduler.steps,
            hasher.hexdigest(),
            self.lines if self.detail else self.events,
        )

    def _run(self) -> None:
        self.trace(f"plan {self.plan}")
        for machine in self.machines.values():
            self.wire.call_later(self.random.uniform(0, 1), machine.start)
        self.wire.call_later(PROBE_S, self._probe)
        self.wire.call_later(ZK_TICK_S, self._tick_zookeeper)
        self.admin.start()
        if not self._until(lambda: self.admin.is_ready, SETUP_MAX_S):
            self.violate("convergence", "the cluster does not come up")
            return
        for client in (*self.producers, *self.consumers):
            client.start()
        self.fleeting.start()
        self.chains.start()
        self.chaos.start()
        self._until(lambda: bool(self.violations), self.plan.chaos_s)
        self.trace("the faults stop")
        self.chaos.stop()
        self.admin.is_stopping = self.fleeting.is_stopping = True
        self.chains.stop()
        for producer in self.producers:
            producer.is_stopping = True
        calm = self._until(
            lambda: (
                bool(self.violations)
                or (
                    all(p.is_idle for p in self.producers)
                    and self.fleeting.is_idle
                    and self.chains.is_idle
                    and not self.unsettled()
                )
            ),
            QUIET_MAX_S,
        )
        if self.violations:
            return
        if not calm:
            busy = [p.name for p in self.producers if not p.is_idle]
            busy += [] if self.chains.is_idle else ["chains"]
            self.violate("convergence", f"not settled: {[*busy, *self.unsettled()][:6]}")
            return
        self.trace("settled")
        for consumer in self.consumers:
            consumer.is_stopping = True
        self.verifier.start()
        self.chains.begin_last_look()
        if not self._until(lambda: self.verifier.is_done and self.chains.is_read, VERIFY_MAX_S):
            self.violate("convergence", f"reads do not come to an end: {self.verifier.state}")
            return
        # What was still on its way (a late fence, a record nobody waits for) may have moved things.
        self._until(lambda: not self.unsettled(), QUIET_MAX_S)
        self._until(
            lambda: all(each.is_settled() for each in self.invariants) and not self.unsettled(),
            SPREAD_MAX_S,
        )
        for invariant in self.invariants:
            invariant.finish()

    def _until(self, is_over: Callable[[], bool], within_s: float) -> bool:
        return self.scheduler.run_until(is_over, self.now_s + within_s)

    def _probe(self) -> None:
        for invariant in self.invariants:
            invariant.observe()
        self.wire.call_later(PROBE_S, self._probe)

    def _tick_zookeeper(self) -> None:
        self.zookeeper.expire_silent()
        self.wire.call_later(ZK_TICK_S, self._tick_zookeeper)

    # -- facts

    @property
    def now_s(self) -> float:
        return self.scheduler.now_s

    def wall_ms(self) -> int:
        return EPOCH_MS + int(self.now_s * 1000)

    def fork_random(self) -> Random:
        return Random(self.random.getrandbits(64))

    def settings(self, number: int) -> dict[str, str]:
        return {
            "broker.id": str(number),
            "listeners": f"PLAINTEXT://broker-{number}:{PORT}",
            "log.dirs": ",".join(self.log_dirs),
            "zookeeper.connect": f"zookeeper:2181{self.plan.chroot}",
            "min.insync.replicas": "2",
            "default.replication.factor": "3",
            "auto.create.topics.enable": "false",
            "controlled.shutdown.max.retries": "2",
            "log.segment.delete.delay.ms": DELETE_DELAY_MS,
            **COORDINATORS,
            **self.plan.settings,
        }

    @property
    def log_dirs(self) -> list[str]:
        """A second one where one may fail: a broker without any does not run."""
        return [LOG_DIR, MORE_LOGS_DIR] if "dir_failure" in self.plan.faults else [LOG_DIR]

    def open_topics(self) -> list[str]:
        """Topics that clients may use now."""
        return self.admin.topics

    def running(self) -> list[tuple[Machine, Process]]:
        return [
            (machine, machine.process)
            for machine in self.machines.values()
            if machine.process is not None and machine.process.is_running
        ]

    def replicas(self) -> dict[TopicPartition, list[Replica]]:
        """Every partition object in a running process."""
        at_s, lives, known = self._seen_replicas
        lives_now = len(self.ended_processes)
        if (at_s, lives) == (self.now_s, lives_now):
            return known
        found: dict[TopicPartition, list[Replica]] = {}
        for machine in self.machines.values():
            process = machine.process
            if process is None or process.is_over or process.replica_manager is None:
                continue
            for partition in process.replica_manager:
                found.setdefault(partition.topic_partition, []).append(
                    Replica(machine, process, partition)
                )
        self._seen_replicas = (self.now_s, lives_now, found)
        return found

    def partition_states(self) -> dict[TopicPartition, tuple[uuid.UUID, PartitionState]]:
        """What ZooKeeper holds, without topics that are being deleted."""
        if self._states_zxid == self.zookeeper.zxid:
            return self._states
        states: dict[TopicPartition, tuple[uuid.UUID, PartitionState]] = {}
        nodes = self.zookeeper.nodes
        for name in sorted(nodes["/brokers/topics"].children) if "/brokers/topics" in nodes else ():
            if znodes.delete_topic_path(name) in nodes:
                continue
            topic = znodes.decode_topic(nodes[znodes.topic_path(name)].data)
            for index in topic.replicas:
                node = nodes.get(znodes.state_path(name, index))
                assigned = PartitionState(
                    index=index,
                    replicas=topic.replicas[index],
                    adding=topic.adding.get(index, ()),
                    removing=topic.removing.get(index, ()),
                )
                state = assigned
                if node is not None:
                    state = znodes.decode_state(assigned, node.data, node.version)
                states[TopicPartition(name, index)] = (topic.topic_id, state)
        self._states_zxid, self._states = self.zookeeper.zxid, states
        return states

    def unsettled(self) -> list[str]:
        """What still keeps the cluster from being whole; empty when nothing does."""
        found = []
        nodes = self.zookeeper.nodes
        registered = nodes["/brokers/ids"].children if "/brokers/ids" in nodes else set()
        missing = [n for n in self.machines if str(n) not in registered]
        if missing:
            found.append(f"brokers {missing} are not registered")
        running = {m.number: p for m, p in self.running()}
        if len(running) < len(self.machines):
            found.append(f"only {sorted(running)} run")
            return found
        active = [n for n, p in running.items() if p.broker.components.controller.is_active]
        if len(active) != 1:
            found.append(f"active controllers: {active}")
        deleting = nodes["/admin/delete_topics"].children if "/admin/delete_topics" in nodes else ()
        if deleting:
            found.append(f"topics {sorted(deleting)} are not deleted")
        for tp, (topic_id, state) in self.partition_states().items():
            found += self._unsettled_partition(tp, topic_id, state, running)
        return found

    def _unsettled_partition(
        self, tp: TopicPartition, topic_id: uuid.UUID, state: PartitionState, running: Any
    ) -> list[str]:
        if state.leader not in running or set(state.isr) != set(state.replicas):
            return [f"{tp}: leader {state.leader}, ISR {state.isr} of {state.replicas}"]
        if state.is_reassigning:
            return [f"{tp}: reassignment goes on"]
        ends = set()
        found = []
        for number in state.replicas:
            partition = running[number].broker.components.replica_manager.get(tp)
            if partition is None or partition.topic_id != topic_id:
                found.append(f"{tp}: broker {number} has no such replica")
                continue
            if partition.leader_epoch != state.leader_epoch:
                found.append(f"{tp}: broker {number} is at epoch {partition.leader_epoch}")
            ends.add(partition.log.log_end_offset)
            ends.add(partition.log.high_watermark)
        if len(ends) > 1:
            found.append(f"{tp}: log ends and watermarks differ: {sorted(ends)}")
        for number, process in running.items():
            topic = process.broker.components.metadata_cache.image.topics.get(tp.topic)
            if topic is None or tp.partition >= len(topic.partitions):
                found.append(f"{tp}: broker {number} does not know it")
                continue
            known = topic.partitions[tp.partition]
            if (known.leader, known.leader_epoch) != (state.leader, state.leader_epoch):
                found.append(f"{tp}: broker {number} names leader {known.leader}")
        return found

    # -- what happens

    def trace(self, text: str) -> None:
        line = f"{self.now_s - 1000:9.4f} {text}"
        self.events.append(line)
        self.lines.append(line)

    def note(self, text: str) -> None:
        """A line for the readable trace only."""
        self.lines.append(f"{self.now_s - 1000:9.4f} {text}")

    def violate(self, invariant: str, text: str) -> None:
        self.violations.append(f"{invariant}: {text}")
        self.trace(f"VIOLATION of {invariant}: {text}")

    def on_loop_error(self, loop: HostLoop) -> Callable[[dict[str, Any]], None]:
        def report(context: dict[str, Any]) -> None:
            error = context.get("exception")
            for invariant in self.invariants:
                invariant.loop_error(loop.name, str(context.get("message")), error)

        return report

    def started(self, machine: Machine, process: Process) -> None:
        for invariant in self.invariants:
            invariant.broker_started(machine, process)

    def ending(self) -> None:
        """A process is about to vanish: the last look at what it has."""
        for invariant in self.invariants:
            invariant.ending()

    def leadership(
        self, machine: Machine, process: Process, tp: TopicPartition, leads: bool, epoch: int
    ) -> None:
        verb = "leads" if leads else "follows"
        self.trace(f"{process.loop.name} {verb} {tp} in epoch {epoch}")
        for invariant in self.invariants:
            invariant.leadership(machine, process, tp, leads, epoch)

    def read(self, answer: Answer, epoch: int) -> None:
        self.oracle.count("records read", len(answer.records))
        for invariant in self.invariants:
            invariant.read(answer, epoch)

    def out_of_range(
        self, consumer: str, broker: int, key: tuple[str, uuid.UUID, int], offset: int
    ) -> None:
        for invariant in self.invariants:
            invariant.out_of_range(consumer, broker, key, offset)

    def fatal_refusal(self, broker: int, place: Any, code: int, records: list[Any]) -> None:
        for invariant in self.invariants:
            invariant.fatal_refusal(broker, place, code, records)

    def _node_changed(self, path: str, node: Node | None) -> None:
        if path.startswith(("/brokers/topics/", "/controller", "/brokers/ids/", "/admin/")):
            data = node.data.decode() if node is not None else "gone"
            self.trace(f"zookeeper {path} {data}")
            for invariant in self.invariants:
                invariant.node_changed(path, node)
