"""What a scrape reads, and that `deploy/METRICS.md` lists all of it."""

from __future__ import annotations

import re
import types
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from dataplane.broker.networking.receive_budget import ReceiveBudget
from dataplane.compose import gauges
from dataplane.wire.messages.list_groups import ListGroupsRequest
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker, batch
from tests.dataplane.handlers.test_fetch import fetch
from tests.dataplane.handlers.test_produce import produce

if TYPE_CHECKING:
    from dataplane.compose.listeners import Listeners

TABLE = Path(__file__).resolve().parents[3] / "deploy" / "METRICS.md"
ROW = re.compile(r"\| `(\w+)` \| (gauge|counter|histogram)((?:,? ?`\w+`)*) \| (.*?) \|")


def listeners_of(**connections: int) -> Listeners:
    return types.SimpleNamespace(
        connection_counts=lambda: connections, receive_budget=ReceiveBudget(1 << 20)
    )


def register(broker: OneBroker, listeners: Listeners) -> None:
    gauges.register(
        broker.metrics, broker.partitions, broker.metadata, broker.controller, listeners
    )


async def test_waiting_requests_and_in_sync_sets() -> None:
    broker = OneBroker(min_insync_replicas="2")
    register(broker, listeners_of())
    broker.topic("full", replicas=(ME, PEER, THIRD))
    broker.topic("at", replicas=(ME, PEER, THIRD), isr=(ME, PEER))
    broker.topic("under", replicas=(ME, PEER, THIRD), isr=(ME,))
    broker.submit(produce("full", batch("a"), acks=-1, timeout_ms=60_000), 9)
    for _ in range(2):
        broker.submit(fetch("at", wait_ms=60_000), 11)
    read = broker.metrics.registry.get_sample_value
    waiting = "kafka_server_delayedoperationpurgatory_numdelayedoperations"
    assert read(waiting, {"delayedOperation": "Produce"}) == 1
    assert read(waiting, {"delayedOperation": "Fetch"}) == 2
    assert read("kafka_server_delayedfetchmetrics_expires_total") == 0
    assert read("kafka_server_replicamanager_underreplicatedpartitions") == 2
    assert read("kafka_server_replicamanager_atminisrpartitioncount") == 1
    assert read("kafka_server_replicamanager_underminisrpartitioncount") == 1
    await broker.stop()


async def test_the_table_lists_what_the_page_shows() -> None:
    """Names, types and labels; a metric without a sample yet has its labels in the table alone."""
    rows = {
        name: (kind, set(re.findall(r"\w+", labels)), note)
        for name, kind, labels, note in ROW.findall(TABLE.read_text())
    }
    broker = OneBroker()
    register(broker, listeners_of(PLAINTEXT=3))
    gauges.register_storage(broker.metrics, broker.logs)
    broker.topic("led")
    broker.topic("followed", leader=PEER, replicas=(PEER, ME))
    await broker.ask(ListGroupsRequest(), 4)
    shown = {}
    page = broker.metrics.snapshot().exposition().decode()
    for family in text_string_to_metric_families(page):
        name = family.name + "_total" * (family.type == "counter")
        shown[name] = family.type
        for sample in family.samples:
            assert sample.labels.keys() - {"le"} == rows[name][1], sample
    assert shown == {name: kind for name, (kind, _labels, _note) in rows.items()}
    for name, (_kind, _labels, note) in rows.items():
        assert name.startswith("kafka_" if note.startswith("`kafka.") else "penstock_"), name
    await broker.stop()


async def test_a_label_may_hold_any_text() -> None:
    broker = OneBroker()
    awkward = 'C:\\"data"\n'
    register(broker, listeners_of(**{awkward: 3}))
    page = broker.metrics.snapshot().exposition().decode()
    families = {family.name: family for family in text_string_to_metric_families(page)}
    (sample,) = families["kafka_server_socket_server_metrics_connection_count"].samples
    assert (sample.labels, sample.value) == ({"listener": awkward}, 3)
    await broker.stop()
