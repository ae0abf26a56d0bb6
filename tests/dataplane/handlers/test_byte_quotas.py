"""Produce, fetch and request-time quotas: the answer names a wait, and the client is not read
from meanwhile (KIP-124, KIP-219).
"""

from __future__ import annotations

import asyncio

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.handlers import old_fetch
from dataplane.quotas.entities import DEFAULT, Entity
from dataplane.quotas.overrides import Change
from dataplane.server.metered import TimedSteps
from dataplane.wire.codec import decode
from dataplane.wire.headers import parse_response_header
from dataplane.wire.message_sets import from_batches
from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from dataplane.wire.messages.list_groups import ListGroupsRequest
from dataplane.wire.messages.metadata import MetadataRequest
from dataplane.wire.messages.produce import ProduceResponse
from tests.dataplane.handlers.one_broker import OneBroker, batch, read_answer, settled
from tests.dataplane.handlers.one_connection import (
    OneConnection,
    correlation_ids,
    outcomes,
    produce,
    request,
    routed,
    to_t,
)

MINE = Entity(client_id="test")
PRODUCE, FETCH, TIME = "producer_byte_rate", "consumer_byte_rate", "request_percentage"


@pytest.fixture
async def broker():
    made = OneBroker()
    await ensure_layout(made.coordinator)
    await made.configs.start()
    made.topic("t")
    yield made
    await made.configs.stop()
    await made.stop()


async def limit(broker: OneBroker, key: str, value: float | None, entity: Entity = MINE) -> None:
    await broker.handlers.client_quotas.alter(entity, [Change(key, value)], validate_only=False)


def fetch(offset: int = 0, *, session: tuple[int, int] = (0, -1), **options) -> FetchRequest:
    partition = FetchPartition(
        partition=0, fetch_offset=offset, partition_max_bytes=1 << 20, current_leader_epoch=-1
    )
    defaults = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20, "replica_id": -1}
    return FetchRequest(
        **(defaults | options),
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic(topic="t", partitions=[partition])],
    )


async def fetched(broker: OneBroker, message: FetchRequest, version: int = 11) -> FetchResponse:
    return await broker.ask(message, version)


def records(response: FetchResponse) -> int:
    return sum(len(p.records or b"") for t in response.responses for p in t.partitions)


# -- produce


@pytest.mark.parametrize("version", [3, 8, 9, 11])
async def test_a_produce_over_its_rate_is_appended_and_names_a_wait(broker, version):
    await limit(broker, PRODUCE, 100)
    data = batch("x" * 5_000)
    first = await broker.ask(produce(("t", 0, data)), version)
    assert first.responses[0].partition_responses[0].error_code == 0
    assert 40_000 < first.throttle_time_ms < 42_000, "5 KB over 10 s are 500 a second"
    assert broker.mutes == [first.throttle_time_ms]
    assert broker.partition("t").log.log_end_offset == 1


async def test_within_its_rate_nobody_waits(broker):
    await limit(broker, PRODUCE, 1_000_000)
    answer = await broker.ask(produce(("t", 0, batch("x"))), 9)
    assert (answer.throttle_time_ms, broker.mutes) == (0, [])


async def test_others_do_not_wait(broker):
    await limit(broker, PRODUCE, 1, Entity(client_id="somebody"))
    await limit(broker, PRODUCE, 1, Entity(user="somebody", client_id=DEFAULT))
    assert broker.handlers.quotas.is_active
    connection = routed(broker)
    connection.read(to_t(batch("c")))
    assert outcomes(connection.take()) == [(0, 2)]


async def test_acks_of_all_and_of_none_wait_too(broker):
    await limit(broker, PRODUCE, 100)
    answer = await broker.ask(produce(("t", 0, batch("x" * 5_000)), acks=-1), 9)
    assert answer.throttle_time_ms > 40_000
    assert broker.mutes == [answer.throttle_time_ms]
    connection = OneConnection(broker)
    connection.read(to_t(batch("y"), acks=0) + to_t(batch("z"), at=7))
    assert await connection.settle() == []
    assert broker.metrics.muted_connections == 1
    assert broker.partition("t").log.log_end_offset == 2


async def test_requests_behind_a_throttled_one_wait(broker, monkeypatch):
    """They are worked on when its wait is over, in their order."""
    await limit(broker, PRODUCE, 100_000)
    # Muted for 0.4 s of real time: a busy machine takes a moment to settle.
    big = to_t(batch("x" * 1_040_000), at=1)
    connection = OneConnection(broker)
    connection.read(big + to_t(batch("y"), at=2) + to_t(batch("z"), at=3))
    assert correlation_ids(await connection.settle()) == [1]
    assert broker.metrics.muted_connections == 1
    assert broker.partition("t").log.log_end_offset == 1
    async with asyncio.timeout(5):
        while broker.metrics.muted_connections:
            broker.clock.advance(200)
            await asyncio.sleep(0.01)
        frames = await connection.settle()
        while len(frames) < 2:
            broker.clock.advance(1_000)
            await asyncio.sleep(0.01)
            frames += await connection.settle()
    assert correlation_ids(frames) == [2, 3]


async def test_a_connection_that_closes_while_it_waits_leaves_nothing(broker):
    await limit(broker, PRODUCE, 100)
    connection = OneConnection(broker)
    connection.read(to_t(batch("x" * 5_000)))
    await connection.settle()
    assert broker.metrics.muted_connections == 1
    connection.protocol.connection_lost(None)
    assert broker.metrics.muted_connections == 0


async def test_a_quota_counts_at_once_for_a_connection_with_a_route(broker):
    connection = routed(broker)
    broker.handlers.quotas.on_change(connection.listener.forget_routes)
    await limit(broker, PRODUCE, 100)
    connection.read(to_t(batch("x" * 5_000), at=7))
    frames = await connection.settle()
    answer = read_frame(ProduceResponse, frames[0], 9)
    assert answer.throttle_time_ms > 40_000
    assert connection.info.produce_route is None
    await limit(broker, PRODUCE, None)
    assert not broker.handlers.quotas.is_active


def read_frame(response_class, frame, version):
    _, position = parse_response_header(memoryview(frame), response_class.API_KEY, version)
    return decode(response_class, version, memoryview(frame), position)[0]


# -- fetch


async def test_a_fetch_over_its_rate_is_answered_with_nothing(broker):
    await broker.ask(produce(("t", 0, batch("x" * 5_000))), 9)
    await limit(broker, FETCH, 600)
    first = await fetched(broker, fetch())
    assert (records(first) > 5_000, first.throttle_time_ms) == (True, 0)
    second = await fetched(broker, fetch())
    assert (second.responses, second.error_code) == ([], 0)
    assert 0 < second.throttle_time_ms < 10_000
    assert broker.mutes == [second.throttle_time_ms]
    broker.clock.advance(12_000)
    assert records(await fetched(broker, fetch())) > 5_000


async def test_an_answer_is_no_larger_than_its_quota_of_a_window(broker):
    """Else it could never be sent. At least one batch is, as without a quota."""
    for _ in range(5):
        await broker.ask(produce(("t", 0, batch("x" * 1_000))), 9)
    await limit(broker, FETCH, 250)
    answer = await fetched(broker, fetch(min_bytes=5_000, max_wait_ms=60_000))
    assert 1_000 < records(answer) <= 2_500
    assert answer.throttle_time_ms == 0


async def test_a_session_goes_on_after_an_answer_with_nothing(broker):
    await broker.ask(produce(("t", 0, batch("x" * 5_000))), 9)
    await limit(broker, FETCH, 600)
    opened = await fetched(broker, fetch(session=(0, 0)))
    assert records(opened) > 5_000
    session_id = opened.session_id
    assert session_id
    held = await fetched(broker, fetch(session=(session_id, 1)))
    assert (held.session_id, held.responses, held.error_code) == (session_id, [], 0)
    assert held.throttle_time_ms
    broker.clock.advance(12_000)
    assert records(await fetched(broker, fetch(session=(session_id, 2)))) > 5_000


async def test_followers_are_exempt(broker):
    broker.topic("r", replicas=(1, 2))
    await broker.ask(produce(("t", 0, batch("x" * 5_000))), 9)
    for key in (FETCH, TIME):
        await limit(broker, key, 1)
    for _ in range(3):
        answer = await fetched(broker, fetch(replica_id=2))
        assert (answer.throttle_time_ms, records(answer) > 5_000) == (0, True)
    assert broker.mutes == []
    held = await fetched(broker, fetch())
    assert held.throttle_time_ms


async def test_a_fetch_that_waits_is_counted_when_it_is_answered(broker):
    await limit(broker, FETCH, 600)
    answer = broker.submit(fetch(max_wait_ms=60_000), 11)
    assert not answer.done
    await broker.ask(produce(("t", 0, batch("x" * 5_000))), 9)
    response = read_answer(fetch(), 11, await settled(answer))
    assert records(response) > 5_000
    assert broker.mutes == []
    assert (await fetched(broker, fetch())).throttle_time_ms


# -- request time


async def test_time_over_its_share_is_waited_for_by_every_api(broker):
    await limit(broker, TIME, 10)
    account = broker.handlers.quotas.request.find("ANONYMOUS", "test", 0)
    account.meter.record(200.0, broker.clock.monotonic_ms())  # 2 s of work: 20 % of 10 s
    for message, version in (
        (MetadataRequest(topics=[]), 9),
        (ListGroupsRequest(), 4),
        (produce(("t", 0, batch("x"))), 9),
        (fetch(), 11),
    ):
        answer = await broker.ask(message, version)
        assert answer.throttle_time_ms == 1_000, "never longer than a sample, as in Kafka"
    assert broker.mutes == [1_000] * 4
    assert answer.responses == []


async def test_time_is_counted(broker):
    await limit(broker, TIME, 0.000001)
    assert (await broker.ask(MetadataRequest(topics=[]), 9)).throttle_time_ms == 0
    assert (await broker.ask(MetadataRequest(topics=[]), 9)).throttle_time_ms == 1_000
    assert (await broker.ask(ListGroupsRequest(), 4)).throttle_time_ms == 1_000


async def test_a_wait_of_a_task_is_not_its_time(broker):
    """A handler that waits for others uses nothing of the broker meanwhile."""
    now_s = [0.0]

    async def steps():
        now_s[0] += 1
        await asyncio.sleep(0)
        now_s[0] += 2
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        now_s[0] += 4
        return "done"

    timed = TimedSteps(steps(), lambda: now_s[0])

    async def meanwhile():
        for _ in range(20):
            now_s[0] += 100
            await asyncio.sleep(0.001)

    done, _ = await asyncio.gather(awaited(timed), meanwhile())
    assert done == "done"
    assert timed.spent_s == 7


async def awaited(timed):
    return await timed


async def test_an_unread_quota_costs_a_request_nothing(broker):
    """Without a quota there is no metering, and requests alike go their own way."""
    assert not broker.handlers.quotas.is_active
    connection = routed(broker)
    assert connection.info.produce_route is not None
    connection.read(request(MetadataRequest(topics=[]), 9, 3))
    assert correlation_ids(connection.take()) == [3]


@pytest.mark.parametrize("version", [0, 1, 2, 3])
async def test_nothing_is_converted_for_an_answer_that_the_quota_forbids(
    broker, monkeypatch, version
):
    """Who is over its rate would else have the broker work for nothing, as often as it asks."""
    converted: list[int] = []

    def noted(data, magic, **bounds):
        converted.append(len(data))
        return from_batches(data, magic, **bounds)

    monkeypatch.setattr(old_fetch, "from_batches", noted)
    await broker.ask(produce(("t", 0, batch("x" * 5_000))), 9)
    await limit(broker, FETCH, 600)
    assert records(await fetched(broker, fetch(), version)) > 5_000
    assert len(converted) == 1
    held = await fetched(broker, fetch(), version)
    assert records(held) == 0
    assert len(converted) == 1
