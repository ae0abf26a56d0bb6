"""Transactions of 100 records by producers that do not wait for each other."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from dataplane.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from dataplane.wire.messages.end_txn import EndTxnRequest
from dataplane.wire.messages.init_producer_id import InitProducerIdRequest
from dataplane.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.bench.dataplane import asking, frames, protocol
from tests.bench.dataplane.cluster import KAFKA, OURS, Cluster
from tests.bench.dataplane.load import BenchError
from tests.bench.dataplane.proc import cpu_s
from tests.bench.dataplane.results import value_at_most

if TYPE_CHECKING:
    from tests.bench.dataplane.asking import Connection
    from tests.bench.dataplane.bench import Bench, Sample

PRODUCERS, PARTITIONS = 16, 4
RECORDS, RECORD_BYTES = 100, 100
SETTINGS = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
TRANSACTION_KEY = 1
MARKERS_S_MAX = 5.0
CPU_MS_MAX = 2.0  # 500 a second on a core


def hundred_records(bench: Bench) -> None:
    """AddPartitionsToTxn, Produce acks=all, EndTxn, in turn; 16 producers on 4 partitions."""
    bench.close()
    with Cluster(OURS, 1, SETTINGS) as ours, Cluster(KAFKA, 1, SETTINGS) as kafka:
        sides = [ours.start(), kafka.start()]

        def once(side: Cluster, seconds: float = bench.options.seconds) -> Sample:
            topic = bench.new_topic(side, PARTITIONS, 1)
            sample = asking.run(_transact_for(side, topic, seconds))
            protocol.delete_topic(side.port, topic)
            side.wait_until_deleted()
            return sample

        bench.warm_up(sides, once, "transactions_s")
        samples = bench.rounds(sides, once, lambda side: side.name)
    bench.row("transactions of 100 records, 16 producers", "1/s", samples, "transactions_s")
    goal = value_at_most(CPU_MS_MAX)
    bench.row("  CPU of the broker per transaction", "ms", samples, "cpu_ms", goal=goal)


async def _transact_for(side: Cluster, topic: str, seconds: float) -> Sample:
    async with asking.connections(side.port, PRODUCERS) as lanes:
        producers = [
            _Producer(lane, topic, number % PARTITIONS, f"{topic}-{number}")
            for number, lane in enumerate(lanes)
        ]
        await asyncio.gather(*(producer.start(side.port) for producer in producers))
        begun, before = time.perf_counter(), cpu_s(side.pids)
        deadline = begun + seconds
        await asyncio.gather(*(producer.run_until(deadline) for producer in producers))
        took_s, spent = time.perf_counter() - begun, cpu_s(side.pids) - before
    done = sum(producer.ended for producer in producers)
    _check_stored(side, topic, done * (RECORDS + 1))  # and a marker each
    return {"transactions_s": done / took_s, "cpu_ms": spent / done * 1e3}


def _check_stored(side: Cluster, topic: str, expected: int) -> None:
    """EndTxn is answered before the markers are written."""
    deadline = time.monotonic() + MARKERS_S_MAX
    with protocol.Client(side.port) as client:
        while (stored := client.end_offsets(topic, range(PARTITIONS))) < expected:
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
    if stored != expected:
        raise BenchError(f"{side.name}: {stored} offsets stored, not {expected}")


class _Producer:
    """One transactional producer on a connection and a partition of its own choice."""

    def __init__(self, lane: Connection, topic: str, partition: int, name: str) -> None:
        self._lane, self._topic, self._partition, self._name = lane, topic, partition, name
        self._records = [
            NewRecord(None, b"v" * RECORD_BYTES, (), frames.TIMESTAMP_MS) for _ in range(RECORDS)
        ]
        self._id, self._epoch = -1, -1
        self.ended = 0

    async def start(self, port: int) -> None:
        await asking.find_coordinator(port, self._name, TRANSACTION_KEY)
        request = InitProducerIdRequest(transactional_id=self._name, transaction_timeout_ms=60_000)
        answer = await asking.patiently(self._lane, request)
        self._id, self._epoch = answer.producer_id, answer.producer_epoch

    async def run_until(self, deadline: float) -> None:
        while time.perf_counter() < deadline:
            await self._transaction()
            self.ended += 1

    async def _transaction(self) -> None:
        while (code := await self._add_partition()) in asking.TEMPORARY:
            await asyncio.sleep(0)  # the markers of the last transaction are still on the way
        asking.check(code, "AddPartitionsToTxn")
        answer = await self._lane.ask(self._produce())
        asking.check(answer.responses[0].partition_responses[0].error_code, "Produce")
        await asking.patiently(
            self._lane,
            EndTxnRequest(
                transactional_id=self._name,
                producer_id=self._id,
                producer_epoch=self._epoch,
                committed=True,
            ),
        )

    async def _add_partition(self) -> int:
        answer: Any = await self._lane.ask(
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self._name,
                v3_and_below_producer_id=self._id,
                v3_and_below_producer_epoch=self._epoch,
                v3_and_below_topics=[
                    AddPartitionsToTxnTopic(name=self._topic, partitions=[self._partition])
                ],
            )
        )
        results = answer.results_by_topic_v3_and_below
        return int(results[0].results_by_partition[0].partition_error_code)

    def _produce(self) -> ProduceRequest:
        batch = build_batch(
            self._records,
            producer_id=self._id,
            producer_epoch=self._epoch,
            base_sequence=self.ended * RECORDS,
            is_transactional=True,
        )
        data = PartitionProduceData(index=self._partition, records=bytes(batch))
        return ProduceRequest(
            transactional_id=self._name,
            acks=-1,
            timeout_ms=frames.TIMEOUT_MS,
            topic_data=[TopicProduceData(name=self._topic, partition_data=[data])],
        )
