"""What groups read of partitions over the last hour, as a reader sees it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.analytics.throughput.consumed import unpacked_consumed
from controlplane.analytics.throughput.drawing import drawn
from controlplane.analytics.throughput.rates import Key, Rates
from controlplane.analytics.throughput.selectors import age, live_grid
from controlplane.analytics.throughput.store import (
    EVERY,
    HOUR_S,
    STALE_AFTER_S,
    STEP_MS,
    Steps,
    Wanted,
    named,
    places_of,
)
from controlplane.analytics.throughput_models import (
    CONSUMED,
    OUTLINE,
    ThroughputBlock,
    ThroughputState,
)
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area, Scope
from controlplane.tenants.models import Tenant

SERIES_MAX = 100
"""Of one answer: groups times partitions."""
READERS_SHOWN = 20
"""Of partitions whose groups nobody names: those that read most just now."""
NOT_KEPT = "Not kept: the cluster has too many partitions that groups commit on."
MORE_READERS = f"The {READERS_SHOWN} groups that read most are shown."
NOT_YET = "Not measured yet: it takes two samples."
POINTS = 30

Place = tuple[str, int]
"""A topic and a partition."""


@dataclass(frozen=True, slots=True)
class _Readers:
    groups: list[str]
    reason: str | None = None
    """Why there may be others."""


def consumption(
    tenant: Tenant,
    scope: Scope,
    cluster_id: str,
    groups: Collection[str],
    places: Collection[Place],
) -> dict[str, Any]:
    """{as_of, stale_after, step_s, complete, reason, ts_ms, rows}: of each group on each partition.

    Without groups they are those that commit on the partitions, `READERS_SHOWN` at most, which read
    most just now. Rows are `{group, topic, partition, values, last}` of what
    is seen: records a second; `last` is the newest step's, null where it is not known.
    """
    cluster = seen_cluster(tenant, scope, cluster_id)
    state = ThroughputState.objects.filter(pk=cluster.id).defer("positions").first()
    seen = [at for at in dict.fromkeys(places) if scope.sees(Area.TOPIC, cluster.name, at[0])]
    if groups:
        readers = _Readers([name for name in dict.fromkeys(groups) if _sees(scope, cluster, name)])
    else:
        readers = _readers(scope, cluster, seen, state)
    found = _steps(cluster.id, readers.groups, seen, state)
    at = live_grid(found, HOUR_S, POINTS)
    rows = []
    for group in readers.groups:
        for topic, partition in seen:
            steps = found.rates.get(("g", group, topic, partition), {})
            values = drawn(at, steps)["records_out_per_s"] if at else []
            last = values[-1] if values else None
            row = {"group": group, "topic": topic, "partition": partition}
            rows.append({**row, "values": values, "last": last})
    return {
        **age(found.newest_ms, STALE_AFTER_S),
        "step_s": at.step_ms // 1000 if at else STEP_MS // 1000,
        "complete": readers.reason is None and not found.left_out,
        "reason": NOT_KEPT if found.left_out else readers.reason,
        "ts_ms": list(at.ts_ms) if at else [],
        "rows": rows,
    }


def _sees(scope: Scope, cluster: Cluster, group: str) -> bool:
    return scope.sees(Area.GROUP, cluster.name, group)


def _readers(
    scope: Scope, cluster: Cluster, places: Collection[Place], state: ThroughputState | None
) -> _Readers:
    """A few blocks of each layout are read for it: of the newest steps, else of those before."""
    if state is None:
        return _Readers([], NOT_YET)
    for kept_s in (STALE_AFTER_S, HOUR_S + STALE_AFTER_S):
        since_ms = state.ts_ms - kept_s * 1000
        if _is_measured(cluster.id, since_ms):
            rates = _rates(cluster.id, EVERY, places, since_ms=since_ms)
            break
    else:
        return _Readers([], NOT_YET)
    amounts: dict[str, float] = {}
    for (_, group, *_place), steps in rates.items():
        if steps and _sees(scope, cluster, group):
            read = sum(each.records_out or 0.0 for each in steps.values())
            amounts[group] = amounts.get(group, 0.0) + read
    ranked = sorted(amounts, key=lambda group: (-amounts[group], group))
    reason = MORE_READERS if len(ranked) > READERS_SHOWN else None
    return _Readers(ranked[:READERS_SHOWN], reason)


def _is_measured(cluster_id: str, since_ms: int) -> bool:
    blocks = ThroughputBlock.objects.filter(cluster_id=cluster_id, kind=OUTLINE)
    return blocks.filter(ts_ms__gte=since_ms).exists()


def _steps(
    cluster_id: str,
    groups: Collection[str],
    places: Collection[Place],
    state: ThroughputState | None,
) -> Steps:
    if state is None:
        return Steps(newest_ms=None, rates={})
    since_ms = state.ts_ms - (HOUR_S + STALE_AFTER_S) * 1000
    return Steps(
        newest_ms=state.ts_ms,
        rates=_rates(cluster_id, named(groups), places, since_ms=since_ms),
        left_out=CONSUMED in state.left_out,
    )


def _rates(
    cluster_id: str, wanted: Wanted, places: Collection[Place], *, since_ms: int
) -> Mapping[Key, Mapping[int, Rates]]:
    """By ("g", group, topic, partition), and each step's beginning; empty where none is known."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in places:
        by_topic.setdefault(topic, []).append(partition)
    found: dict[Key, dict[int, Rates]] = {}
    inside: dict[str, dict[int, Key]] = {}
    for mark, keys in places_of(cluster_id, CONSUMED, wanted).items():
        inside[mark] = {at: key for at, key in keys.items() if key[2] in by_topic}
        for key in inside[mark].values():
            found |= {(*key, partition): {} for partition in by_topic[key[2]]}
    blocks = ThroughputBlock.objects.filter(
        cluster_id=cluster_id,
        kind=CONSUMED,
        mark__in=[mark for mark, keys in inside.items() if keys],
        ts_ms__gte=since_ms,
    ).values_list("mark", "ts_ms", "rates")
    for mark, ts_ms, packed in blocks.iterator():
        keys = inside[mark]
        asked = {at: by_topic[key[2]] for at, key in keys.items()}
        for at, partition, per_s in unpacked_consumed(bytes(packed), asked):
            known = 0.0 if per_s is None else 1.0
            found[*keys[at], partition][ts_ms] = Rates(records_out=per_s, known=known)
    return found
