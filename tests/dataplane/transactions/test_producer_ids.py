"""Producer ids: unique over brokers, restarts, contention and lost answers."""

import asyncio

import pytest

from dataplane.broker.producer_ids import ProducerIdManager
from dataplane.cluster.znodes import PRODUCER_IDS, decode_producer_ids
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import SessionExpiredError
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.transactions.producer_id_block import (
    PRODUCER_ID_MAX,
    ProducerIdsExhaustedError,
    next_block,
)


def test_blocks_follow_each_other_and_end():
    assert next_block(None) == (0, 999)
    assert next_block(999) == (1000, 1999)
    with pytest.raises(ProducerIdsExhaustedError):
        next_block(PRODUCER_ID_MAX - 1)


async def test_ids_are_unique_over_brokers():
    zookeeper = FakeZooKeeper()
    brokers = [ProducerIdManager(zookeeper.connect(), broker_id) for broker_id in range(3)]
    ids = await asyncio.gather(*(brokers[n % 3].next_id() for n in range(4500)))
    assert len(set(ids)) == 4500
    assert max(ids) < 6000


async def test_the_node_says_who_claimed_what():
    session = FakeZooKeeper().connect()
    one = ProducerIdManager(session, 7)
    assert await one.next_id() == 0
    block = decode_producer_ids((await session.get(PRODUCER_IDS))[0])
    assert (block.broker_id, block.first_id, block.last_id) == (7, 0, 999)


async def test_a_lost_answer_wastes_a_block_and_repeats_nothing():
    session = FakeZooKeeper().connect()
    one = ProducerIdManager(session, 0)
    await one.next_id()
    for _ in range(999):
        await one.next_id()
    session.lose_reply_of_next()
    assert await one.next_id() == 2000


async def test_without_zookeeper_the_client_is_asked_to_try_again():
    session = FakeZooKeeper().connect()
    one = ProducerIdManager(session, 0)
    session.fail_next(SessionExpiredError())
    with pytest.raises(KafkaError) as refused:
        await one.next_id()
    assert refused.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert await one.next_id() == 0
