"""Produce within transactions: who may, and what the transaction coordinator is asked first."""

import asyncio
import struct

import pytest

from dataplane.broker.context import CloseConnection
from dataplane.broker.networking.peer_client import PeerUnavailableError
from dataplane.cluster.topic_names import TRANSACTIONS_TOPIC
from dataplane.model.errors import ErrorCode as E
from dataplane.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.dataplane.handlers.one_broker import OneBroker, batch
from tests.dataplane.handlers.test_produce import only, produce

PRODUCER = 5


class Coordinator:
    """Answers verifications with `error`, once `gate` is open."""

    def __init__(self, error=E.NONE) -> None:
        self.error = error
        self.asked = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def request(self, broker_id, message, version, *, timeout_ms, channel):
        self.asked.append(message)
        await self.gate.wait()
        if isinstance(self.error, Exception):
            raise self.error
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                AddPartitionsToTxnResult(
                    transactional_id=asked.transactional_id,
                    topic_results=[
                        AddPartitionsToTxnTopicResult(
                            name=topic.name,
                            results_by_partition=[
                                AddPartitionsToTxnPartitionResult(
                                    partition_index=index, partition_error_code=self.error
                                )
                                for index in topic.partitions
                            ],
                        )
                        for topic in asked.topics
                    ],
                )
                for asked in message.transactions
            ]
        )


@pytest.fixture
def coordinator(broker: OneBroker) -> Coordinator:
    broker.topic("t")
    broker.topic(TRANSACTIONS_TOPIC)
    broker.peers.target = Coordinator()
    return broker.peers.target


def inside(sequence: int = 0, *, acks: int = 1, transactional_id: str | None = "mine"):
    records = batch(
        f"v{sequence}",
        producer_id=PRODUCER,
        producer_epoch=0,
        base_sequence=sequence,
        is_transactional=True,
    )
    request = produce("t", records, acks=acks)
    request.transactional_id = transactional_id
    return request


def end(broker: OneBroker) -> None:
    marker = NewRecord(struct.pack(">hh", 0, 0), struct.pack(">hi", 0, 1), (), 1_000)
    data = build_batch(
        [marker], producer_id=PRODUCER, producer_epoch=0, is_transactional=True, is_control=True
    )
    broker.partition("t").append_now(data, 1, origin="coordinator")


async def error_of(broker: OneBroker, request) -> int:
    return only(await broker.ask(request, 9)).error_code


async def test_the_first_batch_of_a_transaction_is_asked_about_and_no_other(broker, coordinator):
    assert await error_of(broker, inside(0)) == E.NONE
    assert await error_of(broker, inside(1)) == E.NONE
    (asked,) = [each for message in coordinator.asked for each in message.transactions]
    assert (asked.transactional_id, asked.producer_id, asked.verify_only) == (
        "mine",
        PRODUCER,
        True,
    )
    assert [(topic.name, topic.partitions) for topic in asked.topics] == [("t", [0])]
    end(broker)
    assert await error_of(broker, inside(2)) == E.NONE
    assert len(coordinator.asked) == 2, "another transaction"
    assert not broker.partition("t").log.producers.verifications


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        (E.INVALID_TXN_STATE, E.INVALID_TXN_STATE),
        (E.PRODUCER_FENCED, E.PRODUCER_FENCED),
        (E.INVALID_PRODUCER_ID_MAPPING, E.INVALID_PRODUCER_ID_MAPPING),
        (E.CONCURRENT_TRANSACTIONS, E.NOT_ENOUGH_REPLICAS),
        (E.NOT_COORDINATOR, E.NOT_ENOUGH_REPLICAS),
        (PeerUnavailableError("away"), E.NOT_ENOUGH_REPLICAS),
        (TimeoutError(), E.NOT_ENOUGH_REPLICAS),
        (RuntimeError("a bug"), E.UNKNOWN_SERVER_ERROR),
    ],
    ids=str,
)
async def test_what_the_coordinator_refuses_is_not_written(broker, coordinator, said, answered):
    coordinator.error = said
    assert await error_of(broker, inside()) == answered
    log = broker.partition("t").log
    assert log.log_end_offset == 0
    assert not log.producers.verifications
    coordinator.error = E.NONE
    assert await error_of(broker, inside()) == E.NONE


async def test_a_marker_that_comes_meanwhile_ends_the_transaction(broker, coordinator):
    coordinator.gate.clear()
    asking = asyncio.create_task(error_of(broker, inside()))
    while not coordinator.asked:
        await asyncio.sleep(0)
    end(broker)
    coordinator.gate.set()
    assert await asking == E.INVALID_TXN_STATE
    log = broker.partition("t").log
    assert log.log_end_offset == 1, "the marker alone"
    assert log.last_stable_offset == log.high_watermark


async def test_without_a_coordinator_producers_try_again(broker: OneBroker):
    broker.topic("t")
    assert await error_of(broker, inside()) == E.NOT_ENOUGH_REPLICAS


async def test_it_is_not_asked_where_that_is_switched_off():
    broker = OneBroker(transaction_partition_verification_enable="false")
    broker.topic("t")
    assert await error_of(broker, inside()) == E.NONE


async def test_a_batch_of_a_transaction_needs_its_transactional_id(broker, coordinator):
    refused = await error_of(broker, inside(transactional_id=None))
    assert refused == E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert await error_of(broker, inside()) == E.NONE
    assert broker.partition("t").log.last_stable_offset == 0


async def test_a_first_batch_that_nobody_could_be_answered_about_closes(broker, coordinator):
    with pytest.raises(CloseConnection):
        await broker.ask(inside(acks=0), 9)
    assert not coordinator.asked
