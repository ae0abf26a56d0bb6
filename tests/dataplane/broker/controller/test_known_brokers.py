"""The record of acted-upon registrations, also as controllers of earlier versions have left it."""

from __future__ import annotations

import json

import pytest

from dataplane.broker.controller.known_brokers import KnownBrokers
from dataplane.broker.controller.zk_client import ControllerZkClient
from dataplane.cluster import znodes
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.dataplane.broker.controller.fake_brokers import active, until
from tests.dataplane.broker.controller.test_controller import create_settled

PARTITION = TopicPartition("t", 0)


def record(epochs):
    named = {str(broker): epoch for broker, epoch in epochs.items()}
    return json.dumps({"version": 1, "epochs": named}).encode()


async def written_by_an_earlier_version(brokers, epochs):
    """The present record is empty, as a broker's start makes it, and the former one is full."""
    zk = brokers[0].coordinator
    await zk.set(znodes.KNOWN_BROKERS, b"")
    await zk.create("/brokers/dealt_with", record(epochs))


async def next_term(brokers):
    before = active(brokers).host.epoch
    await brokers[0].coordinator.delete(znodes.CONTROLLER)
    await until(lambda: all(broker.image.controller_epoch > before for broker in brokers))
    await active(brokers).host.propagated(5000)


async def test_a_former_record_that_fits_disturbs_nobody_and_is_moved(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: (1, 2, 3)}))
    epochs = {broker.id: broker.registration.epoch for broker in brokers}
    await written_by_an_earlier_version(brokers, epochs)
    zk = brokers[0].coordinator
    await next_term(brokers)
    role = brokers[0].roles[PARTITION]
    assert (role.leader, role.leader_epoch, role.isr) == (1, 0, [1, 2, 3])
    assert await zk.exists("/brokers/dealt_with") is None
    data, _ = await zk.get("/brokers/known_brokers")
    assert znodes.decode_known_brokers(data) == epochs


async def test_a_restart_that_the_former_record_does_not_know_is_taken_for_a_death(cluster):
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: (1, 2, 3)}))
    epochs = {broker.id: broker.registration.epoch for broker in brokers}
    await written_by_an_earlier_version(brokers, {**epochs, 1: 0})
    await next_term(brokers)
    role = brokers[1].roles[PARTITION]
    assert (role.leader, role.leader_epoch, role.isr) == (2, 1, [2, 3])


async def test_a_record_of_this_version_goes_before_a_former_one(cluster):
    """A broker of an earlier version that starts late makes the former node again."""
    brokers = await cluster(1, 2, 3)
    await create_settled(brokers, TopicRequest("t", assignments={0: (1, 2, 3)}))
    zk = brokers[0].coordinator
    await zk.create("/brokers/dealt_with", record({1: 0, 2: 0, 3: 0}))
    await next_term(brokers)
    role = brokers[0].roles[PARTITION]
    assert (role.leader, role.leader_epoch, role.isr) == (1, 0, [1, 2, 3])
    assert await zk.exists("/brokers/dealt_with") is None


@pytest.mark.parametrize(
    ("present", "former", "epochs"),
    [
        (None, None, {}),
        (None, record({1: 7}), {1: 7}),
        (b"", record({1: 7}), {1: 7}),
        (record({1: 9}), record({1: 7}), {1: 9}),
        (record({}), record({1: 7}), {}),
        (b"", b"", {}),
    ],
)
async def test_which_record_is_read(present, former, epochs):
    zk = FakeZooKeeper().connect()
    await zk.create("/brokers", b"")
    for path, data in ((znodes.KNOWN_BROKERS, present), (znodes.FORMER_KNOWN_BROKERS, former)):
        if data is not None:
            await zk.create(path, data)
    assert await KnownBrokers(ControllerZkClient(zk, 0)).load() == epochs
