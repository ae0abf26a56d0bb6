"""Rounds over all alert rules: 100 clusters of 1,000 topics on PostgreSQL, well and in trouble.

The tables are filled directly, as passes and runs leave them. A round is due each 10 s.
"""

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from tests.bench.controlplane.throwaway_postgres import postgres

TENANTS, CLUSTERS, TOPICS, PARTITIONS, GROUPS = 10, 100, 1_000, 10, 100
REPLICAS = [1, 2, 3]
ROUND_S = 5.0
BATCH = 5_000


def fill(now: Any) -> list[Any]:
    from controlplane.analytics.models import CollectorState
    from controlplane.clusters.models import Cluster
    from controlplane.observed.models import ObservedBroker, ObservedCluster
    from controlplane.observed.rows import broker_key
    from controlplane.tenants.models import Tenant

    tenants = [Tenant.objects.create(slug=f"t{at}", name=f"T{at}") for at in range(TENANTS)]
    clusters = [
        Cluster.objects.create(
            tenant=tenants[at % TENANTS],
            name=f"c{at}",
            kind="registered",
            phase="RUNNING",
            bootstrap_servers="127.0.0.1:1",
            security_protocol="PLAINTEXT",
        )
        for at in range(CLUSTERS)
    ]
    read = {"as_of": now.isoformat(), "tried_at": now.isoformat(), "reason": "", "code": ""}
    section = {**read, "retriable": True, "missing": False}
    for cluster in clusters:
        ObservedCluster.objects.create(
            cluster=cluster,
            health="healthy",
            controller_id=1,
            due_at=now + timedelta(days=1),
            sections=dict.fromkeys(("brokers", "topics", "groups"), section),
            summary={"under_replicated": 0, "offline": 0},
            topic_defaults={"min.insync.replicas": {"value": "2"}},
        )
        CollectorState.objects.create(pk=cluster.id, last_sample_at=now + timedelta(days=1))
        for broker in REPLICAS:
            ObservedBroker.objects.create(
                cluster=cluster,
                key=broker_key(broker),
                row={"id": broker, "live": True, "size_bytes": 1},
                mark="",
            )
        topics(cluster, REPLICAS)
        gold(cluster, now)
    return clusters


def topics(cluster: Any, in_sync: list[int]) -> None:
    from controlplane.observed.models import ObservedTopic

    behind = PARTITIONS if in_sync != REPLICAS else 0
    ObservedTopic.objects.filter(cluster=cluster).delete()
    partitions = [[at, 1, 0, REPLICAS, in_sync, 0, 100, 1_000] for at in range(PARTITIONS)]
    ObservedTopic.objects.bulk_create(
        (
            ObservedTopic(
                cluster=cluster,
                key=f"topic-{at:05d}",
                row={"name": f"topic-{at:05d}", "under_replicated": behind, "offline": 0},
                detail={"partitions": partitions, "configs": [], "topic_id": "x"},
                mark="",
            )
            for at in range(TOPICS)
        ),
        batch_size=BATCH,
    )


def gold(cluster: Any, now: Any) -> None:
    from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GoldTopicRetention

    sampled_ms = int(now.timestamp() * 1000) - 30_000
    ts_ms = sampled_ms - sampled_ms % 30_000
    at = {"cluster_id": cluster.id, "ts_ms": ts_ms, "run_id": "run_1"}
    rows: dict[Any, Iterator[Any]] = {
        GoldTopicRetention: (
            GoldTopicRetention(
                **at, topic=f"topic-{n:05d}", sampled_ms=sampled_ms, partitions=PARTITIONS
            )
            for n in range(TOPICS)
        ),
        GoldGroupLag: (
            GoldGroupLag(
                **at,
                group=f"group-{n % GROUPS:03d}",
                topic=f"topic-{n:05d}",
                sampled_ms=sampled_ms,
                partitions=PARTITIONS,
                lag_records=5,
                trend="steady",
                status="CAUGHT_UP",
            )
            for n in range(TOPICS)
        ),
        GoldGroupExpiry: (
            GoldGroupExpiry(
                **at,
                group=f"group-{n % GROUPS:03d}",
                topic=f"topic-{n:05d}",
                lost_records=0,
                status="SAFE",
            )
            for n in range(TOPICS)
        ),
    }
    for model, made in rows.items():
        model.objects.bulk_create(made, batch_size=BATCH)


def kill_a_broker(clusters: list[Any]) -> None:
    from controlplane.observed.models import ObservedBroker, ObservedCluster
    from controlplane.observed.rows import broker_key

    for cluster in clusters:
        topics(cluster, [1, 2])
        dead = {"id": 3, "live": False, "size_bytes": None}
        ObservedBroker.objects.filter(cluster=cluster, key=broker_key(3)).update(row=dead)
        ObservedCluster.objects.filter(cluster=cluster).update(
            summary={"under_replicated": TOPICS * PARTITIONS, "offline": 0}
        )


class _Statements:
    count = 0

    def __call__(self, execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        self.count += 1
        return execute(sql, params, many, context)


def rounds(what: str, at: Any, found: list[dict[str, Any]]) -> None:
    """Three: it begins, it fires, nothing changes; the longest is held to the bound."""
    from django.db import connection

    from controlplane.alerts.evaluation import evaluate
    from controlplane.alerts.models import Alert

    for name, after_s in (("begins", 0), ("fires", 60), ("goes on", 70)):
        counted = _Statements()
        began_s, cpu_s = time.monotonic(), time.process_time()
        with connection.execute_wrapper(counted):
            result = evaluate(at + timedelta(seconds=after_s))
        took_s, cpu_s = time.monotonic() - began_s, time.process_time() - cpu_s
        if result is None or result.failed_tenants:
            raise SystemExit(f"the round failed: {result}")
        row = {
            "what": f"{what}, {name}",
            "took_s": took_s,
            "cpu_s": cpu_s,
            "statements": counted.count,
            "conditions": result.conditions,
            "raised": Alert.objects.filter(state="firing").count(),
        }
        found.append(row)
        print(
            f"{row['what']:<44} {took_s:>6.2f} {cpu_s:>6.2f} {counted.count:>10,}"
            f" {result.conditions:>10,} {row['raised']:>7,}"
            f"  {'ok' if took_s <= ROUND_S else 'MISSED'}",
            flush=True,
        )


def measure(url: str, found: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as directory:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "DATABASE_URL": url,
            "PENSTOCK_DATA_DIR": directory,
        }
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from django.db import connections
        from django.utils import timezone

        from controlplane.analytics.models import GoldGroupLag

        now = timezone.now()
        clusters = fill(now)
        rounds("all is well", now, found)
        kill_a_broker(clusters[:1])
        rounds("1 broker dead, 10,000 partitions lack it", now + timedelta(seconds=100), found)
        kill_a_broker(clusters[1:10])
        rounds("10 dead, 100,000 partitions", now + timedelta(seconds=200), found)
        GoldGroupLag.objects.update(status="STOPPED")
        rounds("10,000 groups stop", now + timedelta(seconds=300), found)
        connections.close_all()


def report() -> list[dict[str, Any]]:
    """Measure, print, answer what was found."""
    if "controlplane.settings" in sys.modules:
        print("\nAlerts: run by themselves, with --only alerts")
        return []
    print(
        f"\nAlert rules: {CLUSTERS} clusters of {TOPICS:,} topics and {GROUPS} groups, on PostgreSQL"
        f" (at most {ROUND_S:g} s a round)"
    )
    print(f"{'':<44} {'s':>6} {'CPU s':>6} {'statements':>10} {'conditions':>10} {'raised':>7}")
    found: list[dict[str, Any]] = []
    with postgres() as url:
        measure(url, found)
    most_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory of the evaluating process at most: {most_mib:.0f} MiB")
    return found
