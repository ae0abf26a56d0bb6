"""A deleted topic is gone for every broker, whatever else happened to it or to them meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from dataplane.broker.controller.topic_deletion_manager import TopicDeletionManager
from dataplane.cluster import znodes
from dataplane.cluster.image import TopicImage
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.ports.coordinator import Delete
from dataplane.wire.messages.update_metadata import UpdateMetadataRequest
from tests.dataplane.broker.controller.fake_brokers import active, ask_again, by_name, until
from tests.dataplane.broker.controller.test_controller import alter_isr, create_settled


@pytest.mark.parametrize("moved", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
async def test_a_topic_deleted_while_it_is_moved_is_in_no_image(cluster, moved):
    """The replica that the move drops is stopped between two announcements of the deletion."""
    brokers = await cluster(1, 2, 3, 4)
    await create_settled(brokers, TopicRequest("t", assignments={i: [1, 2] for i in range(3)}))
    host = active(brokers).host
    targets = {TopicPartition("t", index): (1, 3) for index in moved}
    await host.submit(lambda c: c.reassignment.reassign(targets))
    outcome = await host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t")))
    for partition in targets:
        await alter_isr(host, 1, partition, [1, 2, 3])
    await host.submit(lambda c: c.reassignment.complete_ready(targets))
    await asyncio.wait_for(outcome["t"], 5)
    assert await host.propagated(1000)
    for broker in brokers:
        assert "t" not in broker.image.topics, broker.image.topics["t"]
        assert broker.image.names_by_id == {}
        assert not broker.roles
    assert host.context.reassigning == set()


def haunt(broker):
    """Have it miss a deletion: its image holds a topic that nobody else knows."""
    ghost = TopicImage("ghost", broker.entropy.uuid4(), ())
    topics = {**broker.image.topics, "ghost": ghost}
    names = {**broker.image.names_by_id, ghost.topic_id: "ghost"}
    broker.image = type(broker.image)(topics=topics, names_by_id=names)


async def test_a_deletion_that_was_missed_is_made_up_for_by_the_next_controller(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", 1, 3))
    for broker in brokers:
        haunt(broker)
    epoch = active(brokers).host.epoch
    await brokers[0].coordinator.delete(znodes.CONTROLLER)
    await until(lambda: (c := active(brokers)) and c.host.epoch > epoch)
    await until(lambda: all(b.image.topics.keys() == {"t"} for b in brokers))
    assert all(len(b.image.names_by_id) == 1 for b in brokers)


async def test_a_deletion_that_was_missed_is_made_up_for_by_the_next_registration(cluster):
    """The same process registers again, after its session has expired."""
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", 1, 3))
    away = next(b for b in brokers if b is not active(brokers))
    haunt(away)
    for broker in brokers:
        broker.requests.clear()
    await away.restart()
    await until(lambda: away.image.topics.keys() == {"t"})
    first = next(r for r in away.requests if isinstance(r, UpdateMetadataRequest))
    assert first.type == 2
    assert await active(brokers).host.propagated(1000)
    for other in brokers:
        if other is not away:
            updates = [r.type for r in other.requests if isinstance(r, UpdateMetadataRequest)]
            assert set(updates) == {1}, "who stayed learns only what changed"


async def test_a_replica_that_could_not_be_deleted_is_asked_for_again(cluster):
    """Its directory did not fail before: nobody but its answer says that it waits."""
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    brokers[0].failed = {TopicPartition("t", 0)}
    host = active(brokers).host
    outcome = await host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t")))
    context = host.context
    await until(lambda: context.offline_on(1))
    assert not outcome["t"].done()
    brokers[0].failed = set()
    await ask_again(active(brokers))
    await asyncio.wait_for(outcome["t"], 5)
    assert context.brokers_with_offline == []
    assert brokers[0].deleted == [TopicPartition("t", 0)]


async def test_a_move_that_a_full_disk_holds_up_does_not_hold_up_the_deletion_for_good(cluster):
    """The new replica is refused until there is space; only then the move ends, then the deletion."""
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    host, tp = active(brokers).host, TopicPartition("t", 0)
    brokers[2].failed = {tp}
    await host.submit(lambda c: c.reassignment.reassign({tp: (1, 3)}))
    outcome = await host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t")))
    context = host.context
    await until(lambda: context.offline_on(3) == {tp})
    brokers[2].failed = set()
    await ask_again(active(brokers))
    await until(lambda: not context.offline_on(3), what="the role")
    assert (await alter_isr(host, 1, tp, [1, 2, 3])).isr == (1, 2, 3)
    await host.submit(lambda c: c.reassignment.complete_ready([tp]))
    await asyncio.wait_for(outcome["t"], 5)
    assert all("t" not in b.image.topics for b in brokers)


async def steps_so_far(host):
    """Whatever is in the queue now has been carried out."""

    async def nothing(_term):
        pass

    await host.submit(nothing)


async def test_the_stop_of_a_move_does_not_answer_for_a_deletion(cluster, monkeypatch):
    """Moved away and back, then deleted: the first stop's answer may come when that has begun."""
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2]}))
    host, tp = active(brokers).host, TopicPartition("t", 0)
    answered = []
    handled = TopicDeletionManager.replicas_deleted

    async def noted(self, broker, results):
        answered.append(broker)
        await handled(self, broker, results)

    monkeypatch.setattr(TopicDeletionManager, "replicas_deleted", noted)
    await host.submit(lambda c: c.reassignment.reassign({tp: (1,)}))
    await host.propagated(1000)
    assert brokers[1].deleted == [tp]
    await steps_so_far(host)
    assert answered == []
    await host.submit(lambda c: c.reassignment.reassign({tp: (1, 2)}))
    await host.submit(lambda c: c.reassignment.reassign({tp: None}))
    await host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t")))
    await host.propagated(1000)
    assert brokers[1].deleted == [tp, tp]
    await steps_so_far(host)
    assert set(answered) == {1}


async def test_a_deletion_by_id_spares_what_was_made_under_the_name_since(cluster):
    brokers = await cluster(1)
    first = (await create_settled(brokers, TopicRequest("t", 1, 1)))["t"].topic_id
    host = active(brokers).host
    done = await host.submit(lambda c: c.topic_deletion.delete_topics({"t": first}))
    await asyncio.wait_for(done["t"], 5)
    second = (await create_settled(brokers, TopicRequest("t", 1, 1)))["t"].topic_id
    late = await host.submit(lambda c: c.topic_deletion.delete_topics({"t": first}))
    assert late["t"].code is ErrorCode.UNKNOWN_TOPIC_ID
    await host.propagated(1000)
    assert brokers[0].image.topics["t"].topic_id == second


@pytest.mark.parametrize("removed", range(1, 5))
async def test_a_removal_that_a_controller_left_half_way_is_finished(cluster, removed):
    """Nodes go from the leaves to the mark of deletion; the next controller takes up what is left."""
    brokers = await cluster(1, 2)
    await create_settled(brokers, TopicRequest("t", 1, 2), TopicRequest("stays", 1, 2))
    host = active(brokers).host
    watched = (znodes.DELETE_TOPICS, znodes.TOPICS, znodes.topic_path("t"))
    active(brokers).coordinator.ignore(*watched)
    zookeeper = brokers[0].coordinator
    await zookeeper.create(znodes.delete_topic_path("t"))
    paths = [
        znodes.state_path("t", 0),
        znodes.partition_path("t", 0),
        znodes.partitions_path("t"),
        znodes.topic_path("t"),
    ]
    await zookeeper.multi([Delete(path) for path in paths[:removed]])
    epoch = host.epoch
    await zookeeper.delete(znodes.CONTROLLER)
    await until(lambda: (c := active(brokers)) and c.host.epoch > epoch)
    await until(lambda: zookeeper.zookeeper.find(znodes.delete_topic_path("t")) is None)
    assert await zookeeper.exists(znodes.topic_path("t")) is None
    await until(lambda: all(b.image.topics.keys() == {"stays"} for b in brokers))
    assert all(len(b.image.names_by_id) == 1 for b in brokers)
