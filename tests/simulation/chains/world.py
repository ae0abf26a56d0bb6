"""The chains of one simulation: their topics, clients and zombies, from the start to the last look."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from dataplane.cluster.topic_names import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from dataplane.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from dataplane.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.simulation.chains.fetching import UNCOMMITTED, Read, fetch
from tests.simulation.chains.instance import FEED, RESULT, Instance
from tests.simulation.chains.ledger import Ledger, Output
from tests.simulation.chains.marker_faults import MarkerFaults, UnreliablePeers
from tests.simulation.chains.members import Member, Shared
from tests.simulation.chains.offsets import Committer, Watcher
from tests.simulation.chains.reader import CommittedReader
from tests.simulation.chains.session import EndedError, Session
from tests.simulation.clients.connection import NotSentError, UnknownOutcomeError

if TYPE_CHECKING:
    from tests.simulation.machine import Process
    from tests.simulation.simulation import Simulation

TIMEOUT_MS = 5_000
PARTITIONS = 2
COMMITTERS = 2


class Chains:
    """Nothing at all unless the plan has some. `names` are those of its clients."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.count = sim.plan.chains
        self.partitions = PARTITIONS
        self.ledger = Ledger()
        self.marker_faults = MarkerFaults(sim)
        self.is_stopping = False
        self.is_draining = False
        self.is_read = not self.count
        self.fed: set[tuple[int, int]] = set()
        """Partitions and offsets of `feed` that were acknowledged to who wrote them."""
        self.inputs: dict[int, list[int]] = {}
        """By partition of `feed`: every offset that holds a record, once `is_read`."""
        self.outputs: dict[tuple[int, int], Output] = {}
        """By partition and offset of `result`: what read_committed shows, once `is_read`."""
        self.committers: list[Committer] = []
        self.shared = Shared()
        self.members: list[Member] = []
        self._instances: dict[int, list[Instance]] = {}
        self._running = 0
        self._numbers = 0

    # -- the course of it

    def start(self) -> None:
        if not self.count:
            return
        self._session = Session(self.sim, "chains")
        self._random = self._session.random
        self._watcher = Watcher(self, Session(self.sim, "offset-watcher"))
        self._reader = CommittedReader(self, Session(self.sim, "committed-reader"))
        self.committers = [Committer(self, n) for n in range(COMMITTERS)]
        self.members = [Member(self, n, self.shared) for n in range(self.sim.plan.members)]
        self._session.client.spawn(self._run())

    async def _run(self) -> None:
        self._running += 1
        for topic in (FEED, RESULT):
            while not await self._create(topic):
                await asyncio.sleep(0.2)
        for each in (self._watcher, self._reader, *self.committers, *self.members):
            each.start()
        for chain in range(self.count):
            self._session.client.spawn(self._keep(chain))
        self._session.client.spawn(self._feed())
        if self.sim.plan.chain_move_gap_s:
            self._session.client.spawn(self._move())
        gap_s = self.sim.plan.marker_fault_gap_s
        if gap_s:
            self._session.client.spawn(self.marker_faults.run(self._random, gap_s))
        self._running -= 1

    def stop(self) -> None:
        """Nothing new from here on; what there is comes to its end."""
        self.is_stopping = True
        self.marker_faults.stop()
        for each in (*self.committers, *self.members):
            each.is_stopping = True

    @property
    def is_idle(self) -> bool:
        """Whether every input was consumed by a committed transaction, and every member has left."""
        return not self._running and all(each.is_idle for each in (*self.committers, *self.members))

    @property
    def names(self) -> list[str]:
        if not self.count:
            return []
        found = ["chains", "offset-watcher", "committed-reader"]
        found += [each.group_id for each in self.committers]
        found += [each.name for each in self.members]
        return found + [i.name for each in self._instances.values() for i in each]

    def begin_last_look(self) -> None:
        """Once all has settled; `is_read` when it is over."""
        if self.count:
            self._watcher.is_stopping = self._reader.is_stopping = True
            self._session.client.spawn(self._last_look())

    async def _last_look(self) -> None:
        reader, watcher = CommittedReader(self, self._session), Watcher(self, self._session)
        await reader.read_everything()
        self.outputs = reader.outputs
        for chain in range(self.count):
            await watcher.look_at_chain(chain)
            self.inputs[chain] = await self._read_feed(chain)
        for committer in self.committers:
            await watcher.look_at_group(committer)
        if self.members:
            for partition in self.shared.sent:
                await watcher.look_at_members(partition)
        self.is_read = True

    async def _read_feed(self, partition: int) -> list[int]:
        offsets: list[int] = []
        position = 0
        while True:
            read = await fetch(self._session, FEED, partition, position, UNCOMMITTED)
            offsets += [offset for offset, _value in read.records]
            position = read.next_offset
            if position >= read.high_watermark:
                return offsets

    # -- chains and their zombies

    async def _keep(self, chain: int) -> None:
        """One instance after the other; now and then the next one while the last one lives."""
        self._running += 1
        instances = self._instances.setdefault(chain, [])
        while not (instances and instances[-1].is_done):
            if not instances or instances[-1].is_over or self._is_impatient():
                self._numbers += 1
                instances.append(Instance(self, chain, self._numbers))
                instances[-1].start()
                if len(instances) > 1 and not instances[-2].is_over:
                    self.sim.oracle.count("producers fenced while they write")
            if self.is_stopping:
                for zombie in instances[:-1]:
                    zombie.is_stopping = True
            await asyncio.sleep(self._random.uniform(0.2, 0.6))
        self._running -= 1

    def _is_impatient(self) -> bool:
        return not self.is_stopping and self._random.random() < 0.1

    async def _feed(self) -> None:
        """Records without end, until it is told to stop; a lost answer may double one: all count."""
        self._running += 1
        number = 0
        while not self.is_stopping:
            number += 1
            await self._feed_one(number % self.count, b"input %d" % number)
            await asyncio.sleep(self._random.uniform(0, self.sim.plan.think_s))
        self.is_draining = True
        self._running -= 1

    async def _feed_one(self, partition: int, value: bytes) -> None:
        batch = build_batch([NewRecord(b"k", value, (), self.sim.wall_ms())])
        data = PartitionProduceData(index=partition, records=bytes(batch))
        request = ProduceRequest(
            acks=-1,
            timeout_ms=1_500,
            topic_data=[TopicProduceData(name=FEED, partition_data=[data])],
        )
        try:
            answer = await self._session.of_leader(
                FEED,
                partition,
                request,
                9,
                lambda a: a.responses[0].partition_responses[0].error_code,
            )
        except EndedError as ended:
            self.sim.trace(f"feed: {ended}")
        else:
            self.fed.add((partition, answer.responses[0].partition_responses[0].base_offset))

    def is_all_fed_before(self, partition: int, offset: int) -> bool:
        """Whether nothing that was acknowledged is left there, nor will be. A watermark alone may be
        that of a deposed leader.
        """
        return self.is_draining and all(o < offset for p, o in self.fed if p == partition)

    # -- topics, and where their leaders are

    async def _create(self, name: str) -> bool:
        count = max(self.count, PARTITIONS)
        topic = CreatableTopic(name=name, num_partitions=count, replication_factor=3)
        answer = await self._of_controller(
            CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS), 7
        )
        code = None if answer is None else answer.topics[0].error_code
        return code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)

    async def _move(self) -> None:
        """Coordinators and leaders go elsewhere: their partitions are given other replicas."""
        while not self.is_stopping:
            await asyncio.sleep(self._random.expovariate(1 / self.sim.plan.chain_move_gap_s))
            counts = self._session.client.partition_counts
            names = [n for n in (OFFSETS_TOPIC, TRANSACTIONS_TOPIC, FEED, RESULT) if n in counts]
            if not names or self.is_stopping:
                await self._session.client.refresh()
                continue
            name = self._random.choice(names)
            index = self._random.randrange(counts[name])
            replicas = self._random.sample(sorted(self.sim.machines), 3)
            answer = await self._of_controller(_reassignment(name, index, replicas), 0)
            said = "no answer"
            if answer is not None:
                code = answer.error_code or answer.responses[0].partitions[0].error_code
                said = ErrorCode.of(code).name
            self.sim.trace(f"chains: move {name}-{index} to {replicas}: {said}")
            self.sim.oracle.count("partitions of chains and coordinators moved")

    async def _of_controller(self, message: Any, version: int) -> Any | None:
        await self._session.client.refresh()
        target = self._session.client.controller_id
        if target < 0:
            return None
        try:
            return await self._session.client.ask(target, message, version, timeout_ms=TIMEOUT_MS)
        except (NotSentError, UnknownOutcomeError):
            return None

    # -- what is seen

    def broker_starts(self, process: Process) -> None:
        """Its markers pass through our hands from here on."""
        if self.sim.plan.marker_fault_gap_s and self.count:
            sender = process.broker.components.handlers.transaction_coordinator.sender
            sender.peers = UnreliablePeers(sender.peers, self.marker_faults)

    def was_read(self, partition: int, offset: int, output: Output) -> None:
        for invariant in self.sim.invariants:
            invariant.output_read(partition, offset, output)

    def answered(self, topic: str, partition: int, read: Read) -> None:
        for invariant in self.sim.invariants:
            invariant.committed_read(topic, partition, read)


def _reassignment(name: str, index: int, replicas: list[int]) -> AlterPartitionReassignmentsRequest:
    wanted = [ReassignablePartition(partition_index=index, replicas=replicas)]
    return AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=name, partitions=wanted)], timeout_ms=TIMEOUT_MS
    )
