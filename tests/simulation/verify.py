"""The last reader: every partition from its start to its end, through the wire."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from tests.simulation.clients.connection import NotSentError, UnknownOutcomeError
from tests.simulation.clients.consumer import Consumer

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

TRIES = 20


class Verifier:
    """`offsets`: value → every (topic id, partition, offset) where it was read."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.offsets: dict[bytes, list[tuple[uuid.UUID, int, int]]] = {}
        self.is_done = False
        self.state = "not begun"
        self._consumer = Consumer(sim, 98)

    def start(self) -> None:
        self._consumer.client.spawn(self._run())

    async def _run(self) -> None:
        client = self._consumer.client
        while not await client.refresh():
            self.state = "no metadata"
        for topic in sorted(client.partition_counts):
            if topic not in client.topic_ids or topic not in self.sim.open_topics():
                continue
            for partition in range(client.partition_counts[topic]):
                await self._read_all(topic, client.topic_ids[topic], partition)
        self.is_done = True

    async def _read_all(self, topic: str, topic_id: uuid.UUID, partition: int) -> None:
        client = self._consumer.client
        offset = -1
        while True:
            self.state = f"reading {topic}-{partition} at {offset}"
            leader, epoch = client.leaders.get((topic, partition), (-1, -1))
            if leader >= 0 and offset < 0:
                offset = await self._consumer.earliest(leader, topic, partition)
            if leader < 0 or offset < 0:
                await client.refresh()
                continue
            try:
                answer, code = await self._consumer.fetch(
                    leader, (topic, topic_id, partition), offset, epoch
                )
            except (NotSentError, UnknownOutcomeError):
                await client.refresh()
                continue
            if answer is None:
                self.state += f": {ErrorCode.of(code).name}"
                await asyncio.sleep(0.1)
                await client.refresh()
                continue
            for record in answer.records:
                place = (topic_id, partition, record.offset)
                self.offsets.setdefault(record.value, []).append(place)
                offset = record.offset + 1
            if not answer.records and offset >= answer.high_watermark:
                return
