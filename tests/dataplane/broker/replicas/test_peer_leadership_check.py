"""A leader that cannot reach ZooKeeper follows its peers, and only to a later epoch."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from dataplane.broker.networking.peer_connection import PeerUnavailableError
from dataplane.broker.replicas import peer_leadership_check
from dataplane.broker.replicas.peer_leadership_check import PeerLeadershipCheck
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker

TP = TopicPartition("t", 0)


class Peers:
    """Answers as set, and notes who was asked for what."""

    def __init__(self) -> None:
        self.answer: MetadataResponse | Exception = MetadataResponse()
        self.asked: list[tuple[int, list[str]]] = []
        self.heard = asyncio.Event()

    async def request(
        self, broker_id: int, message: MetadataRequest, version: int, *, timeout_ms: int
    ) -> MetadataResponse:
        assert not message.allow_auto_topic_creation
        self.asked.append((broker_id, [topic.name for topic in message.topics]))
        self.heard.set()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def endpoint(self, broker_id: int) -> None:
        raise PeerUnavailableError("nobody is followed in this test")


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> OneBroker:
    monkeypatch.setattr(peer_leadership_check, "EVERY_S", 0.01)
    made = OneBroker()
    made.peers.target = Peers()
    return made


def check(broker: OneBroker) -> PeerLeadershipCheck:
    return PeerLeadershipCheck(
        broker.coordinator,
        broker.peers,
        broker.metadata_cache,
        broker.replica_manager,
        broker.lifecycle,
    )


def metadata_answer(
    topic_id: uuid.UUID, *, leader: int = PEER, epoch: int = 1, index: int = 0
) -> MetadataResponse:
    partition = MetadataResponsePartition(
        partition_index=index,
        leader_id=leader,
        leader_epoch=epoch,
        replica_nodes=[ME, PEER, THIRD],
        isr_nodes=[PEER, THIRD],
        offline_replicas=[ME],
    )
    topic = MetadataResponseTopic(name="t", topic_id=topic_id, partitions=[partition])
    return MetadataResponse(topics=[topic])


def leads(broker: OneBroker) -> bool:
    try:
        broker.replica_manager.leader(TP)
    except KafkaError as error:
        return error.code != ErrorCode.NOT_LEADER_OR_FOLLOWER
    return True


def test_a_later_epoch_ends_our_leadership_for_clients_too(broker: OneBroker) -> None:
    topic_id = broker.topic("t", replicas=(ME, PEER, THIRD))
    check(broker).take(metadata_answer(topic_id))
    assert not leads(broker)
    state = broker.metadata_cache.image.partition("t", 0)
    assert (state.leader, state.leader_epoch, state.isr) == (PEER, 1, (PEER, THIRD))


@pytest.mark.parametrize("epoch", [-1, 0])
def test_the_same_or_an_older_epoch_changes_nothing(broker: OneBroker, epoch: int) -> None:
    topic_id = broker.topic("t", replicas=(ME, PEER, THIRD))
    image = broker.metadata_cache.image
    check(broker).take(metadata_answer(topic_id, epoch=epoch))
    assert leads(broker)
    assert broker.metadata_cache.image is image


def test_an_answer_about_another_topic_of_that_name_is_ignored(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER, THIRD))
    check(broker).take(metadata_answer(uuid.uuid4()))
    assert leads(broker)


def test_a_partition_that_is_not_known_here_is_left_alone(broker: OneBroker) -> None:
    topic_id = broker.topic("t", replicas=(ME, PEER, THIRD))
    check(broker).take(metadata_answer(topic_id, index=5))
    assert leads(broker)


def test_the_controllers_next_word_is_obeyed_again(broker: OneBroker) -> None:
    topic_id = broker.topic("t", replicas=(ME, PEER, THIRD))
    check(broker).take(metadata_answer(topic_id))
    broker.topic("t", replicas=(ME, PEER, THIRD), leader_epoch=2)
    assert leads(broker)


async def test_peers_are_asked_in_turn_while_the_session_is_suspended(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER, THIRD))
    broker.topic("followed", leader=PEER, replicas=(PEER, ME))
    peers = broker.peers.target
    opinion = check(broker)
    opinion.start()
    await asyncio.sleep(0.05)
    assert peers.asked == []
    peers.answer = PeerUnavailableError("gone")
    broker.coordinator.suspend()
    async with asyncio.timeout(10):
        while len(peers.asked) < 4:
            peers.heard.clear()
            await peers.heard.wait()
    assert {asked for asked, _ in peers.asked} == {PEER, THIRD}
    assert all(topics == ["t"] for _, topics in peers.asked)
    assert leads(broker), "nobody contradicts: everybody may have lost ZooKeeper"
    broker.coordinator.resume()
    await asyncio.sleep(0)
    count = len(peers.asked)
    await asyncio.sleep(0.05)
    assert len(peers.asked) <= count + 1
    await opinion.stop()
    await broker.stop()


async def test_many_topics_are_asked_for_in_bounded_questions(
    broker: OneBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer_leadership_check, "TOPICS_MAX", 2)
    for name in ("t", "u", "v"):
        broker.topic(name, replicas=(ME, PEER))
    peers = broker.peers.target
    opinion = check(broker)
    opinion.start()
    broker.coordinator.suspend()
    async with asyncio.timeout(10):
        while len(peers.asked) < 8:
            peers.heard.clear()
            await peers.heard.wait()
    await opinion.stop()
    assert {tuple(topics) for _, topics in peers.asked} == {("t", "u"), ("v",)}
    await broker.stop()
