"""The tables behind the pages at size: a cluster observed once, its groups judged, topics operated.

10,000 topics of 10 partitions, 5,000 groups, each with a verdict of the collector and rows of gold
(ten windows, as a run leaves them), 500 topics with an operation. The brokers are a fake in memory.
"""

import os
from dataclasses import dataclass
from typing import Any

from tests.bench.controlplane.large_cluster import (
    GROUPS,
    PARTITIONS,
    TOPICS,
    LargeCluster,
    group_name,
    topic_name,
)

WINDOWS, WINDOW_MS = 10, 30_000
MANAGED = 500
ROWS_A_STATEMENT = 2_000


@dataclass(frozen=True, slots=True)
class Large:
    """What was made: the cluster, and a key that reads all of its tenant."""

    cluster_id: str
    key: str


def environment(url: str, directory: str) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "DATABASE_URL": url,
        "PENSTOCK_DATA_DIR": directory,
        "PENSTOCK_RATE_ADDRESS": "",
        "PENSTOCK_RATE_USER": "",
        "PENSTOCK_RATE_KEY": "",
        # The pages are measured long after the pass and are not to look for the brokers.
        "PENSTOCK_OBSERVE_INTERVAL_S": "3600",
    }


def made(url: str, directory: str) -> Large:
    """Migrate an empty database and fill it; sets this process's environment and Django up."""
    os.environ |= environment(url, directory)
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from controlplane.audit.services import Actor
    from controlplane.clusters.connections import use_gateways
    from controlplane.clusters.models import REGISTERED, RUNNING, Cluster
    from controlplane.observed.services import observe
    from controlplane.tenants.models import Tenant
    from controlplane.tenants.services import api_key_create

    gateway = LargeCluster()
    use_gateways(lambda _cluster: gateway)
    tenant = Tenant.objects.create(slug="bench", name="Bench")
    cluster = Cluster.objects.create(
        tenant=tenant,
        name="large",
        kind=REGISTERED,
        phase=RUNNING,
        bootstrap_servers="127.0.0.1:1",
        security_protocol="PLAINTEXT",
    )
    _, key = api_key_create(
        tenant=tenant, name="bench", scope="read", actor=Actor(name="user:bench")
    )
    if not observe(cluster.id):
        raise SystemExit("the pass did not count")
    _judged(cluster.id)
    _managed(tenant, cluster.id)
    return Large(cluster.id, key)


def _judged(cluster_id: str) -> None:
    """Rows of gold and a verdict for every group, as Spark and the collector leave them."""
    from django.utils import timezone

    from controlplane.analytics.models import CollectorState, GoldGroupLag, GroupVerdict
    from spark_analytics.contracts.statuses import Status

    statuses = [status.value for status in Status]
    now = timezone.now()
    now_ms = int(now.timestamp() * 1_000)

    def facts(index: int) -> dict[str, Any]:
        return {
            "cluster_id": cluster_id,
            "group": group_name(index),
            "topic": topic_name(index * TOPICS // GROUPS),
            "partitions": PARTITIONS,
            "lag_records": index % 1_000,
            "lag_seconds": float(index % 600),
            "trend": "steady",
            "status": statuses[index % len(statuses)],
        }

    GoldGroupLag.objects.bulk_create(
        (
            GoldGroupLag(
                **facts(index),
                ts_ms=now_ms - window * WINDOW_MS,
                sampled_ms=now_ms - window * WINDOW_MS,
                run_id="bench",
            )
            for window in range(1, WINDOWS + 1)
            for index in range(GROUPS)
        ),
        batch_size=ROWS_A_STATEMENT,
    )
    GroupVerdict.objects.bulk_create(
        (
            GroupVerdict(**facts(index), sampled_ms=now_ms, judged_at=now, risk="SAFE")
            for index in range(GROUPS)
        ),
        batch_size=ROWS_A_STATEMENT,
    )
    CollectorState.objects.create(
        pk=cluster_id, verdicts_revision="bench", verdicts_sampled_ms=now_ms
    )


def _managed(tenant: Any, cluster_id: str) -> None:
    """Topics that operations were about: their drift is looked at."""
    from django.utils import timezone

    from controlplane.operations.models import Operation, Plan
    from controlplane.operations.states import SUCCEEDED

    for index in range(MANAGED):
        name = topic_name(index)
        inputs = {"name": name, "configs": {"retention.ms": "86400000"}, "delete_configs": []}
        about: dict[str, Any] = {
            "tenant": tenant,
            "kind": "topic.update",
            "cluster_id": cluster_id,
            "resource": f"topic/{name}",
        }
        now = timezone.now()
        plan = Plan.objects.create(
            **about,
            inputs=inputs,
            diff={"before": {"configs": {}}},
            impact={},
            preconditions={},
            expires_at=now,
        )
        Operation.objects.create(**about, plan=plan, state=SUCCEEDED, finished_at=now)
