"""Of a cluster, or of all of a tenant: what its analyses still wait for, as REST has it."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Count, Min

from controlplane.analytics.insights.readiness import NEEDS, Observed, Unit, readiness
from controlplane.analytics.models import CollectorState, GoldClusterRollup
from controlplane.analytics.times import iso_ms
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area, Scope
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.gold import DAY_S, HOUR_S
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S

CLUSTERS_MAX = 200
"""Of a tenant, by name."""
HOURS_COUNTED = max(need.count for need in NEEDS.values() if need.unit is Unit.HOURS)
"""More than an analysis needs are not counted."""


def of_cluster(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Any]:
    """{cluster_id, cluster, observed_since, interval_s, hours, days, data}."""
    cluster = seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    return _answers([cluster])[0]


def of_tenant(tenant: Tenant, scope: Scope) -> dict[str, Any]:
    """{complete, data}: the clusters that the caller sees, each as `of_cluster` has it."""
    clusters = Cluster.objects.filter(tenant=tenant, deleted_at=None).order_by("name", "pk")
    seen = [each for each in clusters if scope.sees(Area.OUTLINE, each.name)]
    return {"complete": len(seen) <= CLUSTERS_MAX, "data": _answers(seen[:CLUSTERS_MAX])}


def _answers(clusters: Collection[Cluster]) -> list[dict[str, Any]]:
    ids = [cluster.pk for cluster in clusters]
    states = CollectorState.objects.in_bulk(ids)
    periods = _periods(ids)
    now_ms = int(time.time() * 1000)
    return [
        _answer(cluster, states.get(cluster.pk), periods.get(cluster.pk, {}), now_ms)
        for cluster in clusters
    ]


def _periods(ids: Collection[str]) -> dict[str, dict[int, tuple[int, int]]]:
    """By cluster and period: how many there are, and when the first of them begins."""
    rows = GoldClusterRollup.objects.filter(cluster_id__in=ids).values("cluster_id", "period_s")
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for row in rows.annotate(count=Count("pk"), first_ms=Min("ts_ms")):
        of = found.setdefault(row["cluster_id"], {})
        of[row["period_s"]] = row["count"], row["first_ms"]
    return found


def _answer(
    cluster: Cluster,
    state: CollectorState | None,
    periods: Mapping[int, tuple[int, int]],
    now_ms: int,
) -> dict[str, Any]:
    begins = [first_ms for _, first_ms in periods.values()]
    if state is not None and state.first_sample_at is not None:
        begins.append(int(state.first_sample_at.timestamp() * 1000))
    since_ms = min(begins, default=None)
    hours, days = (periods.get(period_s, (0, 0))[0] for period_s in (HOUR_S, DAY_S))
    seen = Observed(now_ms=now_ms, since_ms=since_ms, hours=hours, days=days)
    return {
        "cluster_id": cluster.pk,
        "cluster": cluster.name,
        "observed_since": None if since_ms is None else iso_ms(since_ms),
        "interval_s": SAMPLE_INTERVAL_S,
        "hours": min(hours, HOURS_COUNTED),
        "days": days,
        "data": [_row(row) for row in readiness(seen)],
    }


def _row(row: dict[str, Any]) -> dict[str, Any]:
    first_ms = row.pop("first_at_ms")
    return {**row, "first_at": None if first_ms is None else iso_ms(first_ms)}
