"""An administrator: makes the topics, then moves, grows and deletes things while faults go on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from dataplane.cluster import znodes
from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from dataplane.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from dataplane.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from dataplane.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from dataplane.wire.messages.elect_leaders import ElectLeadersRequest
from tests.simulation.clients.connection import Client, NotSentError, UnknownOutcomeError

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

TIMEOUT_MS = 5_000


class Admin:
    """`is_ready` once the first topic can be used."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.client = Client(sim, "admin")
        self.topics: list[str] = []
        self.is_ready = False
        self.is_stopping = False
        self._made = 0

    def start(self) -> None:
        self.client.spawn(self._run())

    async def _run(self) -> None:
        while not await self._create("steady", self.sim.plan.partitions):
            await asyncio.sleep(0.2)
        self.is_ready = True
        random = self.client.random
        while not self.is_stopping:
            await asyncio.sleep(random.expovariate(1 / self.sim.plan.admin_gap_s))
            act = random.choice(
                (self._make_scratch, self._drop_scratch, self._grow, self._move, self._elect)
            )
            if not self.is_stopping:
                await act()

    async def _ask(self, message: Any, version: int) -> Any | None:
        """The controller's answer; None when there is none."""
        await self.client.refresh()
        target = self.client.controller_id
        if target < 0:
            return None
        try:
            return await self.client.ask(target, message, version, timeout_ms=TIMEOUT_MS)
        except (NotSentError, UnknownOutcomeError) as error:
            self.sim.trace(f"admin: {type(message).__name__}: {error}")
            return None

    async def _create(self, name: str, partitions: int) -> bool:
        answer = await self._ask(
            CreateTopicsRequest(
                topics=[CreatableTopic(name=name, num_partitions=partitions, replication_factor=3)],
                timeout_ms=TIMEOUT_MS,
            ),
            7,
        )
        if answer is None:
            return False
        code = answer.topics[0].error_code
        self.sim.trace(f"admin: create {name}: {ErrorCode.of(code).name}")
        if code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            return False
        if name not in self.topics:
            self.topics.append(name)
        self.sim.oracle.count("topics created")
        return True

    async def _make_scratch(self) -> None:
        self._made += 1
        await self._create(f"scratch-{self._made}", self.client.random.choice((1, 2)))

    async def _drop_scratch(self) -> None:
        scratch = [name for name in self.topics if name.startswith("scratch")]
        if not scratch:
            return
        name = self.client.random.choice(scratch)
        self.topics.remove(name)
        node = self.sim.zookeeper.find(znodes.topic_path(name))
        if node is not None:
            # Whatever becomes of the request: nothing is promised for this topic any more.
            topic_id = znodes.decode_topic(node.data).topic_id
            if topic_id is not None:
                self.sim.oracle.deleted_topics.add(topic_id)
        answer = await self._ask(
            DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=TIMEOUT_MS), 6
        )
        said = ErrorCode.of(answer.responses[0].error_code).name if answer else "no answer"
        self.sim.trace(f"admin: delete {name}: {said}")
        self.sim.oracle.count("topics deleted")

    async def _grow(self) -> None:
        if not self.topics:
            return
        name = self.client.random.choice(self.topics)
        count = self.client.partition_counts.get(name, 0)
        if not 0 < count < 5:
            return
        answer = await self._ask(
            CreatePartitionsRequest(
                topics=[CreatePartitionsTopic(name=name, count=count + 1, assignments=None)],
                timeout_ms=TIMEOUT_MS,
            ),
            3,
        )
        said = ErrorCode.of(answer.results[0].error_code).name if answer else "no answer"
        self.sim.trace(f"admin: grow {name} to {count + 1}: {said}")
        self.sim.oracle.count("partitions added")

    async def _move(self) -> None:
        random = self.client.random
        if not self.topics:
            return
        name = random.choice(self.topics)
        count = self.client.partition_counts.get(name, 0)
        if not count:
            return
        brokers = sorted(self.sim.machines)
        target = random.sample(brokers, 3) if random.random() < 0.9 else None
        partition = random.randrange(count)
        answer = await self._ask(
            AlterPartitionReassignmentsRequest(
                topics=[
                    ReassignableTopic(
                        name=name,
                        partitions=[
                            ReassignablePartition(partition_index=partition, replicas=target)
                        ],
                    )
                ],
                timeout_ms=TIMEOUT_MS,
            ),
            0,
        )
        said = "no answer"
        if answer is not None:
            code = answer.error_code or answer.responses[0].partitions[0].error_code
            said = ErrorCode.of(code).name
        self.sim.trace(f"admin: move {name}-{partition} to {target}: {said}")
        self.sim.oracle.count("reassignments")

    async def _elect(self) -> None:
        answer = await self._ask(
            ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=TIMEOUT_MS), 2
        )
        said = ErrorCode.of(answer.error_code).name if answer is not None else "no answer"
        self.sim.trace(f"admin: elect preferred leaders: {said}")
        self.sim.oracle.count("preferred elections")
