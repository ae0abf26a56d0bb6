"""In what order a controller takes over, steps, and speaks."""

from __future__ import annotations

import asyncio
import uuid

from dataplane.broker.controller.channel import ControllerChannel
from dataplane.broker.networking.peer_client import PeerUnavailableError
from dataplane.cluster import znodes
from dataplane.cluster.image import BrokerInfo, Endpoint
from dataplane.cluster.requests import MetadataUpdate, Stop
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.config import BrokerConfig
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.coordinator import Create, Delete
from dataplane.wire.messages.leader_and_isr import LeaderAndIsrResponse
from dataplane.wire.messages.stop_replica import StopReplicaResponse
from tests.dataplane.broker.controller.fake_brokers import active, until
from tests.dataplane.broker.controller.test_controller import create_settled


def names_of(requests):
    return [type(request).__name__.removesuffix("Request") for request in requests]


# -- taking over ----------------------------------------------------------------------------------


async def test_an_election_whose_answer_was_lost_is_won_when_the_place_is_ours(cluster):
    brokers = await cluster(1)
    epoch = active(brokers).host.epoch
    brokers[0].coordinator.lose_reply_of_next()
    await brokers[0].coordinator.zookeeper.connect().delete(znodes.CONTROLLER)
    await until(lambda: brokers[0].image.controller_epoch > epoch, what="a term")
    assert brokers[0].image.controller_epoch == brokers[0].host.epoch == epoch + 1
    data, _ = await brokers[0].coordinator.get(znodes.CONTROLLER_EPOCH)
    assert int(data) == epoch + 1


async def test_who_loses_the_election_leaves_the_epoch_alone(cluster):
    brokers = await cluster(1, 2, 3)
    for _ in range(3):
        before = active(brokers).host.epoch
        await brokers[0].coordinator.delete(znodes.CONTROLLER)
        await until(lambda e=before: (c := active(brokers)) and c.host.epoch > e)
        data, _ = await brokers[0].coordinator.get(znodes.CONTROLLER_EPOCH)
        assert int(data) == before + 1 == active(brokers).host.epoch


async def test_metadata_comes_before_roles_and_stops_before_what_is_resumed(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(
        brokers,
        TopicRequest("going", 1, 3),
        TopicRequest("moving", assignments={0: [1, 2]}),
    )
    host = active(brokers).host
    moving = TopicPartition("moving", 0)
    await host.submit(lambda c: c.reassignment.reassign({moving: (1, 3)}))
    await host.propagated(1000)
    active(brokers).coordinator.ignore(znodes.DELETE_TOPICS)
    await brokers[0].coordinator.create("/admin/delete_topics/going")
    for broker in brokers:
        broker.requests.clear()
    before = host.epoch
    await brokers[0].coordinator.delete(znodes.CONTROLLER)
    await until(lambda: (c := active(brokers)) and c.host.epoch > before)
    await until(lambda: all("going" not in b.image.topics for b in brokers))
    await until(lambda: all(TopicPartition("going", 0) in b.deleted for b in brokers))
    for broker in brokers:
        new = [r for r in broker.requests if r.controller_epoch > before]
        assert names_of(new)[:3] == ["UpdateMetadata", "StopReplica", "LeaderAndIsr"]
        assert new[0].live_brokers
        assert new[2].type == 2
    # The move goes on where it was.
    assert active(brokers).host.context.state(moving).adding == (3,)


async def test_a_broker_that_bounced_unseen_is_treated_as_gone_and_then_as_arrived(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: [1, 2, 3]}))
    controller = active(brokers)
    bounced = next(b for b in brokers if b is not controller)
    epoch = bounced.lifecycle.broker_epoch
    tree = bounced.coordinator.zookeeper
    path = znodes.broker_path(bounced.id)
    data, owner = tree.find(path).data, bounced.coordinator.session_id
    tree.apply([Delete(path), Create(path, data, ephemeral=True)], owner)
    context = controller.host.context
    await until(lambda: (info := context.brokers.get(bounced.id)) and info.epoch > epoch)
    tp = TopicPartition("t", 0)
    await until(lambda: context.state(tp).leader_epoch == 1)
    assert bounced.id not in context.state(tp).isr
    await until(lambda: bounced.requests[-1].broker_epoch > epoch)


# -- steps ----------------------------------------------------------------------------------------


async def test_steps_run_one_after_another(cluster):
    brokers = await cluster(1)
    seen = []

    async def step(number):
        seen.append(("begins", number))
        for _ in range(5):
            await asyncio.sleep(0)
        seen.append(("ends", number))

    host = active(brokers).host
    await asyncio.gather(*(host.submit(lambda _c, n=n: step(n)) for n in range(4)))
    assert seen == [(what, n) for n in range(4) for what in ("begins", "ends")]


async def test_a_step_of_a_former_term_is_not_carried_out(cluster):
    brokers = await cluster(1)
    host = active(brokers).host
    ran = []

    async def slow(_controller):
        await brokers[0].coordinator.delete(znodes.CONTROLLER)
        await until(lambda: not host.is_active)

    async def late(_controller):
        ran.append("late")

    host.later(slow)
    host.later(late)
    await until(lambda: host.is_active and host.epoch == 2)
    await host.submit(lambda c: c.topic_deletion.resume())
    assert ran == []


# -- the line to one broker -----------------------------------------------------------------------


class FlakyPeer:
    """Refuses a few requests, then carries out; notes what arrives."""

    def __init__(self, failures):
        self.failures = failures
        self.tried = 0
        self.arrived = []

    async def request_to(self, _endpoint, message, _version, *, timeout_ms, channel):
        assert timeout_ms > 0
        assert channel == "controller"
        self.tried += 1
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise PeerUnavailableError("down")
        self.arrived.append(message)
        name = type(message).__name__
        return StopReplicaResponse() if name == "StopReplicaRequest" else LeaderAndIsrResponse()


def channel_to(peer):
    listeners = {"PLAINTEXT": Endpoint("127.0.0.1", 1, "PLAINTEXT")}
    return ControllerChannel(
        BrokerInfo(7, epoch=3, listeners=listeners),
        controller_id=1,
        controller_epoch=5,
        peers=peer,
        listener="PLAINTEXT",
        live_brokers=dict,
        on_deleted=lambda *_: None,
        on_leader_and_isr=lambda *_: None,
    )


async def test_commands_are_repeated_until_they_arrive_and_keep_their_order():
    peer = FlakyPeer(failures=3)
    channel = channel_to(peer)
    tp = TopicPartition("t", 0)
    update = MetadataUpdate(
        PartitionState(index=0, leader=7, replicas=(7,), isr=(7,)), uuid.uuid4()
    )
    channel.queue.add_leader_and_isr(tp, update)
    channel.wake()
    await until(lambda: peer.tried == 1)
    channel.queue.add_stop_replica(tp, Stop(1, delete=False))
    channel.queue.add_leader_and_isr(tp, update)
    channel.wake()
    await asyncio.wait_for(channel.delivered(), 5)
    assert names_of(peer.arrived) == ["LeaderAndIsr", "StopReplica", "LeaderAndIsr"]
    assert {message.broker_epoch for message in peer.arrived} == {3}
    assert {message.controller_epoch for message in peer.arrived} == {5}
    await channel.stop()


async def test_commands_to_a_broker_that_went_away_are_given_up():
    peer = FlakyPeer(failures=1_000)
    before = asyncio.all_tasks()
    channel = channel_to(peer)
    channel.queue.add_brokers(metadata_first=True, full=True)
    channel.wake()
    await until(lambda: peer.tried > 1)
    waiting = asyncio.ensure_future(channel.delivered())
    await asyncio.sleep(0)
    await channel.stop()
    await asyncio.wait_for(waiting, 5)
    assert asyncio.all_tasks() == before, "nobody is left to try again"
    assert peer.arrived == []


def test_the_session_timeout_is_eighteen_seconds():
    config = BrokerConfig.parse({"broker.id": "1", "zookeeper.connect": "z:2181"})
    assert config.get_int("zookeeper.session.timeout.ms") == 18_000
    assert config.get_bool("delete.topic.enable")
