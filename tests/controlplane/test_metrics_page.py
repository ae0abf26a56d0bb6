"""What `/metrics` of the control plane shows: of all processes, from Redis and the database."""

import json
import time
from datetime import timedelta

import pytest
from celery import Celery
from django.db import DatabaseError, connection
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from controlplane import metrics_page
from controlplane.access.models import PasswordOverlap
from controlplane.analytics.models import CollectorState
from controlplane.clusters.models import DELETED, Broker, Cluster
from controlplane.common.metrics import SHARED_COUNTERS
from controlplane.common.redis_link import LINK, RedisLink
from controlplane.common.tally import Tally
from controlplane.gateway.breakers import BREAKERS
from controlplane.gateway.passage import Passage
from controlplane.operations import tasks
from controlplane.operations.models import Operation, OutboxMessage
from controlplane.operations.queues import NORMAL, SLOW
from controlplane.topics.models import RetentionLease
from tests.controlplane.support import cluster_make, tenant_make
from tests.metrics_table import CONTROL_PLANE, listed

LIBRARYS_OWN = ("process_", "python_")


def families():
    page = metrics_page.page().decode()
    return {
        family.name + "_total" * (family.type == "counter"): family
        for family in text_string_to_metric_families(page)
        if not family.name.startswith(LIBRARYS_OWN) and not family.name.endswith("_created")
    }


def value(name, **labels):
    """None when it is not shown."""
    found = [
        sample.value
        for family in families().values()
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    ]
    return found[0] if found else None


@pytest.fixture
def cluster(db, redis_server):
    return cluster_make(tenant_make("the-tenant"), name="the-cluster")


def test_the_page_shows_what_the_document_lists_and_names_nobody(cluster):
    Passage(cluster.id, "1").run(lambda: 1, what="count")
    for each in SHARED_COUNTERS:
        each.inc(of="one" if each.label else "")
    tasks.sweep()
    assert value("penstock_leases_lost_total") == 1
    rows, shown = listed(CONTROL_PLANE), families()
    assert shown.keys() == rows.keys()
    for name, family in shown.items():
        assert family.type == rows[name].kind, name
        for sample in family.samples:
            if not sample.name.endswith("_created"):
                assert sample.labels.keys() - {"le"} == rows[name].labels, sample
    text = metrics_page.page().decode()
    assert cluster.id in text
    assert "the-tenant" not in text
    assert "the-cluster" not in text


def test_the_certificate_that_ends_first_is_shown(cluster):
    name = "penstock_certificate_left_seconds"
    assert value(name) is None
    for number, days in ((1, 60), (2, 5), (3, None)):
        Broker.objects.create(
            cluster=cluster,
            broker_id=number,
            host_id="host-1",
            address="127.0.0.1",
            client_port=number,
            internal_port=100 + number,
            certificate_ends_at=days and timezone.now() + timedelta(days=days),
        )
    assert 5 * 86_400 - 60 < value(name) <= 5 * 86_400


def test_overlaps_whose_time_is_over_are_counted_by_state(world):
    name = "penstock_password_overlaps_overdue"
    for user in ("due", "held", "standing"):
        world.run("user.create", username=user)
        world.run("user.rotate", username=user, overlap_s=3600)
    assert (value(name, state="standing"), value(name, state="held")) == (0, 0)
    past = timezone.now() - timedelta(seconds=60)
    PasswordOverlap.objects.exclude(username="standing").update(ends_at=past)
    PasswordOverlap.objects.filter(username="held").update(state="held")
    assert (value(name, state="standing"), value(name, state="held")) == (1, 1)
    world.run("user.retire", username="held", mechanism="SCRAM-SHA-512")
    assert (value(name, state="standing"), value(name, state="held")) == (1, 0)
    type(world.cluster).objects.update(deleted_at=timezone.now())
    assert value(name, state="standing") == 0


def test_leases_whose_time_is_over_are_counted(world):
    name = "penstock_retention_leases_overdue"
    for topic in ("due", "holds"):
        world.gateway.add_topic(topic)
        world.run("topic.retention_lease", name=topic, retention_ms=1_209_600_000, for_s=3600)
    assert value(name) == 0
    past = timezone.now() - timedelta(seconds=60)
    RetentionLease.objects.filter(topic="due").update(ends_at=past)
    assert value(name) == 1
    world.run("topic.retention_restore", name="due")
    assert value(name) == 0


def test_questions_of_all_processes_are_one_count(cluster, redis_server):
    for outcome in ("ok", "ok", "breaker-open"):
        other_process = Tally(RedisLink(redis_server.url))
        other_process.add("gateway_calls", cluster=cluster.id, outcome=outcome)
        other_process.flush()
    Passage(cluster.id, "1").run(lambda: 1, what="count")
    calls = "penstock_gateway_calls_total"
    assert value(calls, cluster=cluster.id, outcome="ok") == 3
    assert value(calls, cluster=cluster.id, outcome="breaker-open") == 1
    assert value("penstock_gateway_call_seconds_count", cluster=cluster.id) == 1
    assert value("penstock_gateway_call_seconds_bucket", cluster=cluster.id, le="5.0") == 1


def test_a_breaker_shows_its_state(cluster):
    state = "penstock_gateway_breaker_state"
    assert value(state, cluster=cluster.id, state="closed") is None, "nobody has asked it yet"
    Passage(cluster.id, "1").run(lambda: 1, what="count")
    assert value(state, cluster=cluster.id, state="closed") == 1
    for _ in range(2):
        BREAKERS.failed(cluster.id, took_s=10, reason="silent", is_probe=False, is_particular=False)
    assert value(state, cluster=cluster.id, state="closed") == 0
    assert value(state, cluster=cluster.id, state="open") == 1
    assert value("penstock_gateway_breakers", state="open") == 1


def test_series_by_cluster_have_a_bound_and_end_with_the_cluster(cluster, settings):
    settings.METRICS_CLUSTERS_MAX = 2
    made = [cluster, *(cluster_make(cluster.tenant, name=f"c{n}") for n in range(3))]
    first, second, third, _ = sorted(each.id for each in made)
    for each in made:
        Passage(each.id, "1").run(lambda: 1, what="count")
    calls = "penstock_gateway_calls_total"
    assert value(calls, cluster=first, outcome="ok") == 1
    assert value(calls, cluster=second, outcome="ok") == 1
    assert value(calls, cluster=third, outcome="ok") is None
    assert value(calls, cluster="other", outcome="ok") == 2
    Cluster.objects.filter(pk=first).update(phase=DELETED, deleted_at=timezone.now())
    assert value(calls, cluster=first, outcome="ok") is None
    assert value(calls, cluster=third, outcome="ok") == 1
    assert value(calls, cluster="other", outcome="ok") == 1


def test_the_oldest_due_operation_is_one_that_nobody_holds(world):
    due = "penstock_oldest_due_operation_seconds"
    assert (value(due, queue=NORMAL), value(due, queue=SLOW)) == (0, 0)
    inputs = {"partitions": 1, "replication_factor": 1}
    first = world.start(world.plan("topic.create", name="one", **inputs))
    second = world.start(world.plan("topic.create", name="two", **inputs))
    now = timezone.now()
    rows = Operation.objects
    rows.filter(pk=first.id).update(next_run_at=now - timedelta(seconds=90))
    rows.filter(pk=second.id).update(next_run_at=now - timedelta(seconds=30))
    assert 89 < value(due, queue=NORMAL) < 95
    assert value("penstock_operations_held") == 0
    rows.filter(pk=first.id).update(lease_token="x", lease_expires_at=now + timedelta(seconds=20))
    assert 29 < value(due, queue=NORMAL) < 35
    BREAKERS.failed(
        world.cluster.id, took_s=10, reason="silent", is_probe=False, is_particular=False
    )
    assert value(due, queue=NORMAL) == 0
    assert 29 < value(due, queue=SLOW) < 35
    assert value("penstock_operations_held") == 1
    assert value("penstock_operations_active", state="pending") == 2
    OutboxMessage.objects.all().delete()
    assert value("penstock_outbox_age_seconds") == 0
    OutboxMessage.objects.create(task="operations.tick")
    OutboxMessage.objects.update(created_at=now - timedelta(seconds=40))
    assert 39 < value("penstock_outbox_age_seconds") < 45


def test_a_queues_age_is_that_of_its_oldest_task(cluster, monkeypatch, redis_server):
    """Sent by Celery, with the time that the product's signal notes in each message."""
    assert value("penstock_queue_age_seconds", queue=SLOW) == 0
    monkeypatch.setattr("controlplane.celery.time.time", lambda: time.time_ns() / 1e9 - 50)
    sending = Celery("test", broker=redis_server.url)
    sending.send_task("operations.tick", args=["op_1"], queue=SLOW)
    monkeypatch.undo()
    sending.send_task("operations.tick", args=["op_2"], queue=SLOW)
    sending.close()
    assert value("penstock_queue_messages", queue=SLOW) == 2
    assert 49 < value("penstock_queue_age_seconds", queue=SLOW) < 60
    assert value("penstock_queue_messages", queue=NORMAL) == 0
    LINK.call(lambda client: client.rpush(NORMAL, json.dumps({"headers": {}})))
    assert value("penstock_queue_messages", queue=NORMAL) == 1
    assert value("penstock_queue_age_seconds", queue=NORMAL) is None, "unknown is not 0"


def test_the_sweep_has_a_lag_once_it_has_run(cluster):
    lag = "penstock_sweep_lag_seconds"
    assert value(lag) is None
    tasks.sweep()
    assert value(lag) == 0
    LINK.call(lambda client: client.hset("penstock:times", "sweep", time.time() - 100))
    assert 90 < value(lag) < 100


def test_the_collectors_lag_is_the_age_of_the_last_sample(cluster):
    lag = "penstock_collector_lag_seconds"
    assert value(lag, cluster=cluster.id) < 60, "never sampled: since it was made"
    CollectorState.objects.create(
        cluster_id=cluster.id, last_sample_at=timezone.now() - timedelta(seconds=400)
    )
    assert 399 < value(lag, cluster=cluster.id) < 410


def test_without_redis_the_page_says_so_and_shows_nothing_of_it(cluster, redis_server):
    assert value("penstock_metrics_source_up", source="redis") == 1
    redis_server.kill()
    shown = families()
    assert value("penstock_metrics_source_up", source="redis") == 0
    assert value("penstock_metrics_source_up", source="database") == 1
    assert "penstock_queue_messages" not in shown
    assert "penstock_gateway_calls_total" not in shown
    assert "penstock_oldest_due_operation_seconds" in shown


def test_without_the_database_the_page_says_so(cluster):
    def away(*_):
        raise DatabaseError("gone")

    with connection.execute_wrapper(away):
        assert value("penstock_metrics_source_up", source="database") == 0
        assert "penstock_oldest_due_operation_seconds" not in families()
        assert "penstock_requests_refused_total" in families()
