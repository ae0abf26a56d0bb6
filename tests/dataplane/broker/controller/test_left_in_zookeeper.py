"""What tools and other brokers leave in ZooKeeper reaches the controller, at once and at its start."""

from __future__ import annotations

import dataclasses
import json
import uuid

import pytest

from dataplane.cluster import znodes
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.model.ids import TopicPartition
from tests.dataplane.broker.controller.fake_brokers import active, until
from tests.dataplane.broker.controller.test_controller import create_settled

TP = TopicPartition("t", 0)


def leader_of(broker, topic="t"):
    image = broker.image.topics.get(topic)
    return image.partitions[0].leader if image else None


async def another_controller(brokers):
    before = active(brokers).host.epoch
    await brokers[0].coordinator.delete(znodes.CONTROLLER)
    await until(lambda: (leader := active(brokers)) and leader.host.epoch > before)
    await until(lambda: all(b.image.controller_epoch > before for b in brokers))


async def gone(broker, path):
    await until(lambda: broker.coordinator.zookeeper.find(path) is None, what=f"{path} removed")


async def leave(broker, topic, replicas, topic_id=None):
    """As kafka-topics.sh of old: the topic's node and nothing else."""
    node = znodes.TopicNode(topic_id, replicas)
    await broker.coordinator.create(znodes.topic_path(topic), znodes.encode_topic(node))


async def test_a_topic_made_by_a_tool_gets_an_id_and_leaders(cluster):
    brokers = await cluster(1, 2, 3)
    await leave(brokers[0], "t", {0: (2, 3), 1: (3, 1)})
    await until(lambda: all("t" in b.image.topics for b in brokers), what="the topic announced")
    await active(brokers).host.propagated(1000)
    for broker in brokers:
        assert [p.leader for p in broker.image.topics["t"].partitions] == [2, 3]
    assert brokers[1].new_roles == {TopicPartition("t", 0)}
    node = znodes.decode_topic((await brokers[0].coordinator.get("/brokers/topics/t"))[0])
    assert node.topic_id == brokers[0].image.topics["t"].topic_id != uuid.UUID(int=0)


async def test_a_topic_that_was_there_before_the_controller_gets_an_id_too(cluster):
    brokers = await cluster(1, 2)
    active(brokers).coordinator.ignore(znodes.TOPICS)
    await leave(brokers[0], "t", {0: (2, 1)})
    await another_controller(brokers)
    await until(lambda: all(leader_of(b) == 2 for b in brokers))
    assert brokers[0].image.topics["t"].topic_id != uuid.UUID(int=0)


async def rewrite(broker, topic, change):
    """As kafka-topics.sh of old raised a topic's partitions: the topic's node and nothing else."""
    path = znodes.topic_path(topic)
    data, stat = await broker.coordinator.get(path)
    node = znodes.decode_topic(data)
    await broker.coordinator.set(path, change(node), stat.version)


def with_partitions(added):
    return lambda node: znodes.encode_topic(
        dataclasses.replace(node, replicas={**node.replicas, **added})
    )


async def test_partitions_that_a_tool_adds_get_leaders(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    await create_settled(brokers, TopicRequest("other", assignments={0: [1, 2]}))
    await rewrite(brokers[0], "t", with_partitions({1: (2, 3), 2: (3, 1)}))
    await until(lambda: all(len(b.image.topics["t"].partitions) == 3 for b in brokers))
    await active(brokers).host.propagated(1000)
    for broker in brokers:
        assert [p.leader for p in broker.image.topics["t"].partitions] == [1, 2, 3]
        assert [p.isr for p in broker.image.topics["t"].partitions] == [(1, 2), (2, 3), (3, 1)]
        assert len(broker.image.topics["other"].partitions) == 1
    assert TopicPartition("t", 2) in brokers[2].new_roles


async def test_every_controller_watches_the_topics_that_it_finds(cluster):
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    await another_controller(brokers)
    await rewrite(brokers[0], "t", with_partitions({1: (2, 1)}))
    await until(lambda: all(len(b.image.topics["t"].partitions) == 2 for b in brokers))
    assert [p.leader for p in brokers[1].image.topics["t"].partitions] == [1, 2]


async def later_changes_are_seen(brokers):
    """Watches fire in the order of the changes: what came before this one was looked at, too."""
    await rewrite(brokers[0], "later", with_partitions({1: (2, 1)}))
    await until(lambda: all(len(b.image.topics["later"].partitions) == 2 for b in brokers))
    await active(brokers).host.propagated(1000)


async def test_a_topic_under_deletion_does_not_grow(cluster):
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    await create_settled(brokers, TopicRequest("later", assignments={0: [1, 2]}))
    brokers[0].failed = {TP}  # its deletion is under way and does not end
    await brokers[0].coordinator.create("/admin/delete_topics/t")
    await until(lambda: all("t" not in b.image.topics for b in brokers))
    await rewrite(brokers[0], "t", with_partitions({1: (2, 1)}))
    await later_changes_are_seen(brokers)
    assert list(active(brokers).host.context.topics["t"].partitions) == [0]
    assert {p for b in brokers for p in b.roles if p.partition == 1} == {TopicPartition("later", 1)}


async def test_a_node_that_cannot_be_understood_changes_nothing(cluster):
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    await create_settled(brokers, TopicRequest("later", assignments={0: [1, 2]}))
    before = [p.leader for p in brokers[0].image.topics["t"].partitions]
    await rewrite(brokers[0], "t", lambda _node: b"{}")
    await later_changes_are_seen(brokers)
    for broker in brokers:
        assert [p.leader for p in broker.image.topics["t"].partitions] == before == [1]
    await rewrite_again(brokers[0])
    await until(lambda: all(len(b.image.topics["t"].partitions) == 2 for b in brokers))


async def rewrite_again(broker):
    node = znodes.TopicNode(broker.image.topics["t"].topic_id, {0: (1, 2), 1: (2, 1)})
    await broker.coordinator.set(znodes.topic_path("t"), znodes.encode_topic(node))


async def test_a_mark_in_delete_topics_deletes(cluster):
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", 2, 2))
    await brokers[0].coordinator.create("/admin/delete_topics/t")
    await brokers[0].coordinator.create("/admin/delete_topics/ghost")
    await gone(brokers[0], "/brokers/topics/t")
    await gone(brokers[0], "/admin/delete_topics/ghost")
    assert all(sorted(b.deleted) == [TP, TopicPartition("t", 1)] for b in brokers)


async def test_nothing_is_deleted_where_deletion_is_disabled(cluster):
    brokers = await cluster(1, 2, settings={"delete.topic.enable": "false"})
    await create_settled(brokers, TopicRequest("t", 1, 2))
    await brokers[0].coordinator.create("/admin/delete_topics/t")
    await gone(brokers[0], "/admin/delete_topics/t")
    assert brokers[0].coordinator.zookeeper.find("/brokers/topics/t")
    assert all("t" in b.image.topics and not b.deleted for b in brokers)


@pytest.mark.parametrize("at_its_start", [False, True])
async def test_a_reassignment_left_by_a_tool_begins(cluster, at_its_start):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    if at_its_start:
        active(brokers).coordinator.ignore(znodes.REASSIGN_PARTITIONS)
    asked = znodes.encode_reassignments({("t", 0): (1, 3), ("ghost", 0): (1,)})
    await brokers[0].coordinator.create(znodes.REASSIGN_PARTITIONS, asked)
    if at_its_start:
        await another_controller(brokers)
    await gone(brokers[0], znodes.REASSIGN_PARTITIONS)
    await until(lambda: brokers[0].image.topics["t"].partitions[0].replicas == (1, 3, 2))


@pytest.mark.parametrize("at_its_start", [False, True])
async def test_a_preferred_election_left_by_a_tool_is_held(cluster, at_its_start):
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    context = active(brokers).host.context
    await set_state(brokers[0], context.state(TP), leader=2, isr=[2, 1])
    await another_controller(brokers)
    assert leader_of(brokers[0]) == 2
    if at_its_start:
        active(brokers).coordinator.ignore(znodes.PREFERRED_ELECTION)
    asked = {"version": 1, "partitions": [{"topic": "t", "partition": 0}]}
    await brokers[0].coordinator.create(znodes.PREFERRED_ELECTION, json.dumps(asked).encode())
    if at_its_start:
        await another_controller(brokers)
    await gone(brokers[0], znodes.PREFERRED_ELECTION)
    await until(lambda: all(leader_of(b) == 1 for b in brokers), what="the preferred leader")


async def set_state(broker, state, **changed):
    value = {
        "controller_epoch": 1,
        "leader": state.leader,
        "version": 1,
        "leader_epoch": state.leader_epoch,
        "isr": list(state.isr),
        **changed,
    }
    await broker.coordinator.set(znodes.state_path("t", 0), json.dumps(value).encode())


async def test_an_in_sync_set_that_a_leader_wrote_itself_is_read(cluster):
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    context = active(brokers).host.context
    await set_state(brokers[0], context.state(TP), isr=[1])
    noted = {"version": 1, "partitions": [{"topic": "t", "partition": 0}]}
    for content in (b"garbage", json.dumps(noted).encode()):
        await brokers[0].coordinator.create(
            f"{znodes.ISR_CHANGES}/isr_change_", content, sequential=True
        )
    await until(lambda: all(b.image.topics["t"].partitions[0].isr == (1,) for b in brokers))
    assert context.state(TP).partition_epoch == 1
    await until(lambda: not brokers[0].coordinator.zookeeper.find(znodes.ISR_CHANGES).children)


@pytest.mark.parametrize("path", [znodes.REASSIGN_PARTITIONS, znodes.PREFERRED_ELECTION])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"partitions":[{"topic":"t"}]}'])
async def test_what_cannot_be_understood_is_removed_and_the_term_goes_on(cluster, path, content):
    brokers = await cluster(1)
    epoch = active(brokers).host.epoch
    await brokers[0].coordinator.create(path, content)
    await gone(brokers[0], path)
    assert active(brokers).host.epoch == epoch
