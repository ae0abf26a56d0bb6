"""Topics that live for moments: deleted while they are moved, and made again under the same names.

Nobody writes to them. Requests go over connections of their own, so that the controller finds a
deletion and a reassignment of one topic in its queue together; brokers are killed in between.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from dataplane.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from dataplane.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.simulation.clients.connection import Client, NotSentError, UnknownOutcomeError
from tests.simulation.plan import NEVER_S

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

TIMEOUT_MS = 5_000
LIVES_AT_ONCE = 3
NAMES = 30
PARTITIONS_MAX = 4
REPLICAS_MAX = 3


class Fleeting:
    """`is_idle` once it has stopped, and no request of its is under way."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.is_stopping = False
        self._running = 0
        self._busy: set[str] = set()
        # PlacementSeed of its own: what others throw stays the same with and without it.
        self._random = Random(f"fleeting {sim.seed}")

    def start(self) -> None:
        if self.sim.plan.fleeting_gap_s < NEVER_S:
            self._client = Client(self.sim, "fleeting")
            self._running = LIVES_AT_ONCE
            for _ in range(LIVES_AT_ONCE):
                self._client.spawn(self._run())

    @property
    def is_idle(self) -> bool:
        return not self._running

    async def _run(self) -> None:
        random = self._random
        while not self.is_stopping:
            await asyncio.sleep(random.expovariate(1 / self.sim.plan.fleeting_gap_s))
            name = f"fleeting-{random.randint(1, NAMES)}"
            if not self.is_stopping and name not in self._busy:
                self._busy.add(name)
                await self._one_life(name)
                self._busy.discard(name)
        self._running -= 1

    async def _one_life(self, name: str) -> None:
        random = self._random
        count = random.randint(1, PARTITIONS_MAX)
        await self._client.refresh()
        await self._create(name, count)
        await asyncio.sleep(random.choice((0.0, 0.0, random.uniform(0, 1))))
        moved = random.sample(range(count), random.randint(1, count))
        works = [
            self._soon(self._move(name, moved), 0.0),
            self._soon(self._delete(name), random.choice((0.0, 0.02, 0.1))),
        ]
        if random.random() < 0.3:
            works.append(self._soon(self._kill(), 0.3))
        if random.random() < 0.3:
            works.append(self._soon(self._move(name, moved), 0.1))
        await asyncio.gather(*works)
        if random.random() < 0.5:
            await self._client.refresh()
            await self._create(name, random.randint(1, PARTITIONS_MAX))

    async def _soon(self, work: Any, within_s: float) -> None:
        await asyncio.sleep(self._random.uniform(0, within_s))
        await work

    async def _ask(self, what: str, message: Any, version: int) -> Any | None:
        """The controller's answer; None when there is none."""
        target = self._client.controller_id
        if target < 0:
            return None
        try:
            return await self._client.ask(
                target, message, version, timeout_ms=TIMEOUT_MS, channel=what
            )
        except (NotSentError, UnknownOutcomeError) as error:
            self.sim.trace(f"fleeting: {what}: {error}")
            return None

    async def _create(self, name: str, count: int) -> None:
        factor = self._random.randint(1, REPLICAS_MAX)
        topic = CreatableTopic(name=name, num_partitions=count, replication_factor=factor)
        answer = await self._ask(
            "create", CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS), 7
        )
        self._trace_answer(f"create {name}", answer.topics[0].error_code if answer else None)

    async def _delete(self, name: str) -> None:
        topic = DeleteTopicState(name=name)
        answer = await self._ask(
            "delete", DeleteTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS), 6
        )
        self._trace_answer(f"delete {name}", answer.responses[0].error_code if answer else None)
        self.sim.oracle.count("topics deleted while they were moved")

    async def _move(self, name: str, partitions: list[int]) -> None:
        brokers = sorted(self.sim.machines)
        size = self._random.randint(1, REPLICAS_MAX)
        wanted = [
            ReassignablePartition(
                partition_index=index, replicas=self._random.sample(brokers, size)
            )
            for index in partitions
        ]
        answer = await self._ask(
            "move",
            AlterPartitionReassignmentsRequest(
                topics=[ReassignableTopic(name=name, partitions=wanted)], timeout_ms=TIMEOUT_MS
            ),
            0,
        )
        code = None
        if answer is not None:
            code = answer.error_code or answer.responses[0].partitions[0].error_code
        targets = {each.partition_index: each.replicas for each in wanted}
        self._trace_answer(f"move {name} to {targets}", code)

    async def _kill(self) -> None:
        """Not where power is lost too: see the head of `chaos.py`."""
        machine = self.sim.machines[self._random.choice(sorted(self.sim.machines))]
        if "power_loss" not in self.sim.plan.faults and not self.is_stopping:
            self.sim.trace(f"fleeting: kill {machine.name}")
            machine.kill()

    def _trace_answer(self, what: str, code: int | None) -> None:
        said = "no answer" if code is None else ErrorCode.of(code).name
        self.sim.trace(f"fleeting: {what}: {said}")
