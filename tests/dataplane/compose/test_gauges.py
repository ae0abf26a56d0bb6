"""What a scrape reads, and that `deploy/METRICS.md` lists all of it."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from dataplane.broker.networking.receive_budget import ReceiveBudget
from dataplane.compose import gauges
from dataplane.wire.messages.list_groups import ListGroupsRequest
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker, batch
from tests.dataplane.handlers.test_fetch import fetch
from tests.dataplane.handlers.test_produce import produce
from tests.metrics_table import check_page, listed, page, sample

if TYPE_CHECKING:
    from dataplane.compose.listeners import Listeners


def listeners_of(**connections: int) -> Listeners:
    return types.SimpleNamespace(
        connection_counts=lambda: connections, receive_budget=ReceiveBudget(1 << 20)
    )


def register(broker: OneBroker, listeners: Listeners) -> None:
    gauges.register(
        broker.metrics, broker.replica_manager, broker.metadata_cache, broker.controller, listeners
    )


async def test_waiting_requests_and_isrs() -> None:
    broker = OneBroker(min_insync_replicas="2")
    register(broker, listeners_of())
    broker.topic("full", replicas=(ME, PEER, THIRD))
    broker.topic("at", replicas=(ME, PEER, THIRD), isr=(ME, PEER))
    broker.topic("under", replicas=(ME, PEER, THIRD), isr=(ME,))
    broker.submit(produce("full", batch("a"), acks=-1, timeout_ms=60_000), 9)
    for _ in range(2):
        broker.submit(fetch("at", wait_ms=60_000), 11)
    read = functools.partial(sample, broker.metrics)
    waiting = "kafka_server_delayedoperationpurgatory_numdelayedoperations"
    assert read(waiting, {"delayedOperation": "Produce"}) == 1
    assert read(waiting, {"delayedOperation": "Fetch"}) == 2
    assert read("kafka_server_delayedfetchmetrics_expires_total") == 0
    assert read("kafka_server_replicamanager_underreplicatedpartitions") == 2
    assert read("kafka_server_replicamanager_atminisrpartitioncount") == 1
    assert read("kafka_server_replicamanager_underminisrpartitioncount") == 1
    await broker.stop()


async def test_the_table_lists_what_the_page_shows() -> None:
    broker = OneBroker()
    register(broker, listeners_of(PLAINTEXT=3))
    gauges.register_storage(broker.metrics, broker.logs)
    broker.topic("led")
    broker.topic("followed", leader=PEER, replicas=(PEER, ME))
    await broker.ask(ListGroupsRequest(), 4)
    check_page(page(broker.metrics))
    await broker.stop()


def test_kafkas_names_are_kafkas_alone() -> None:
    for name, row in listed().items():
        assert name.startswith("kafka_" if row.note.startswith("`kafka.") else "penstock_"), name


async def test_a_label_may_hold_any_text() -> None:
    broker = OneBroker()
    awkward = 'C:\\"data"\n'
    register(broker, listeners_of(**{awkward: 3}))
    shown = text_string_to_metric_families(page(broker.metrics))
    families = {family.name: family for family in shown}
    (shown,) = families["kafka_server_socket_server_metrics_connection_count"].samples
    assert (shown.labels, shown.value) == ({"listener": awkward}, 3)
    await broker.stop()
