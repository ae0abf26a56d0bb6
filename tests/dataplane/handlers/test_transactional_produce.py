"""Produce within transactions: who may, and what the transaction coordinator is asked first."""

import asyncio
import struct

import pytest

from dataplane.broker.context import CloseConnection
from dataplane.broker.networking.peer_client import PeerUnavailableError
from dataplane.broker.transactions import verifier
from dataplane.cluster.topic_names import TRANSACTIONS_TOPIC
from dataplane.handlers.produce import ProduceAnswer
from dataplane.model.errors import ErrorCode as E
from dataplane.security.acl import (
    AclEntry,
    AclOperation,
    Permission,
    ResourcePattern,
    ResourceType,
)
from dataplane.security.principal import ANONYMOUS
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch
from tests.dataplane.handlers.test_produce import only, produce
from tests.dataplane.transaction_answers import verified

PRODUCER = 5


class Coordinator:
    """Answers verifications with `error`, once `gate` is open."""

    def __init__(self, error=E.NONE) -> None:
        self.error = error
        self.asked = []
        self.versions = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def request(self, broker_id, message, version, *, timeout_ms, channel):
        self.asked.append(message)
        self.versions.append(version)
        await self.gate.wait()
        if isinstance(self.error, Exception):
            raise self.error
        return verified(message, self.error)


@pytest.fixture
def coordinator(broker: OneBroker) -> Coordinator:
    broker.topic("t")
    broker.topic(TRANSACTIONS_TOPIC)
    broker.peers.target = Coordinator()
    return broker.peers.target


def inside(
    sequence: int = 0,
    *,
    acks: int = 1,
    transactional_id: str | None = "mine",
    producer_id: int = PRODUCER,
    producer_epoch: int = 0,
):
    records = batch(
        f"v{sequence}",
        producer_id=producer_id,
        producer_epoch=producer_epoch,
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


async def error_of(broker: OneBroker, request, version: int = 9) -> int:
    return only(await broker.ask(request, version)).error_code


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
        (E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH),
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


@pytest.mark.parametrize("version", [3, 10, 11])
async def test_newer_producers_are_told_that_aborting_is_enough(broker, coordinator, version):
    coordinator.error = E.TRANSACTION_ABORTABLE
    known = E.TRANSACTION_ABORTABLE if version >= 11 else E.INVALID_TXN_STATE
    assert await error_of(broker, inside(), version) == known
    assert coordinator.versions == [5], "the first in which the coordinator says so"


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
    assert not broker.partition("t").log.producers.verifications


async def test_a_request_of_two_producers_is_refused_whole(broker, coordinator):
    """Whatever is said of one partition would have to hold for both (as Kafka)."""
    request = inside()
    stranger = inside(producer_id=PRODUCER + 1).topic_data[0].partition_data[0]
    request.topic_data[0].partition_data.append(stranger)
    answer = await broker.ask(request, 9)
    codes = {each.error_code for each in answer.responses[0].partition_responses}
    assert codes == {E.INVALID_PRODUCER_ID_MAPPING}
    assert not coordinator.asked
    assert broker.partition("t").log.log_end_offset == 0


async def asking_about_the_first_batch(broker, coordinator) -> asyncio.Task:
    coordinator.gate.clear()
    asking = asyncio.create_task(error_of(broker, inside()))
    while not coordinator.asked:
        await asyncio.sleep(0)
    return asking


async def test_a_question_is_ended_by_nobody_elses_refusal(broker, coordinator):
    """Who writes as a producer that is not his is refused; the producer's own batch goes on."""
    asking = await asking_about_the_first_batch(broker, coordinator)
    theirs = Coordinator(E.INVALID_PRODUCER_ID_MAPPING)
    broker.peers.target = theirs
    refused = await error_of(broker, inside(transactional_id="another"))
    assert refused == E.INVALID_PRODUCER_ID_MAPPING
    coordinator.gate.set()
    assert await asking == E.NONE
    assert not broker.partition("t").log.producers.verifications


@pytest.mark.parametrize(
    ("transactional_id", "producer_epoch"), [("another", 0), ("another", 1), ("mine", 1)]
)
async def test_an_open_transaction_is_open_to_its_own_producer_alone(
    broker, coordinator, transactional_id, producer_epoch
):
    """Who names its producer id is asked about: a greater epoch would fence who began it."""
    assert await error_of(broker, inside(0)) == E.NONE
    coordinator.error = E.INVALID_PRODUCER_ID_MAPPING
    theirs = inside(0, transactional_id=transactional_id, producer_epoch=producer_epoch)
    assert await error_of(broker, theirs) == E.INVALID_PRODUCER_ID_MAPPING
    assert await error_of(broker, inside(1)) == E.NONE
    assert broker.partition("t").log.log_end_offset == 2
    end(broker)
    assert broker.partition("t").log.last_stable_offset == 3


async def test_who_goes_on_in_a_transaction_that_was_found_open_is_asked_about_once(
    broker, coordinator
):
    """As after a change of leader: what was answered there is not known here."""
    assert await error_of(broker, inside(0)) == E.NONE
    broker.partition("t").log.producers.verifications.clear()
    assert await error_of(broker, inside(1)) == E.NONE
    assert await error_of(broker, inside(2)) == E.NONE
    assert len(coordinator.asked) == 2


async def test_topics_that_may_not_be_written_are_not_asked_about():
    broker = OneBroker(
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer", super_users="User:root"
    )
    broker.topic("t")
    broker.topic(TRANSACTIONS_TOPIC)
    coordinator = broker.peers.target = Coordinator()
    await broker.authorizer.start()
    mine = ResourcePattern.literal(ResourceType.TRANSACTIONAL_ID, "mine")
    entry = AclEntry(ANONYMOUS, "*", AclOperation.WRITE, Permission.ALLOW)
    await broker.authorizer.create(mine, [entry])
    assert await error_of(broker, inside()) == E.TOPIC_AUTHORIZATION_FAILED
    assert not coordinator.asked
    assert not broker.partition("t").log.producers.verifications
    await broker.authorizer.stop()


async def test_a_lost_leadership_is_named(broker, coordinator):
    asking = await asking_about_the_first_batch(broker, coordinator)
    broker.topic("t", leader=PEER, replicas=(ME, PEER), leader_epoch=1)
    coordinator.gate.set()
    assert await asking == E.NOT_LEADER_OR_FOLLOWER


async def test_what_breaks_behind_the_answer_is_answered(broker, coordinator, monkeypatch):
    """And what it had staged is appended: its producer finds out by sending it again."""
    asking = await asking_about_the_first_batch(broker, coordinator)
    monkeypatch.setattr(ProduceAnswer, "finish", lambda _answer: 1 / 0)
    coordinator.gate.set()
    assert await asking == E.UNKNOWN_SERVER_ERROR
    assert broker.metrics.failed_requests.value == 1
    assert not broker.replica_manager.appends.partitions
    assert broker.partition("t").log.log_end_offset == 1


async def test_what_waits_holds_so_many_bytes(broker, coordinator, monkeypatch):
    monkeypatch.setattr(verifier, "HELD_BYTES_MAX", 100)
    asking = await asking_about_the_first_batch(broker, coordinator)
    held = broker.handlers.transaction_verifier.held_bytes
    assert held > 100, "one may always wait"
    assert await error_of(broker, inside(producer_id=8)) == E.NOT_ENOUGH_REPLICAS
    coordinator.gate.set()
    assert await asking == E.NONE
    assert await error_of(broker, inside(producer_id=8)) == E.NONE
    assert not broker.handlers.transaction_verifier.held_bytes


async def test_a_broker_that_stops_writes_nothing_more(broker, coordinator):
    asking = await asking_about_the_first_batch(broker, coordinator)
    await broker.handlers.transaction_verifier.stop()
    coordinator.gate.set()
    log = broker.partition("t").log
    assert log.log_end_offset == 0
    assert not log.producers.verifications
    asking.cancel()
