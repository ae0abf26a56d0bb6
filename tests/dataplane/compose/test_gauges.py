"""What a scrape reads, and that `deploy/METRICS.md` lists all of it."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from dataplane.broker.metadata.log_dir_events import report_failure
from dataplane.broker.networking.receive_budget import ReceiveBudget
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.compose import alert_gauges, coordinator_gauges, gauges, quota_gauges
from dataplane.model.ids import TopicPartition
from dataplane.quotas.entities import DEFAULT, Entity
from dataplane.wire.messages.list_groups import ListGroupsRequest
from tests.dataplane.broker.controller.fake_brokers import active, by_name, until
from tests.dataplane.broker.controller.test_controller import create_settled
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker, batch
from tests.dataplane.handlers.test_fetch import fetch
from tests.dataplane.handlers.test_produce import produce
from tests.metrics_table import check_page, listed, page, sample

if TYPE_CHECKING:
    from dataplane.compose.listeners import Listeners


def listeners_of(**connections: int) -> Listeners:
    return types.SimpleNamespace(
        connection_counts=lambda: connections,
        creation_rates=lambda: dict.fromkeys(connections, 0.5),
        handshake_counts=dict,
        requests_in_work=dict,
        unread_answers=dict,
        certificate_expiries_s=dict,
        receive_budget=ReceiveBudget(1 << 20),
    )


def register(broker: OneBroker, listeners: Listeners) -> None:
    gauges.register(
        broker.metrics, broker.replica_manager, broker.metadata_cache, broker.controller, listeners
    )
    coordinator_gauges.register_groups(broker.metrics, broker.handlers.group_coordinator)
    coordinator_gauges.register_transactions(broker.metrics, broker.transaction_coordinator)
    coordinator_gauges.register_verifications(broker.metrics, broker.handlers.transaction_verifier)
    quota_gauges.register(broker.metrics, broker.handlers.quotas)
    alert_gauges.register_producers(
        broker.metrics, broker.replica_manager, broker.configs, broker.clock
    )
    alert_gauges.register_controller(broker.metrics, broker.controller)
    alert_gauges.register_changes(broker.metrics, broker.configs, broker.authorizer)
    alert_gauges.register_audit(broker.metrics)


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


async def test_what_the_controller_knows_is_counted_on_it_alone(cluster) -> None:
    brokers = await cluster(1, 2)
    leader = active(brokers)
    other = next(broker for broker in brokers if broker is not leader)
    placed = {0: [leader.id], 1: [other.id]}
    await create_settled(brokers, TopicRequest("t", assignments=placed))
    await create_settled(brokers, TopicRequest("u", 1, 1))
    pages = {}
    for broker in brokers:
        one = OneBroker(controller=broker.host)
        register(one, listeners_of())
        pages[broker] = functools.partial(_of_controller, functools.partial(sample, one.metrics))
    counts = {"globaltopiccount": 2, "globalpartitioncount": 3, "offlinepartitionscount": 0}
    assert pages[leader](*counts) == counts
    assert pages[other](*counts) == dict.fromkeys(counts, 0)
    other.failed = {TopicPartition("t", 1)}
    await report_failure(other.coordinator, other.id)
    await until(lambda: pages[leader]("offlinepartitionscount")["offlinepartitionscount"] == 1)
    outcome = await leader.host.submit(lambda c: c.topic_deletion.delete_topics(by_name("t")))
    deleting = {"topicstodeletecount": 1, "offlinepartitionscount": 0}
    assert pages[leader](*deleting) == deleting
    assert not outcome["t"].done()
    await leader.stop()
    assert pages[leader](*counts) == dict.fromkeys(counts, 0)


def _of_controller(read: Callable[[str], float | None], *names: str) -> dict[str, float | None]:
    return {name: read(f"kafka_controller_kafkacontroller_{name}") for name in names}


async def test_what_clients_use_of_their_quotas(monkeypatch) -> None:
    """Of a kind only so many have series of their own, those that used it last."""
    monkeypatch.setattr(quota_gauges, "SERIES_MAX", 3)
    broker = OneBroker()
    register(broker, listeners_of())
    quotas = broker.handlers.quotas
    quotas.produce.bounds.set(Entity(client_id=DEFAULT), 100)
    quotas.mutation.bounds.set(Entity(user=DEFAULT), 2)
    for number in range(5):
        metering = quotas.metering("u", f"c{number}")
        metering.produced(1_500 if number == 4 else 10)
        metering.answered()
    quotas.mutation_quota("u", "", is_strict=True).spend(10)
    shown = {family.name: family for family in text_string_to_metric_families(page(broker.metrics))}
    rates = shown["kafka_server_produce_byte_rate"].samples
    assert {each.labels["client_id"]: each.value for each in rates} == {"c4": 150, "c3": 1, "c2": 1}
    read = functools.partial(sample, broker.metrics)
    last = {"user": "", "client_id": "c4"}
    assert read("kafka_server_produce_throttle_time", last) == 5_000
    broker.clock.advance(4_000)
    assert read("kafka_server_produce_throttle_time", last) == 1_000
    assert read("kafka_server_controllermutation_tokens", {"user": "u", "client_id": ""}) == 20
    assert read("penstock_quota_accounts", {"quota": "produce"}) == 5
    assert read("penstock_quota_throttles_total", {"quota": "produce"}) == 1
    assert read("penstock_quota_throttles_total", {"quota": "fetch"}) == 0
    await broker.stop()


async def test_the_table_lists_what_the_page_shows() -> None:
    broker = OneBroker()
    register(broker, listeners_of(PLAINTEXT=3))
    gauges.register_storage(broker.metrics, broker.logs)
    alert_gauges.register_disks(broker.metrics, broker.logs)
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
