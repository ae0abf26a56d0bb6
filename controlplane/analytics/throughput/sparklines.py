"""The last hour of what one page of a list shows, by one bounded read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from controlplane.analytics.throughput.drawing import Grid, drawn
from controlplane.analytics.throughput.rates import Rates, summed
from controlplane.analytics.throughput.selectors import (
    BROKER,
    GROUP,
    NO_TOTALS,
    age,
    kept,
    live_grid,
    sees_topic,
)
from controlplane.analytics.throughput.store import HOUR_S, STALE_AFTER_S, STEP_MS, Steps
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound
from controlplane.tenants.models import Tenant

NAMES_MAX = 100
"""Of one list's page."""
POINTS = 30
ID_DIGITS_MAX = 10


def sparklines(
    tenant: Tenant, scope: Scope, cluster_id: str, of: str, names: Collection[str]
) -> dict[str, Any]:
    """{of, as_of, stale_after, step_s, ts_ms, rows}: the last hour of a list's page, one read.

    Rows are `{name, values, last}` of the names that are seen: records a second, written to a topic
    or a broker's partitions, read by a group; `last` is the newest that is known.
    """
    cluster = seen_cluster(tenant, scope, cluster_id)
    wanted = _seen_names(scope, cluster, of, list(dict.fromkeys(names))[:NAMES_MAX])
    found = kept(cluster.id, of, set(wanted.values()), HOUR_S)
    at = live_grid(found, HOUR_S, POINTS)
    rows = [
        {"name": name, **_line(of, _of_name(scope, cluster, of, key, found), at)}
        for name, key in wanted.items()
    ]
    return {
        "of": of,
        **age(found.newest_ms, STALE_AFTER_S),
        "step_s": at.step_ms // 1000 if at else STEP_MS // 1000,
        "ts_ms": list(at.ts_ms) if at else [],
        "rows": rows,
    }


def _seen_names(scope: Scope, cluster: Cluster, of: str, names: Collection[str]) -> dict[str, Any]:
    """What a list's names are called in keys, of those that are seen."""
    if of == BROKER:
        if not scope.sees(Area.CLUSTER, cluster.name):
            raise NotFound(NO_TOTALS)
        return {name: int(name) for name in names if _is_id(name)}
    area = Area.GROUP if of == GROUP else Area.TOPIC
    return {name: name for name in names if scope.sees(area, cluster.name, name)}


def _is_id(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= ID_DIGITS_MAX


def _of_name(
    scope: Scope, cluster: Cluster, of: str, key: Any, found: Steps
) -> list[Mapping[int, Rates]]:
    """A group has a series a topic, of which those count that are seen."""
    return [
        rates
        for (kind, *names), rates in found.rates.items()
        if kind != "c" and names[0] == key
        if of != GROUP or sees_topic(scope, cluster, names[1])
    ]


def _line(of: str, mine: Collection[Mapping[int, Rates]], at: Grid | None) -> dict[str, Any]:
    if at is None:
        return {"values": [], "last": None}
    line = drawn(at, _together(mine))["records_out_per_s" if of == GROUP else "records_in_per_s"]
    known = [value for value in line if value is not None]
    return {"values": line, "last": known[-1] if known else None}


def _together(series: Collection[Mapping[int, Rates]]) -> Mapping[int, Rates]:
    """A group's topics as one."""
    if len(series) == 1:
        return next(iter(series))
    times = {ts_ms for each in series for ts_ms in each}
    return {ts_ms: summed(each[ts_ms] for each in series if ts_ms in each) for ts_ms in times}
