"""What a whole tenant used and what it costs: its clusters, and their sum.

A part (a topic, or a group on one) of which something is not known has no cost: then the sum has
none either, and `cost_at_least` is what the others cost. Only what the caller may see is summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from controlplane.analytics.insights import usage
from controlplane.analytics.insights.prices import Price, price_book
from controlplane.analytics.insights.scene import DAY_MS, Row, Scene, scene_of
from controlplane.analytics.times import iso_ms
from controlplane.clusters.models import Cluster
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import field_problem
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.analyses import TENANT_USAGE

CLUSTERS_MAX = 200
SPAN_DEFAULT_MS, SPAN_MAX_MS = 30 * DAY_MS, 31 * DAY_MS
_SUMS = ("gib_hours", "gib_in", "gib_out")


def answer(tenant: Tenant, scope: Scope, asked: Mapping[str, Any]) -> Row:
    """As of any analysis; `as_of` and `seen_share` are the least of the clusters'.

    Raises:
        Invalid: the range is longer than 31 days.
    """
    clusters = list(Cluster.objects.filter(tenant=tenant, deleted_at=None).order_by("name", "pk"))
    book = price_book()
    rows, scenes = [], []
    for cluster in clusters[:CLUSTERS_MAX]:
        scene = scene_of(
            cluster.pk,
            from_ms=asked.get("from_ms"),
            to_ms=asked.get("to_ms"),
            span_ms=SPAN_DEFAULT_MS,
        )
        if scene is not None and scene.to_ms - scene.from_ms > SPAN_MAX_MS:
            raise field_problem("from", "at most 31 days at a time")
        parts = [] if scene is None else _seen(scene, scope, cluster.name, book)
        if parts or scope.sees(Area.CLUSTER, cluster.name):
            rows.append({"cluster_id": cluster.pk, "cluster": cluster.name, **summed(parts, scene)})
            scenes.append(scene)
    known = [scene for scene in scenes if scene is not None]
    if rows:
        rows.append({"cluster_id": None, "cluster": None, **total(rows)})
    return {
        "analysis": TENANT_USAGE.id,
        "formula_version": TENANT_USAGE.formula_version,
        "inputs": list(TENANT_USAGE.inputs),
        "as_of": iso_ms(min(scene.as_of_ms for scene in known)) if known else None,
        "run_id": None,
        "from": iso_ms(min(scene.from_ms for scene in known)) if known else None,
        "to": iso_ms(max(scene.to_ms for scene in known)) if known else None,
        "seen_share": min(scene.seen_share for scene in known) if known else None,
        "complete": len(clusters) <= CLUSTERS_MAX and len(known) == len(scenes),
        "data": rows,
    }


def _seen(scene: Scene, scope: Scope, name: str, book: Sequence[Price]) -> list[Row]:
    return [
        row
        for row in usage.rows(scene, book)
        if scope.sees(Area.TOPIC, name, row["topic"])
        and (row["group"] is None or scope.sees(Area.GROUP, name, row["group"]))
    ]


def summed(parts: Sequence[Row], scene: Scene | None) -> Row:
    """The parts of one cluster; without a scene nothing of it is known."""
    priced = [part for part in parts if part["cost"] is not None]
    unknown = len(parts) - len(priced) + (scene is None)
    return {
        "topics": sum(part["group"] is None for part in parts),
        "groups": len({part["group"] for part in parts} - {None}),
        **{name: _sum(part[name] for part in parts) for name in _SUMS},
        "unknown_parts": unknown,
        **_cost([(Decimal(part["cost"]), part["currency"]) for part in priced], unknown),
        "as_of_ms": None if scene is None else scene.as_of_ms,
        "seen_share": None if scene is None else scene.seen_share,
    }


def total(rows: Sequence[Row]) -> Row:
    """Of all clusters. Amounts of several currencies are not added."""
    unknown = sum(row["unknown_parts"] for row in rows)
    priced = [
        (Decimal(row["cost_at_least"]), row["currency"])
        for row in rows
        if row["cost_at_least"] is not None
    ]
    unknown += sum(row["cost_at_least"] is None and not row["unknown_parts"] for row in rows)
    return {
        "topics": sum(row["topics"] for row in rows),
        "groups": sum(row["groups"] for row in rows),
        **{name: _sum(row[name] for row in rows) for name in _SUMS},
        "unknown_parts": unknown,
        **_cost(priced, unknown),
        "as_of_ms": min((row["as_of_ms"] for row in rows if row["as_of_ms"]), default=None),
        "seen_share": min(
            (row["seen_share"] for row in rows if row["seen_share"] is not None), default=None
        ),
    }


def _cost(priced: Sequence[tuple[Decimal, str]], unknown: int) -> Row:
    currencies = {currency for _, currency in priced}
    if len(currencies) != 1:
        return {"cost": None, "cost_at_least": None, "currency": None}
    amount = str(sum((each for each, _ in priced), Decimal(0)))
    return {
        "cost": None if unknown else amount,
        "cost_at_least": amount,
        "currency": next(iter(currencies)),
    }


def _sum(values: Iterable[float | None]) -> float | None:
    """Of what is known; null when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
