"""What a scrape reads of requests that wait and of in-sync sets."""

from __future__ import annotations

import types

from dataplane.broker.networking.receive_budget import ReceiveBudget
from dataplane.compose import gauges
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker, batch
from tests.dataplane.handlers.test_fetch import fetch
from tests.dataplane.handlers.test_produce import produce


async def test_waiting_requests_and_in_sync_sets() -> None:
    broker = OneBroker(min_insync_replicas="2")
    budget = ReceiveBudget(1 << 20)
    listeners = types.SimpleNamespace(connection_counts=dict, receive_budget=budget)
    gauges.register(
        broker.metrics, broker.partitions, broker.metadata, broker.controller, listeners
    )
    broker.topic("full", replicas=(ME, PEER, THIRD))
    broker.topic("at", replicas=(ME, PEER, THIRD), isr=(ME, PEER))
    broker.topic("under", replicas=(ME, PEER, THIRD), isr=(ME,))
    broker.submit(produce("full", batch("a"), acks=-1, timeout_ms=60_000), 9)
    for _ in range(2):
        broker.submit(fetch("at", wait_ms=60_000), 11)
    lines = broker.metrics.exposition({}).splitlines()
    assert {
        'penstock_purgatory_size{kind="produce"} 1',
        'penstock_purgatory_size{kind="fetch"} 2',
        'penstock_purgatory_expired{kind="fetch"} 0',
        "penstock_under_replicated_partitions 2",
        "penstock_at_min_isr_partitions 1",
        "penstock_under_min_isr_partitions 1",
    } <= set(lines)
    await broker.stop()
