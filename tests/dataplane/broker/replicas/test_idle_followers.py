"""Followers that have caught up are idle: nothing is looked at, and nothing goes unnoticed."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.model.errors import ErrorCode
from dataplane.replication.fetch_sessions import SWEEP_MS
from dataplane.replication.replica import Replica, SessionClock
from dataplane.wire.messages.fetch import ForgottenTopic
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker, batch, read_answer
from tests.dataplane.handlers.test_fetch import fetch
from tests.dataplane.handlers.test_fetch_sessions import VERSION, fetched_values, more

LAG_MS = 30_000


@pytest.fixture
async def broker():
    broker = OneBroker()
    yield broker
    await broker.stop()


class Follower:
    """Broker 2's session with the leader, on partitions that are caught up."""

    def __init__(self, broker: OneBroker, *, partitions: int = 4, isr=None) -> None:
        self.broker = broker
        self.topic_id = broker.topic("t", replicas=(ME, PEER), isr=isr, partitions=partitions)
        self.partitions = range(partitions)
        self.epoch = 0
        self.id = 0

    async def open(self) -> Follower:
        request = fetch(self.topic_id, indexes=self.partitions, replica=PEER, session=(0, 0))
        self.id = (await self.broker.ask(request, VERSION)).session_id
        await self.ask()
        return self

    def submit(self, offsets: dict[int, int] | None = None, *, wait_ms: int = 0):
        """The next request: named positions only. The request and what was handed back."""
        self.epoch += 1
        request = fetch(self.topic_id, indexes=(), replica=PEER, wait_ms=wait_ms)
        for index, offset in (offsets or {}).items():
            named = fetch(self.topic_id, offset, indexes=(index,)).topics[0].partitions
            request.topics[0].partitions += named
        request = more((self.id, self.epoch), request)
        return request, self.broker.submit(request, VERSION)

    async def ask(self, offsets: dict[int, int] | None = None):
        request, answer = self.submit(offsets)
        return read_answer(request, VERSION, answer)

    @property
    def session(self):
        return self.broker.replica_manager.fetch_sessions.cache.get(self.id)

    def write(self, index: int = 0) -> None:
        self.broker.partition("t", index).append_now(bytearray(batch("a")), 1)


async def test_who_is_caught_up_and_was_sent_everything_is_idle(broker) -> None:
    follower = await Follower(broker).open()
    assert not follower.session.due
    assert len(follower.session.idle) == 4
    assert fetched_values(await follower.ask()) == {}


async def test_an_append_wakes_the_parked_request(broker) -> None:
    follower = await Follower(broker).open()
    request, parked = follower.submit(wait_ms=60_000)
    assert not parked.done
    follower.write(2)
    await asyncio.sleep(0)
    assert fetched_values(read_answer(request, VERSION, parked.value)) == {2: ["a"]}
    follower.write(1)
    request, answer = follower.submit({2: 1}, wait_ms=60_000)
    assert fetched_values(read_answer(request, VERSION, answer)) == {1: ["a"], 2: []}
    assert broker.partition("t", 2).high_watermark == 1


@pytest.mark.parametrize("event", ["isr", "log start", "another session"])
async def test_an_append_wakes_the_parked_request_after_something_that_was_not_news(broker, event):
    """What is not answered at once ends the idleness all the same: the next append finds nobody
    idle, and went unnoticed until the request's deadline (up to 0.5 s of writes with acks=all).
    """
    follower = await Follower(broker).open()
    request, parked = follower.submit(wait_ms=60_000)
    partition = broker.partition("t", 2)
    if event == "isr":
        partition.isr_committed((ME, PEER), 1)
    elif event == "log start":
        partition.watch_log_starts()
    else:
        partition.on_follower_fetch(PEER, 0)
    await asyncio.sleep(0)
    assert not parked.done
    assert not partition.idle_followers
    follower.write(2)
    await asyncio.sleep(0)
    assert parked.done
    assert fetched_values(read_answer(request, VERSION, parked.value)) == {2: ["a"]}
    assert not partition.watchers


async def test_an_append_wakes_the_parked_request_after_the_watermark_has_moved(broker):
    """Another follower was later: the partition was idle before all had acknowledged its record."""
    broker.topic("t", replicas=(ME, PEER, THIRD))
    follower = await Follower(broker, partitions=1).open()
    broker.topic("t", replicas=(ME, PEER, THIRD), leader_epoch=0)
    partition = broker.partition("t")
    partition.append_now(bytearray(batch("a")), 1)
    await follower.ask()
    await follower.ask({0: 1})
    assert follower.session.idle
    request, parked = follower.submit(wait_ms=60_000)
    partition.on_follower_fetch(THIRD, 1)
    assert partition.high_watermark == 1
    await asyncio.sleep(0)
    assert not parked.done
    follower.write()
    await asyncio.sleep(0)
    assert parked.done
    assert fetched_values(read_answer(request, VERSION, parked.value)) == {0: ["a"]}


async def test_a_moved_watermark_is_sent_with_the_next_answer(broker) -> None:
    broker.topic("t", replicas=(ME, PEER, THIRD))
    follower = await Follower(broker, partitions=1).open()
    broker.topic("t", replicas=(ME, PEER, THIRD), leader_epoch=0)
    partition = broker.partition("t")
    partition.append_now(bytearray(batch("a")), 1)
    await follower.ask()
    await follower.ask({0: 1})
    partition.on_follower_fetch(THIRD, 1)
    (topic,) = (await follower.ask()).responses
    assert topic.partitions[0].high_watermark == partition.high_watermark == 1
    assert fetched_values(await follower.ask()) == {}
    assert follower.session.idle


async def test_a_watermark_that_moves_while_a_request_is_parked_is_sent_at_its_deadline(broker):
    follower = await Follower(broker).open()
    request, parked = follower.submit(wait_ms=30)
    partition = broker.partition("t", 3)
    partition.isr_committed((ME,), 1)
    partition.log.append_as_leader(bytearray(batch("a")), 0, now_ms=1)
    for _ in range(500):
        if parked.done:
            break
        await asyncio.sleep(0.005)
    assert fetched_values(read_answer(request, VERSION, parked.value)) == {3: ["a"]}


async def test_log_starts_are_sent_by_deletion_at_once_and_by_retention_within_the_sweep(broker):
    follower = await Follower(broker).open()
    for index in (0, 1):
        follower.write(index)
    await follower.ask()
    await follower.ask({0: 1, 1: 1})
    await follower.ask()
    assert len(follower.session.idle) == 4
    deleted, retained = broker.partition("t", 0), broker.partition("t", 1)
    deleted.log.delete_records_before(1)
    deleted.watch_log_starts()
    retained.log.delete_records_before(1)
    assert set(fetched_values(await follower.ask())) == {0}
    broker.clock.advance(SWEEP_MS)
    assert set(fetched_values(await follower.ask())) == {1}


async def test_a_lost_leadership_wakes_and_is_reported(broker) -> None:
    follower = await Follower(broker).open()
    request, parked = follower.submit(wait_ms=60_000)
    broker.topic("t", leader=PEER, replicas=(ME, PEER), leader_epoch=1, partitions=4)
    await asyncio.sleep(0)
    response = read_answer(request, VERSION, parked.value)
    codes = {part.error_code for topic in response.responses for part in topic.partitions}
    assert codes == {ErrorCode.NOT_LEADER_OR_FOLLOWER}
    assert not follower.session.idle


async def test_a_late_fetch_of_an_earlier_session_does_not_put_an_idle_follower_back(
    broker,
) -> None:
    """It was sent before a connection was lost, and came after the one that followed (seed 400932)."""
    follower = await Follower(broker, partitions=1).open()
    partition = broker.partition("t")
    follower.write()
    await follower.ask()
    await follower.ask({0: 1})
    await follower.ask()  # is told of the high watermark
    assert follower.session.idle
    late = fetch(follower.topic_id, 0, indexes=(0,), replica=PEER, wait_ms=60_000)
    await broker.ask(late, VERSION)
    assert partition.core.follower(PEER).log_end_offset == 0
    await follower.ask()
    assert partition.core.follower(PEER).log_end_offset == 1


async def test_who_is_not_in_sync_is_never_idle(broker) -> None:
    """Each of its fetches may let it join."""
    follower = await Follower(broker, isr=(ME,)).open()
    assert not follower.session.idle
    assert len(follower.session.due) == 4


async def test_who_is_put_out_of_the_isr_joins_again(broker) -> None:
    follower = await Follower(broker, partitions=1).open()
    partition = broker.partition("t")
    partition.isr_committed((ME,), 1)
    assert not partition.core.is_change_pending
    await follower.ask()
    assert partition.core.is_change_pending


async def test_what_is_forgotten_is_not_taken_for_fetched(broker) -> None:
    follower = await Follower(broker).open()
    gone = ForgottenTopic(topic_id=follower.topic_id, partitions=[0])
    nothing = fetch("t", indexes=(), replica=PEER)
    request = more((follower.id, follower.epoch + 1), nothing, forgotten_topics_data=[gone])
    await broker.ask(request, VERSION)
    follower.epoch += 1
    broker.clock.advance(LAG_MS + 1)
    await follower.ask()
    for index in (0, 1):
        follower.write(index)
        broker.partition("t", index).tick()
    assert broker.partition("t", 0).core.is_change_pending, "out: it lags since it was forgotten"
    assert not broker.partition("t", 1).core.is_change_pending


async def test_a_session_that_ends_leaves_nothing_behind(broker) -> None:
    follower = await Follower(broker).open()
    led = [broker.partition("t", index) for index in follower.partitions]
    assert [partition.idle_followers for partition in led] == [1] * 4
    broker.replica_manager.fetch_sessions.cache.remove(follower.id)
    assert [partition.idle_followers for partition in led] == [0] * 4
    first = await Follower(broker).open()
    second = await Follower(broker).open()
    assert not first.session.idle
    assert len(second.session.idle) == 4


async def test_a_follower_that_may_no_longer_is_refused_for_what_is_idle_too(broker, monkeypatch):
    follower = await Follower(broker).open()
    monkeypatch.setattr("dataplane.broker.context.RequestContext.authorize", lambda *_: False)
    response = await follower.ask()
    codes = [part.error_code for topic in response.responses for part in topic.partitions]
    assert codes == [ErrorCode.TOPIC_AUTHORIZATION_FAILED] * 4


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("fetch"), st.integers(0, 3)),
        st.tuples(st.just("append"), st.integers(1, 3)),
        st.tuples(st.just("time"), st.integers(0, 20_000)),
    ),
    max_size=60,
)


@given(EVENTS)
def test_idling_is_the_same_as_fetching_each_time_from_the_same_place(events) -> None:
    """One replica is named in every fetch, the other is idle whenever it is caught up."""
    always_named, idle = Replica(2), Replica(2)
    for replica in (always_named, idle):
        replica.reset(is_in_sync=True, now_ms=0)
    clock = SessionClock(0)
    end, at, now_ms, is_idle = 0, 0, 0, False
    for event, number in events:
        if event == "append":
            idle.wake()
            is_idle = False
            end += number
        elif event == "time":
            now_ms += number
        else:
            at = min(end, at + number)
            always_named.on_fetch(at, end, now_ms)
            if not is_idle:
                idle.on_fetch(at, end, now_ms)
                if at == end:
                    idle.become_idle(clock)
                    is_idle = True
            clock.ms = now_ms
        for later_ms in (0, LAG_MS, LAG_MS + 1, 2 * LAG_MS):
            seen = [
                replica.is_caught_up(end, now_ms + later_ms, LAG_MS)
                for replica in (always_named, idle)
            ]
            assert seen[0] == seen[1]
        assert idle.last_caught_up_ms == always_named.last_caught_up_ms
