"""One run of a chain: consumes a partition of `feed`, produces to `result`, commits in one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from dataplane.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from dataplane.wire.messages.end_txn import EndTxnRequest
from dataplane.wire.messages.init_producer_id import InitProducerIdRequest
from dataplane.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from dataplane.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.simulation.chains.fetching import COMMITTED, UNCOMMITTED, fetch
from tests.simulation.chains.offsets import committed_offset
from tests.simulation.chains.session import GROUP, TRANSACTION, EndedError, Session

if TYPE_CHECKING:
    from tests.simulation.chains.ledger import Attempt
    from tests.simulation.chains.world import Chains

FEED, RESULT, GROUP_ID = "feed", "result", "chain"
RECORDS_MAX = 4
ABORTS = 0.2
"""Of all transactions, so many are aborted on purpose."""


class Instance:
    """`is_over` when it has ended, for whatever reason; `is_done` when it has read everything."""

    def __init__(self, chains: Chains, chain: int, number: int) -> None:
        self.chains = chains
        self.chain = chain
        self.name = f"chain-{chain}.{number}"
        self.is_over = False
        self.is_done = False
        self.is_stopping = False
        self._session = Session(chains.sim, self.name)
        self._random = self._session.random
        self._transactional_id = f"chain-{chain}"
        self._sequences: dict[int, int] = {}
        self._producer = (-1, -1)

    def start(self) -> None:
        self._session.client.spawn(self._run())

    async def _run(self) -> None:
        sim = self.chains.sim
        try:
            await self._work()
        except EndedError as ended:
            sim.trace(f"{self.name} ends: {ended}")
            sim.oracle.count(f"instances ended: {ErrorCode.of(ended.code).name}")
        self.is_over = True

    async def _work(self) -> None:
        await self._init()
        position = await committed_offset(self._session, GROUP_ID, FEED, self.chain)
        while not self.is_stopping:
            isolation = self._random.choice((COMMITTED, UNCOMMITTED))
            read = await fetch(self._session, FEED, self.chain, max(0, position), isolation)
            records = read.records[: self._random.randint(1, RECORDS_MAX)]
            if not records:
                if self.chains.is_all_fed_before(self.chain, read.next_offset):
                    self.is_done = True
                    return
                await asyncio.sleep(self._random.uniform(0.05, 0.3))
                continue
            if await self._transaction([offset for offset, _value in records]):
                position = records[-1][0] + 1
            await asyncio.sleep(self._random.choice((0.0, self._random.uniform(0, 0.5))))

    # -- one transaction

    async def _transaction(self, offsets: list[int]) -> bool:
        """Whether it was committed. EndedError, with or without having been."""
        ledger = self.chains.ledger
        attempt = ledger.begin(self.chain, self.chain, offsets[0], offsets[-1] + 1)
        wanted = not (self._random.random() < ABORTS and not self.chains.is_draining)
        offsets_first = self._random.random() < 0.5
        if offsets_first:
            await self._commit_offsets(attempt)
        await self._produce(attempt, offsets)
        if not offsets_first:
            await self._commit_offsets(attempt)
        if self._random.random() < 0.2:
            await asyncio.sleep(self._random.uniform(0, 1.5))  # its successor may come meanwhile
        await self._end(attempt, is_commit=wanted)
        return wanted

    async def _produce(self, attempt: Attempt, offsets: list[int]) -> None:
        count = self.chains.partitions
        for index in sorted({offset % count for offset in offsets}):
            await self._add(RESULT, index)
            mine = [offset for offset in offsets if offset % count == index]
            for chosen in (mine[:1], mine[1:]):
                if chosen:
                    await self._write(attempt, index, chosen)

    async def _write(self, attempt: Attempt, index: int, offsets: list[int]) -> None:
        sequence = self._sequences.get(index, 0)
        self._sequences[index] = sequence + len(offsets)
        now_ms = self.chains.sim.wall_ms()
        padding = self._random.choice((0, 0, 200))
        batch = build_batch(
            [NewRecord(b"k", attempt.value(offset, padding), (), now_ms) for offset in offsets],
            producer_id=self._producer[0],
            producer_epoch=self._producer[1],
            base_sequence=sequence,
            is_transactional=True,
        )
        data = PartitionProduceData(index=index, records=bytes(batch))
        request = ProduceRequest(
            transactional_id=self._transactional_id,
            acks=-1,
            timeout_ms=1_500,
            topic_data=[TopicProduceData(name=RESULT, partition_data=[data])],
        )
        answer = await self._session.of_leader(
            RESULT, index, request, 9, lambda a: a.responses[0].partition_responses[0].error_code
        )
        base_offset = answer.responses[0].partition_responses[0].base_offset
        attempt.placed.setdefault(index, base_offset)

    async def _commit_offsets(self, attempt: Attempt) -> None:
        """With AddOffsetsToTxn before, as every client does it."""
        producer_id, epoch = self._producer
        add = AddOffsetsToTxnRequest(
            transactional_id=self._transactional_id,
            producer_id=producer_id,
            producer_epoch=epoch,
            group_id=GROUP_ID,
        )
        await self._of_transactions(add, 3, lambda a: a.error_code)
        partition = TxnOffsetCommitRequestPartition(
            partition_index=self.chain, committed_offset=attempt.end, committed_metadata=""
        )
        commit = TxnOffsetCommitRequest(
            transactional_id=self._transactional_id,
            group_id=GROUP_ID,
            producer_id=producer_id,
            producer_epoch=epoch,
            topics=[TxnOffsetCommitRequestTopic(name=FEED, partitions=[partition])],
        )
        await self._session.of_coordinator(
            GROUP, GROUP_ID, commit, 3, lambda a: a.topics[0].partitions[0].error_code
        )

    async def _end(self, attempt: Attempt, *, is_commit: bool) -> None:
        request = EndTxnRequest(
            transactional_id=self._transactional_id,
            producer_id=self._producer[0],
            producer_epoch=self._producer[1],
            committed=is_commit,
        )
        self.chains.ledger.may_have_ended(attempt)
        attempt.commit_sent = is_commit
        try:
            await self._of_transactions(request, 3, lambda a: a.error_code)
        except EndedError as ended:
            attempt.commit_refused = is_commit and not ended.was_in_doubt
            raise
        attempt.commit_acknowledged = is_commit
        self.chains.sim.oracle.count(f"transactions {'committed' if is_commit else 'aborted'}")

    # -- requests

    async def _init(self) -> None:
        request = InitProducerIdRequest(
            transactional_id=self._transactional_id,
            transaction_timeout_ms=self.chains.sim.plan.transaction_timeout_ms,
        )
        self.chains.ledger.begins_fencing(self.chain)
        answer = await self._of_transactions(request, 4, lambda a: a.error_code)
        if not self._session.was_in_doubt:
            self.chains.ledger.has_fenced(self.chain)
        self._producer = (answer.producer_id, answer.producer_epoch)
        self.chains.sim.trace(f"{self.name} is producer {self._producer}")

    async def _add(self, topic: str, partition: int) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._transactional_id,
            v3_and_below_producer_id=self._producer[0],
            v3_and_below_producer_epoch=self._producer[1],
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[partition])],
        )
        await self._of_transactions(
            request,
            3,
            lambda a: (
                a.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            ),
        )

    async def _of_transactions(self, request, version, code_of):
        return await self._session.of_coordinator(
            TRANSACTION, self._transactional_id, request, version, code_of
        )
