"""Log directories that were declared lost: their broker neither registers nor goes on."""

from __future__ import annotations

import json

import pytest

from dataplane.broker.metadata.directory_fence import DirectoryFence
from dataplane.broker.metadata.registration import RegistrationError, ensure_layout
from dataplane.cluster import znodes
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.waiting import until


class Place:
    def __init__(self):
        self.zookeeper = FakeZooKeeper()
        self.admin = self.zookeeper.connect()
        self.ended = []

    def fence(self, *directory_ids):
        self.session = self.zookeeper.connect()
        return DirectoryFence(
            self.session, broker_id=3, directory_ids=directory_ids, on_fenced=self.ended.append
        )

    async def declare_lost(self, directory_id):
        await self.admin.create(f"{znodes.FENCED_DIRECTORIES}/{directory_id}")


@pytest.fixture
async def place():
    made = Place()
    await ensure_layout(made.admin)
    return made


async def test_a_broker_says_which_directories_it_has(place):
    for ids in (("b", "a"), ("c",)):  # a new disk
        fence = place.fence(*ids)
        await fence.start()
        data, _ = await place.admin.get(f"{znodes.DIRECTORIES}/3")
        assert json.loads(data) == {"version": 1, "directories": sorted(ids)}
        fence.stop()


async def test_one_that_was_declared_lost_does_not_start(place):
    await place.declare_lost("a")
    with pytest.raises(RegistrationError, match=r"^log directory a of broker 3 was declared lost"):
        await place.fence("a", "b").start()
    assert place.ended == [], "the start has failed, nothing is left to end"
    await place.fence("other").start()


async def test_one_that_is_declared_lost_while_it_runs_ends(place):
    fence = place.fence("a", "b")
    await fence.start()
    await place.declare_lost("x")
    await place.declare_lost("b")
    await until(lambda: place.ended)
    with pytest.raises(RegistrationError):
        await fence.check()
    assert len(place.ended) == 1
    assert "log directory b of broker 3" in place.ended[0]


async def test_one_that_was_declared_lost_while_it_was_cut_off_does_not_register_again(place):
    fence = place.fence("a")
    await fence.start()
    place.session.expire()
    await place.declare_lost("a")
    with pytest.raises(RegistrationError):
        await fence.check()
    await until(lambda: place.ended)


async def test_a_cluster_of_an_earlier_version_fences_nothing():
    zookeeper = FakeZooKeeper()
    ended = []
    fence = DirectoryFence(
        zookeeper.connect(), broker_id=3, directory_ids=["a"], on_fenced=ended.append
    )
    await fence.start()
    await fence.check()
    data, _ = await zookeeper.connect().get(f"{znodes.DIRECTORIES}/3")
    assert json.loads(data)["directories"] == ["a"]
    assert ended == []
