"""A consumer that checks what it reads; all it learns goes to the invariants."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING, NamedTuple

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from dataplane.wire.record_batch import iter_batches, iter_records
from tests.simulation.clients.connection import Client, NotSentError, UnknownOutcomeError

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

EARLIEST = -2
READ_COMMITTED = 1


class ReadRecord(NamedTuple):
    offset: int
    value: bytes
    leader_epoch: int


class Answer(NamedTuple):
    """What one broker said about one partition."""

    broker: int
    topic: str
    topic_id: uuid.UUID
    partition: int
    asked_offset: int
    high_watermark: int
    records: list[ReadRecord]
    sent_s: float


class Consumer:
    """Follows every partition of the open topics; now and then from the beginning again."""

    def __init__(self, sim: Simulation, number: int) -> None:
        self.sim = sim
        self.name = f"consumer-{number}"
        self.client = Client(sim, self.name)
        self.is_stopping = False
        self._positions: dict[tuple[str, uuid.UUID, int], int] = {}
        self._isolation = number % 2
        self._epochs: dict[tuple[str, uuid.UUID, int], int] = {}

    def start(self) -> None:
        self.client.spawn(self._run())

    async def _run(self) -> None:
        random = self.client.random
        while not self.is_stopping:
            topics = self.sim.open_topics()
            if not topics or not await self.client.refresh():
                await asyncio.sleep(0.1)
                continue
            topic = random.choice(topics)
            for partition in range(self.client.partition_counts.get(topic, 0)):
                await self._poll(topic, partition)
            await asyncio.sleep(random.uniform(0, 0.3))

    async def _poll(self, topic: str, partition: int) -> None:
        topic_id = self.client.topic_ids.get(topic)
        leader, epoch = self.client.leaders.get((topic, partition), (-1, -1))
        if topic_id is None or leader < 0:
            return
        key = (topic, topic_id, partition)
        if self.client.random.random() < 0.02:
            self._positions.pop(key, None)
        for _ in range(self.client.random.choice((1, 1, 3))):
            offset = self._positions.get(key, 0)
            try:
                answer, code = await self.fetch(leader, key, offset, epoch)
            except (NotSentError, UnknownOutcomeError):
                return
            if code == ErrorCode.OFFSET_OUT_OF_RANGE:
                self.sim.out_of_range(self.name, leader, key, offset)
                self._positions.pop(key, None)
                return
            if answer is None:
                return
            if answer.records:
                self._positions[key] = answer.records[-1].offset + 1

    async def fetch(
        self, broker: int, key: tuple[str, uuid.UUID, int], offset: int, epoch: int
    ) -> tuple[Answer | None, int]:
        """One fetch; its answer has been shown to the invariants."""
        topic, topic_id, partition = key
        request = FetchRequest(
            max_wait_ms=50,
            min_bytes=1,
            max_bytes=1 << 20,
            isolation_level=self._isolation,
            session_id=0,
            session_epoch=-1,
            topics=[
                FetchTopic(
                    topic=topic,
                    partitions=[
                        FetchPartition(
                            partition=partition,
                            current_leader_epoch=epoch,
                            fetch_offset=offset,
                            partition_max_bytes=self.client.random.choice((2_000, 1 << 20)),
                        )
                    ],
                )
            ],
        )
        sent_s = self.client.loop.time()
        response = await self.client.ask(broker, request, 12, timeout_ms=2_000)
        got = response.responses[0].partitions[0]
        if got.error_code != ErrorCode.NONE:
            return None, got.error_code
        records = []
        if got.records:
            data = memoryview(bytes(got.records))
            for header, batch in _batches(data):
                records += [
                    ReadRecord(record.offset, bytes(record.value or b""), header)
                    for record in iter_records(batch)
                    if record.offset >= offset
                ]
        answer = Answer(
            broker, topic, topic_id, partition, offset, got.high_watermark, records, sent_s
        )
        if self.client.topic_ids.get(topic) == topic_id:
            self.sim.read(answer, epoch)
        return answer, ErrorCode.NONE

    async def earliest(self, broker: int, topic: str, partition: int) -> int:
        """The first offset; -1 when it is not known."""
        request = ListOffsetsRequest(
            replica_id=-1,
            topics=[
                ListOffsetsTopic(
                    name=topic,
                    partitions=[
                        ListOffsetsPartition(partition_index=partition, timestamp=EARLIEST)
                    ],
                )
            ],
        )
        try:
            response = await self.client.ask(broker, request, 7)
        except (NotSentError, UnknownOutcomeError):
            return -1
        got = response.topics[0].partitions[0]
        return got.offset if got.error_code == ErrorCode.NONE else -1


def _batches(data: memoryview):
    for position, header in iter_batches(data):
        yield header.partition_leader_epoch, data[position : position + header.size_bytes]
