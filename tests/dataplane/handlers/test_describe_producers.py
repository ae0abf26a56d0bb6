"""DescribeProducers: what a replica remembers of those that wrote."""

import errno

import pytest

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclEntry, AclOperation, Permission, ResourcePattern, ResourceType
from dataplane.security.principal import Principal
from dataplane.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch
from tests.dataplane.handlers.test_fetch import end

ALICE = Principal.user("alice")


async def describe(broker: OneBroker, *partitions: tuple[str, int]):
    """The answers of the partitions, each asked for as a topic of its own."""
    topics = [TopicRequest(name=topic, partition_indexes=[index]) for topic, index in partitions]
    response = await broker.ask(DescribeProducersRequest(topics=topics), 0)
    assert [topic.name for topic in response.topics] == [topic for topic, _ in partitions]
    found = [topic.partitions[0] for topic in response.topics]
    assert [each.partition_index for each in found] == [index for _, index in partitions]
    return found


async def rows(broker: OneBroker) -> list[tuple[int, ...]]:
    (found,) = await describe(broker, ("t", 0))
    assert found.error_code == 0
    return [
        (
            each.producer_id,
            each.producer_epoch,
            each.last_sequence,
            each.last_timestamp,
            each.coordinator_epoch,
            each.current_txn_start_offset,
        )
        for each in found.active_producers
    ]


def write(broker: OneBroker, *values: str, origin: str = "client", **options: object) -> None:
    broker.partition("t").append_now(bytearray(batch(*values, **options)), 1, origin=origin)


async def test_a_producer_shows_its_last_batch(broker: OneBroker) -> None:
    broker.topic("t")
    write(broker, "of nobody")
    assert await rows(broker) == []
    write(broker, "a", "b", producer_id=9, producer_epoch=3, base_sequence=0)
    assert await rows(broker) == [(9, 3, 1, 1_001, -1, -1)]
    write(broker, "c", producer_id=9, producer_epoch=3, base_sequence=2)
    write(broker, "d", producer_id=7, producer_epoch=0, base_sequence=0)
    assert await rows(broker) == [(7, 0, 0, 1_000, -1, -1), (9, 3, 2, 1_000, -1, -1)]


@pytest.mark.parametrize("commits", [True, False])
async def test_an_open_transaction_shows_where_it_began(broker: OneBroker, commits: bool) -> None:
    broker.topic("t")
    write(broker, "before")
    inside = {"producer_id": 5, "producer_epoch": 0, "is_transactional": True}
    write(broker, "a", "b", origin="transaction", base_sequence=0, **inside)
    write(broker, "c", origin="transaction", base_sequence=2, **inside)
    assert await rows(broker) == [(5, 0, 2, 1_000, -1, 1)]
    end(broker, 5, commits=commits)
    assert await rows(broker) == [(5, 0, 2, 1_000, 1, -1)], "of the coordinator that ended it"
    write(broker, "d", origin="transaction", base_sequence=3, **inside)
    assert await rows(broker) == [(5, 0, 3, 1_000, 1, 5)]


async def test_an_expired_producer_is_not_shown(broker: OneBroker) -> None:
    broker.topic("t")
    write(broker, "a", producer_id=9, producer_epoch=0, base_sequence=0)
    broker.partition("t").log.producers.expire(1_001, 1)
    assert await rows(broker) == []


async def test_a_follower_answers_too(broker: OneBroker) -> None:
    """Who looks through the transactions of one broker asks it for all its replicas."""
    broker.topic("t", leader=PEER, replicas=(ME, PEER))
    options = {"producer_id": 9, "producer_epoch": 3, "base_sequence": 0}
    broker.partition("t").log.append_as_follower(
        bytearray(batch("a", is_transactional=True, **options))
    )
    assert await rows(broker) == [(9, 3, 0, 1_000, -1, 0)]


async def test_who_has_no_replica_says_so(broker: OneBroker) -> None:
    broker.topic("here")
    broker.topic("there", leader=PEER, replicas=(PEER,))
    here, there, beyond, nowhere = await describe(
        broker, ("here", 0), ("there", 0), ("here", 1), ("nowhere", 0)
    )
    assert (here.error_code, here.error_message, here.active_producers) == (0, None, [])
    assert there.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert beyond.error_code == nowhere.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert there.active_producers == []


async def test_topics_need_read() -> None:
    broker = OneBroker(**{"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"})
    await broker.authorizer.start()
    broker.info.principal = ALICE
    for topic in ("mine", "described"):
        broker.topic(topic)
        key = TopicPartition(topic, 0)
        written = bytearray(batch("a", producer_id=9, producer_epoch=0, base_sequence=0))
        broker.replica_manager.leader(key).append_now(written, 1)
    for topic, operation in (("mine", AclOperation.READ), ("described", AclOperation.DESCRIBE)):
        pattern = ResourcePattern.literal(ResourceType.TOPIC, topic)
        entry = AclEntry(ALICE, "*", operation, Permission.ALLOW)
        await broker.authorizer.create(pattern, [entry])
    mine, described, nowhere = await describe(broker, ("mine", 0), ("described", 0), ("nowhere", 0))
    assert (mine.error_code, [each.producer_id for each in mine.active_producers]) == (0, [9])
    for refused in (described, nowhere):  # whether it is there is not said
        assert refused.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
        assert refused.active_producers == []
    await broker.authorizer.stop()
    await broker.stop()


async def test_what_a_failed_directory_held_is_unknown(broker: OneBroker) -> None:
    broker.topic("t")
    write(broker, "a", producer_id=9, producer_epoch=0, base_sequence=0)
    broker.fs.fail("append", ".log", number=errno.EIO)
    with pytest.raises(KafkaError):
        write(broker, "b")
    (found,) = await describe(broker, ("t", 0))
    assert (found.error_code, found.active_producers) == (ErrorCode.KAFKA_STORAGE_ERROR, [])
