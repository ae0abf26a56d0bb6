"""The latency of hot requests: one of some is timed, to when its answer is there."""

from __future__ import annotations

import asyncio

import pytest

from dataplane.broker.metrics import LATENCY_BUCKETS_MS
from dataplane.server.dispatch import SAMPLE_EVERY
from dataplane.wire.messages.metadata import MetadataRequest
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch
from tests.dataplane.handlers.one_connection import OneConnection, outcomes, request, routed, to_t
from tests.dataplane.handlers.test_fetch import fetch


@pytest.fixture
async def broker():
    made = OneBroker()
    made.topic("t")
    yield made
    await made.stop()


def timed(broker: OneBroker, api: str) -> int:
    times = broker.metrics.request_times.get(api)
    return 0 if times is None else sum(times.now().counts)


async def test_one_of_some_produces_is_timed_and_every_one_answered_once(broker) -> None:
    """Many in one read share one answer that is finished once."""
    connection = routed(broker)
    sent = SAMPLE_EVERY * 4
    connection.read(b"".join(to_t(batch("x"), at=n) for n in range(sent)))
    assert [code for code, _ in outcomes(connection.take())] == [0] * sent
    assert timed(broker, "Produce") in {1, 4}, "those in one read have one answer"
    for n in range(sent):
        connection.read(to_t(batch("x"), at=n))
    assert len(outcomes(connection.take())) == sent
    assert timed(broker, "Produce") in {5, 8}


async def test_what_waits_is_timed_until_its_answer(broker, monkeypatch) -> None:
    broker.topic("waits", replicas=(ME, PEER))
    connection = OneConnection(broker)
    waiting = request(fetch("waits", wait_ms=200), 11, 1)
    connection.read(waiting * SAMPLE_EVERY)
    async with asyncio.timeout(20):
        frames: list[bytes] = []
        while len(frames) < SAMPLE_EVERY:
            await asyncio.sleep(0.01)
            broker.clock.advance(100)
            frames += connection.take()
    counts = broker.metrics.request_times["Fetch"].now().counts
    assert sum(counts) == 1
    assert sum(counts[LATENCY_BUCKETS_MS.index(100) :]) == 1, "not the time of its first look"


async def test_who_leaves_while_it_waits_leaves_nothing_behind(broker) -> None:
    broker.topic("waits", replicas=(ME, PEER))
    connection = OneConnection(broker)
    connection.read(request(MetadataRequest(topics=[]), 9, 1) * (SAMPLE_EVERY - 1))
    connection.read(request(fetch("waits", wait_ms=60_000), 11, 1))
    assert len(broker.replica_manager.fetch_purgatory) == 1
    connection.protocol.connection_lost(None)
    assert len(broker.replica_manager.fetch_purgatory) == 0
    assert timed(broker, "Fetch") == 0


async def test_requests_of_tasks_are_timed_by_themselves_and_others_are_not_mixed_up(
    broker,
) -> None:
    connection = OneConnection(broker)
    connection.read(request(MetadataRequest(topics=[]), 9, 1) * SAMPLE_EVERY * 3)
    await connection.settle()
    assert timed(broker, "Metadata") == 3
    assert broker.metrics.request_times.keys() == {"Metadata"}
