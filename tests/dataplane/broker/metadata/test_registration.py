"""A broker's place in ZooKeeper through lost answers, expired sessions and stale predecessors."""

from __future__ import annotations

import asyncio
import json

import pytest

from dataplane.broker.metadata import own_nodes
from dataplane.broker.metadata.registration import (
    Registration,
    RegistrationError,
    ensure_cluster_id,
    ensure_layout,
    epoch_floor,
)
from dataplane.cluster.image import BrokerInfo
from dataplane.cluster.session_file import SESSION_FILE
from dataplane.cluster.znodes import PERSISTENT_PATHS
from dataplane.config.release import VERSION
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.runtime.os_filesystem import OsFileSystem
from tests.dataplane.broker.controller.fake_brokers import until

PATH = "/brokers/ids/1"


@pytest.fixture
async def zookeeper():
    tree = FakeZooKeeper()
    await ensure_layout(tree.connect())
    return tree


def registration(session, tmp_path, **options):
    return Registration(
        session,
        BrokerInfo(1),
        clock=FakeClock(),
        files=OsFileSystem(),
        process_id=4711,
        protocol="3.9-IV0",
        log_dir=str(tmp_path),
        **options,
    )


async def settle():
    """The fake's ZooKeeper answers within a turn of the loop or two."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_registers_and_leaves_its_session_id_for_the_supervisor(zookeeper, tmp_path):
    session, epochs = zookeeper.connect(), []
    made = registration(session, tmp_path / "deep" / "data", on_registered=epochs.append)
    epoch = await made.start()
    assert epoch == zookeeper.find(PATH).czxid == epochs[0]
    said = json.loads((tmp_path / "deep" / "data" / SESSION_FILE).read_text())
    assert said == {
        "pid": 4711,
        "session_id": session.session_id,
        "software": VERSION,
        "protocol": "3.9-IV0",
    }
    await made.stop()
    assert zookeeper.find(PATH) is None


async def test_a_stop_does_not_wait_for_a_zookeeper_that_is_away(zookeeper, tmp_path, monkeypatch):
    monkeypatch.setattr(own_nodes, "LEAVE_TIMEOUT_S", 0.01)
    session = zookeeper.connect()
    made = registration(session, tmp_path)
    await made.start()
    session.suspend()
    async with asyncio.timeout(30):
        await made.stop()
    assert zookeeper.find(PATH) is not None, "it ends with the session"


async def test_a_lost_answer_is_not_taken_for_another_broker(zookeeper, tmp_path):
    session = zookeeper.connect()
    session.lose_reply_of_next()
    made = registration(session, tmp_path)
    assert await made.start() == zookeeper.find(PATH).czxid


async def test_an_expired_session_is_followed_by_a_new_registration(zookeeper, tmp_path):
    session = zookeeper.connect()
    made = registration(session, tmp_path)
    first = await made.start()
    session.expire()
    await until(lambda: made.epoch > first)
    assert zookeeper.find(PATH).owner == session.session_id
    assert json.loads((tmp_path / SESSION_FILE).read_text())["session_id"] == session.session_id


async def test_a_removed_registration_of_a_living_broker_is_followed_by_another(
    zookeeper, tmp_path
):
    """A fence of its earlier life that comes late takes the new node (seed 500476)."""
    session, epochs = zookeeper.connect(), []
    made = registration(session, tmp_path, on_registered=epochs.append)
    first = await made.start()
    for _ in range(3):
        await zookeeper.connect().delete(PATH)
        await until(lambda: zookeeper.find(PATH) is not None, what="registered again")
        await until(lambda: made.epoch == zookeeper.find(PATH).czxid)
    assert len(epochs) == 4
    assert first < epochs[1] < epochs[2] < epochs[3]
    await made.stop()
    await settle()
    assert asyncio.all_tasks() == {asyncio.current_task()}, "nobody is left to register again"
    assert zookeeper.find(PATH) is None


async def test_a_registration_that_is_gone_before_it_was_seen_is_made_again(zookeeper, tmp_path):
    session = zookeeper.connect()

    def remove_at_once(epoch):
        if len(epochs) < 2:
            removals.append(asyncio.ensure_future(zookeeper.connect().delete(PATH)))
        epochs.append(epoch)

    epochs, removals = [], []
    made = registration(session, tmp_path, on_registered=remove_at_once)
    await made.start()
    await until(lambda: len(epochs) == 3, what="registered three times")
    assert zookeeper.find(PATH).czxid == epochs[-1]
    await asyncio.gather(*removals)
    await made.stop()


async def test_an_earlier_life_is_waited_for(zookeeper, tmp_path):
    earlier = zookeeper.connect()
    await earlier.create(PATH, ephemeral=True)
    made = registration(zookeeper.connect(), tmp_path)
    starting = asyncio.ensure_future(made.start())
    await settle()
    assert not starting.done()
    zookeeper.end_session(earlier.session_id)
    assert await starting == zookeeper.find(PATH).czxid


async def test_the_place_is_free_once_the_earlier_life_has_ended(zookeeper, tmp_path):
    earlier, session = zookeeper.connect(), zookeeper.connect()
    await earlier.create(PATH, ephemeral=True)
    made = registration(session, tmp_path)
    waiting = asyncio.ensure_future(made.wait_until_free())
    await settle()
    assert not waiting.done()
    zookeeper.end_session(earlier.session_id)
    await waiting
    assert zookeeper.find(PATH) is None
    session.lose_reply_of_next()
    await made.wait_until_free()
    await made.start()
    await made.wait_until_free()  # its own is in nobody's way


async def test_a_place_that_another_live_broker_has_is_refused(zookeeper, tmp_path):
    await zookeeper.connect().create(PATH, ephemeral=True)
    made = registration(zookeeper.connect(), tmp_path, session_timeout_ms=20)
    with pytest.raises(RegistrationError, match="broker id 1"):
        await made.wait_until_free()


async def test_another_live_broker_of_the_same_id_is_refused(zookeeper, tmp_path):
    await zookeeper.connect().create(PATH, ephemeral=True)
    made = registration(zookeeper.connect(), tmp_path, session_timeout_ms=20)
    with pytest.raises(RegistrationError, match="broker id 1"):
        await made.start()


async def test_stop_does_not_remove_a_successor(zookeeper, tmp_path):
    session = zookeeper.connect()
    made = registration(session, tmp_path)
    await made.start()
    zookeeper.end_session(session.session_id)
    await zookeeper.connect().create(PATH, ephemeral=True)
    await made.stop()
    assert zookeeper.find(PATH) is not None


async def test_brokers_that_start_together_agree_on_the_layout_and_the_cluster_id():
    tree = FakeZooKeeper()
    sessions = [tree.connect() for _ in range(4)]
    await asyncio.gather(*(ensure_layout(session) for session in sessions))
    assert all(tree.find(path) for path in PERSISTENT_PATHS)
    ids = await asyncio.gather(
        *(ensure_cluster_id(session, FakeEntropy(n)) for n, session in enumerate(sessions))
    )
    assert len(set(ids)) == 1
    assert len(ids[0]) == 22


async def test_the_epoch_floor_parts_earlier_lives_from_this_one(zookeeper, tmp_path):
    first = registration(zookeeper.connect(), tmp_path)
    before = await first.start()
    session = zookeeper.connect()
    session.lose_reply_of_next()
    floor = await epoch_floor(session)
    await first.stop()
    assert before < floor < await registration(session, tmp_path).start()
