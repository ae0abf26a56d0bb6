"""A leader whose controller does not answer writes the smaller ISR itself, if it still leads."""

from __future__ import annotations

import asyncio

import pytest

from dataplane.broker.replicas import past_controller
from dataplane.cluster import znodes
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.coordinator import ConnectionLossError
from dataplane.wire.messages.alter_partition import (
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from tests.dataplane.broker.controller.fake_brokers import until
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker, batch

LAG_MS = 30_000
TP = TopicPartition("t", 0)


class Led:
    """A partition that is led here, as ZooKeeper has it too; PEER keeps up, THIRD is gone."""

    def __init__(self) -> None:
        self.broker = OneBroker()
        self.zookeeper = self.broker.coordinator
        self.topic_id = self.broker.topic("t", replicas=(ME, PEER, THIRD))
        self.acknowledged: list[bool] = []

    @property
    def partition(self):
        return self.broker.partition("t")

    async def put_into_zookeeper(self) -> None:
        node = znodes.TopicNode(topic_id=self.topic_id, replicas={0: (ME, PEER, THIRD)})
        for path, data in (
            (znodes.topic_path("t"), znodes.encode_topic(node)),
            (znodes.state_path("t", 0), znodes.encode_state(self.partition.state)),
        ):
            await self.zookeeper.create(path, data, make_parents=True)
        for path in (znodes.ISR_CHANGES, znodes.CONTROLLER_EPOCH):
            await self.zookeeper.create(path, make_parents=True)

    async def state(self) -> PartitionState:
        data, stat = await self.zookeeper.get(znodes.state_path("t", 0))
        return znodes.decode_state(PartitionState(index=0), data, stat.version)

    async def put_state(self, **changed) -> None:
        kept = {"index": 0, "leader": ME, "leader_epoch": 0, "isr": (ME, PEER, THIRD)}
        state = PartitionState(**{**kept, **changed})
        await self.zookeeper.set(znodes.state_path("t", 0), znodes.encode_state(state))

    def third_falls_behind(self) -> None:
        end = self.partition.append_now(batch("a"), -1).last_offset + 1
        self.partition.when_committed(end, self.acknowledged.append)
        self.broker.clock.advance(LAG_MS + 1)
        self.partition.on_follower_fetch(PEER, end)
        self.partition.tick()
        assert self.partition.core.is_change_pending
        assert not self.acknowledged

    async def notes(self) -> list[tuple[str, int]]:
        found = []
        for name in await self.zookeeper.children(znodes.ISR_CHANGES):
            data, _ = await self.zookeeper.get(f"{znodes.ISR_CHANGES}/{name}")
            found += znodes.decode_isr_changes(data)
        return found


@pytest.fixture
async def led(monkeypatch):
    for name, seconds in (("UNANSWERED_S", 0.05), ("EVERY_S", 0.01), ("AFTER_FAILURE_S", 0.01)):
        monkeypatch.setattr(past_controller, name, seconds)
    made = Led()
    await made.put_into_zookeeper()
    yield made
    await made.broker.stop()


async def test_an_unanswered_leader_goes_on_without_the_one_that_lags(led):
    led.third_falls_behind()
    await until(lambda: led.acknowledged == [True])
    assert led.partition.isr == (ME, PEER)
    written = await led.state()
    assert (written.isr, written.leader_epoch, written.partition_epoch) == ((ME, PEER), 0, 1)
    assert await led.notes() == [("t", 0)]
    image = led.broker.metadata_cache.image
    assert image.partition("t", 0).isr == (ME, PEER)
    assert led.broker.metrics.isr_shrinks.value == 1
    led.partition.tick()
    assert not led.partition.core.is_change_pending


async def test_a_late_answer_is_about_the_past(led):
    answered = asyncio.Event()

    async def late():
        await answered.wait()
        granted = AlterPartitionResponsePartitionData(
            leader_id=ME, isr=[ME, PEER], partition_epoch=99
        )
        topic = AlterPartitionResponseTopicData(topic_id=led.topic_id, partitions=[granted])
        return AlterPartitionResponse(topics=[topic])

    async def request(_message, _version, *, timeout_ms):
        assert timeout_ms
        return await late()

    led.broker.controller_client.request = request
    led.third_falls_behind()
    await until(lambda: led.acknowledged == [True])
    answered.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert led.partition.core.partition_epoch == 1


async def test_another_leader_ends_our_leadership(led):
    await led.put_state(leader=PEER, leader_epoch=1, isr=(PEER, THIRD))
    led.third_falls_behind()
    await until(lambda: not led.partition.is_leader)
    assert led.acknowledged == [False]
    assert led.partition.leader_epoch == 1
    assert led.broker.metadata_cache.image.partition("t", 0).leader == PEER
    assert (await led.state()).isr == (PEER, THIRD)
    assert await led.notes() == []


async def test_a_later_epoch_that_we_lead_is_taken_up(led):
    await led.put_state(leader_epoch=1, isr=(ME, PEER))
    led.third_falls_behind()
    await until(lambda: led.partition.leader_epoch == 1)
    assert led.partition.is_leader
    assert led.partition.isr == (ME, PEER)


async def test_what_the_controller_has_written_unheard_is_taken(led):
    await led.put_state(isr=(ME, PEER))
    led.third_falls_behind()
    await until(lambda: led.acknowledged == [True])
    assert led.partition.core.partition_epoch == 1
    assert await led.notes() == []


async def test_a_proposal_that_was_made_meanwhile_stays_open(led, monkeypatch):
    """What was read answers the one before: dropped with it, nobody would ever answer this one."""
    past = led.broker.replica_manager.alter_partition_manager.past_controller
    watch, multi, watched, reads = past.watch, led.zookeeper.multi, [], []

    def note(open_since, close):
        watched.append(open_since)
        watch(open_since, close)

    async def the_controller_speaks(ops):
        answer = await multi(ops)
        reads.append(ops)
        if len(reads) == 2:  # the topic's node first, then its state
            led.partition.isr_committed((ME, PEER), 1)
            led.partition.on_follower_fetch(THIRD, led.partition.log.log_end_offset)
        return answer

    monkeypatch.setattr(past, "watch", note)
    monkeypatch.setattr(led.zookeeper, "multi", the_controller_speaks)
    await led.put_state(isr=(ME, PEER))
    led.third_falls_behind()
    (first_s,) = watched[0]().values()
    await until(lambda: led.partition.core.maximal_isr == {ME, PEER, THIRD} and len(reads) >= 2)
    await until(lambda: led.acknowledged == [True])
    for _ in range(10):
        await asyncio.sleep(0)
    assert led.partition.core.is_change_pending
    (since_s,) = watched[0]().values()
    assert since_s > first_s


async def test_a_write_of_unknown_fate_is_looked_for(led, monkeypatch):
    multi, lost = led.zookeeper.multi, []

    async def lose_the_answer(ops):
        answer = await multi(ops)
        if znodes.ISR_CHANGE_PREFIX in {op.path for op in ops} and not lost:
            lost.append(ops)
            raise ConnectionLossError
        return answer

    monkeypatch.setattr(led.zookeeper, "multi", lose_the_answer)
    led.third_falls_behind()
    await until(lambda: led.acknowledged == [True])
    assert len(lost) == 1
    assert (await led.state()).partition_epoch == led.partition.core.partition_epoch == 1


async def test_a_controller_that_refuses_is_not_passed_by(led, monkeypatch):
    """It is there: only silence counts, and from its last word on."""
    monkeypatch.setattr(past_controller, "UNANSWERED_S", 3600.0)
    watched, asked = [], []
    past = led.broker.replica_manager.alter_partition_manager.past_controller
    monkeypatch.setattr(past, "watch", lambda open_since, _close: watched.append(open_since))

    def refuse(message):
        asked.append(message)
        return AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)

    led.broker.controller_client.answer = refuse
    led.third_falls_behind()
    (first_s,) = watched[0]().values()
    await until(lambda: len(asked) > 1)
    (since_s,) = watched[0]().values()
    assert since_s > first_s
    assert (await led.state()).partition_epoch == 0
