"""Metadata: all topics, named ones, missing ones, by id; encoded once per image."""

import dataclasses
import uuid

import pytest

from dataplane.cluster.image import ClusterImage
from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.find_coordinator import FindCoordinatorRequest
from dataplane.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker


def named(*names: str, auto: bool = True) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=auto,
    )


@pytest.mark.parametrize("version", range(13))
async def test_a_topic_is_described_in_every_version(broker: OneBroker, version: int) -> None:
    topic_id = broker.topic("t", replicas=(ME, PEER), partitions=2)
    response = await broker.ask(named("t"), version)
    topic = response.topics[0]
    assert (topic.error_code, topic.name) == (0, "t")
    assert [(p.partition_index, p.leader_id) for p in topic.partitions] == [(0, ME), (1, ME)]
    assert topic.partitions[0].replica_nodes == [ME, PEER]
    assert sorted(node.port for node in response.brokers) == [9001, 9002, 9003]
    if version >= 10:
        assert topic.topic_id == topic_id


@pytest.mark.parametrize(("version", "topics"), [(0, []), (1, None), (12, None)])
async def test_all_topics(broker: OneBroker, version: int, topics: list | None) -> None:
    broker.topic("a")
    broker.topic("b")
    response = await broker.ask(MetadataRequest(topics=topics), version)
    assert sorted(topic.name for topic in response.topics) == ["a", "b"]


async def test_an_empty_list_is_no_topics_after_version_0(broker: OneBroker) -> None:
    broker.topic("a")
    assert (await broker.ask(MetadataRequest(topics=[]), 1)).topics == []


async def test_a_missing_topic_is_created_only_when_allowed(broker: OneBroker) -> None:
    forbidden = await broker.ask(named("new", auto=False), 4)
    assert forbidden.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert broker.controller_client.created == []
    allowed = await broker.ask(named("new"), 4)
    assert allowed.topics[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert broker.controller_client.created == ["new"]


async def test_automatic_creation_can_be_off() -> None:
    broker = OneBroker(auto_create_topics_enable="false")
    response = await broker.ask(named("new"), 9)
    assert response.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    await broker.stop()


async def test_before_the_first_update_nothing_is_missing(broker: OneBroker) -> None:
    """A broker that has just started told clients that their topics were gone."""
    broker.metadata_cache.replace(ClusterImage())
    for auto in (True, False):
        response = await broker.ask(named("t", auto=auto), 9)
        assert response.topics[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE
        assert response.brokers == []
    assert broker.controller_client.created == []
    by_id = MetadataRequest(topics=[MetadataRequestTopic(topic_id=uuid.uuid4(), name=None)])
    response = await broker.ask(by_id, 12)
    assert response.topics[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE
    for key_type in (0, 1):
        wanted = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["x"])
        (found,) = (await broker.ask(wanted, 4)).coordinators
        assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert broker.controller_client.created == []


async def test_lookup_by_id(broker: OneBroker) -> None:
    topic_id = broker.topic("t")
    ids = [MetadataRequestTopic(topic_id=i, name=None) for i in (topic_id, uuid.uuid4())]
    response = await broker.ask(MetadataRequest(topics=ids), 12)
    assert [(t.name, t.error_code) for t in response.topics] == [
        ("t", 0),
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
    ]


@pytest.mark.parametrize("name", [None, "", "other", "missing"])
async def test_an_id_decides_whatever_the_name_holds(broker: OneBroker, name: str | None) -> None:
    """Java's admin client leaves the name empty; Kafka 3.9 does not look at it beside an id."""
    topic_id = broker.topic("t")
    broker.topic("other")
    ids = [MetadataRequestTopic(topic_id=i, name=name) for i in (topic_id, uuid.uuid4())]
    response = await broker.ask(MetadataRequest(topics=ids), 12)
    assert [(t.name, t.topic_id, t.error_code) for t in response.topics] == [
        ("t", topic_id, 0),
        (None, ids[1].topic_id, ErrorCode.UNKNOWN_TOPIC_ID),
    ]
    assert broker.controller_client.created == []


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("name", [None, "", "t"])
async def test_ids_may_not_be_asked_for_before_version_12(
    broker: OneBroker, version: int, name: str | None
) -> None:
    topic_id = broker.topic("t")
    asked = [MetadataRequestTopic(topic_id=topic_id, name=name)]
    topic = (await broker.ask(MetadataRequest(topics=asked), version)).topics[0]
    assert (topic.name, topic.topic_id) == (name or "", topic_id)
    assert topic.error_code == ErrorCode.INVALID_REQUEST


async def test_an_id_without_describe_does_not_give_the_name_away() -> None:
    broker = OneBroker(authorizer_class_name="kafka.security.authorizer.AclAuthorizer")
    topic_id = broker.topic("t")
    asked = [MetadataRequestTopic(topic_id=i, name="") for i in (topic_id, uuid.UUID(int=1))]
    response = await broker.ask(MetadataRequest(topics=asked), 12)
    assert [(t.name, t.topic_id, t.error_code) for t in response.topics] == [
        (None, topic_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (None, uuid.UUID(int=1), ErrorCode.UNKNOWN_TOPIC_ID),
    ]
    await broker.stop()


async def test_a_partition_without_leader_says_so(broker: OneBroker) -> None:
    broker.topic("t", leader=-1, replicas=(ME, PEER))
    partition = (await broker.ask(named("t"), 9)).topics[0].partitions[0]
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)


async def test_a_new_image_replaces_what_was_encoded(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    await broker.ask(named("t"), 9)
    assert broker.metadata_cache.encoded
    broker.topic("t", replicas=(ME, PEER), leader=PEER, leader_epoch=3)
    partition = (await broker.ask(named("t"), 9)).topics[0].partitions[0]
    assert (partition.leader_id, partition.leader_epoch) == (PEER, 3)


async def test_other_topics_stay_encoded_when_one_changes_or_goes(broker: OneBroker) -> None:
    for name in ("changed", "gone", "same"):
        broker.topic(name, replicas=(ME, PEER))
    await broker.ask(MetadataRequest(topics=None), 9)
    cache = broker.metadata_cache
    before = dict(cache.encoded)
    broker.topic("changed", replicas=(ME, PEER), leader=PEER, leader_epoch=3)
    topics = {name: topic for name, topic in cache.image.topics.items() if name != "gone"}
    cache.replace(dataclasses.replace(cache.image, topics=topics))
    assert set(cache.encoded) == {"same"}
    response = await broker.ask(MetadataRequest(topics=None), 9)
    leaders = {topic.name: topic.partitions[0].leader_id for topic in response.topics}
    assert leaders == {"changed": PEER, "same": ME}
    assert cache.encoded["same"] is before["same"]


async def test_a_leader_that_died_is_not_named_from_what_was_encoded(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER), leader=PEER, leader_epoch=3)
    cache = broker.metadata_cache
    await broker.ask(named("t"), 9)
    alive = {number: info for number, info in cache.image.brokers.items() if number != PEER}
    cache.replace(dataclasses.replace(cache.image, brokers=alive))
    partition = (await broker.ask(named("t"), 9)).topics[0].partitions[0]
    assert partition.error_code == ErrorCode.LEADER_NOT_AVAILABLE
