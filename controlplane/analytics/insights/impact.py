"""Change impact: the hours before each audited change beside the hours after it.

The hours in which the operation ran are left out. A level rose when the median hour after is above
every hour before, and a tenth more than the median before: a sign and no proof, and `others` says
how many other changes of the same thing lie in those hours. Seasons are not told apart.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from controlplane.analytics.insights.scene import HOUR_MS, Row, Scene
from controlplane.analytics.models import GoldClusterRollup, GoldGroupRollup, GoldTopicRollup
from controlplane.audit.models import AuditEvent
from controlplane.audit.selectors import is_seen
from controlplane.common.grants import Area, Scope
from controlplane.operations.models import Operation
from controlplane.operations.states import TERMINAL_STATES
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.analyses import Verdict
from spark_analytics.contracts.gold import HOUR_S

CHANGES_MAX = 100
"""Of one answer, the newest; `EVENTS_MAX` of the record are looked at for them."""
EVENTS_MAX = 2_000
SERIES_MAX = 50
"""Of one change and kind of thing."""
HOURS_DEFAULT, HOURS_MAX = 6, 48
KNOWN_MIN = 3
"""Hours on each side for a verdict; with a shorter side all of it."""
SEEN_MIN = 0.9
CHANGED_MIN = 0.1

_OF_TOPIC = ("records_in", "bytes_in", "bytes_last")
_OF_GROUP = ("lag_seconds_p95", "lag_records_p95", "records_out", "lost_records")
_OF_CLUSTER = ("lag_seconds_p95", "records_in", "bytes_last", "lost_records")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An operation that has ended: it ran in [begin_ms, end_ms]."""

    event: AuditEvent
    begin_ms: int
    end_ms: int

    def names(self, area: Area) -> list[str]:
        return [name for found, name in self.event.touches if found == area]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Medians of the known hours; null where none is known."""

    before: float | None
    after: float | None
    share: float | None
    verdict: Verdict
    hours_before: int
    hours_after: int


def compared(before: Sequence[float | None], after: Sequence[float | None], hours: int) -> Compared:
    """`before` and `after` in any order, null where an hour is not known; `hours` of each asked."""
    known, then = ([each for each in side if each is not None] for side in (before, after))
    middle = statistics.median(known) if known else None
    level = statistics.median(then) if then else None
    enough = min(hours, KNOWN_MIN)
    word = Verdict.UNKNOWN
    if middle is not None and level is not None and min(len(known), len(then)) >= enough:
        least = CHANGED_MIN * abs(middle)
        word = Verdict.STEADY
        if level > max(known) and level - middle >= least:
            word = Verdict.ROSE
        elif level < min(known) and middle - level >= least:
            word = Verdict.FELL
    return Compared(
        before=middle,
        after=level,
        share=(level - middle) / abs(middle) if middle and level is not None else None,
        verdict=word,
        hours_before=len(known),
        hours_after=len(then),
    )


def rows(tenant: Tenant, scope: Scope, scene: Scene, hours: int) -> tuple[list[Row], bool]:
    """(rows, whether no change was left out), newest change first."""
    changes, whole = _changes(tenant, scope, scene, hours)
    inside = [each for each in changes if scene.from_ms <= each.end_ms < scene.to_ms]
    found: list[Row] = []
    for change in inside[:CHANGES_MAX]:
        others = sum(_meets(change, other, hours) for other in changes if other is not change)
        found += [{**_said(change, others), **row} for row in _effects(scene, change, hours)]
    return found, whole and len(inside) <= CHANGES_MAX


def _changes(tenant: Tenant, scope: Scope, scene: Scene, hours: int) -> tuple[list[Change], bool]:
    """Operations on the cluster that ended in the scene or near it, as far as the caller sees."""
    near_ms = hours * HOUR_MS
    events = list(
        AuditEvent.objects.filter(
            tenant_id=tenant.id,
            cluster_id=scene.cluster_id,
            outcome__in=TERMINAL_STATES,
            created_at__gte=_at(scene.from_ms - near_ms),
            created_at__lt=_at(scene.to_ms + near_ms),
        ).order_by("-created_at", "-pk")[: EVENTS_MAX + 1]
    )
    ids = [event.data.get("operation_id") for event in events]
    operations = Operation.objects.filter(tenant=tenant, pk__in=[each for each in ids if each])
    begun = dict(operations.values_list("pk", "created_at"))
    found = []
    for event, operation_id in zip(events[:EVENTS_MAX], ids, strict=False):
        if is_seen(event, scope):
            begin = begun.get(operation_id, event.created_at)
            found.append(Change(event=event, begin_ms=_ms(begin), end_ms=_ms(event.created_at)))
    return found, len(events) <= EVENTS_MAX


def _meets(change: Change, other: Change, hours: int) -> bool:
    """Whether the other one may be the reason instead: at the same thing, in the same hours."""
    near_ms = hours * HOUR_MS
    if not change.begin_ms - near_ms <= other.end_ms <= change.end_ms + near_ms + HOUR_MS:
        return False
    mine, others = ({tuple(pair) for pair in each.event.touches} for each in (change, other))
    return bool(mine & others) or any(Area.CLUSTER in pair for pair in mine | others)


def _said(change: Change, others: int) -> Row:
    event = change.event
    return {
        "event_id": event.id,
        "action": event.action,
        "resource": event.resource,
        "outcome": event.outcome,
        "actor": event.actor,
        "begin_ms": change.begin_ms,
        "end_ms": change.end_ms,
        "others": others,
    }


def _effects(scene: Scene, change: Change, hours: int) -> list[Row]:
    """What is measured depends on what the change was about."""
    topics, groups = change.names(Area.TOPIC), change.names(Area.GROUP)
    found: list[Row] = []
    if topics:
        found += _of(GoldTopicRollup, _OF_TOPIC, scene, change, hours, topic__in=topics)
    if groups:
        found += _of(GoldGroupRollup, _OF_GROUP, scene, change, hours, group__in=groups)
    elif topics:
        found += _of(GoldGroupRollup, _OF_GROUP, scene, change, hours, topic__in=topics)
    if not topics and not groups:
        found += _of(GoldClusterRollup, _OF_CLUSTER, scene, change, hours)
    return found


def _of(
    model: Any, measures: Iterable[str], scene: Scene, change: Change, hours: int, **named: Any
) -> list[Row]:
    until_ms = change.begin_ms // HOUR_MS * HOUR_MS
    since_ms = (change.end_ms // HOUR_MS + 1) * HOUR_MS
    found = model._default_manager.filter(  # noqa: SLF001 - Django's documented name
        cluster_id=scene.cluster_id,
        period_s=HOUR_S,
        ts_ms__gte=until_ms - hours * HOUR_MS,
        ts_ms__lt=since_ms + hours * HOUR_MS,
        **named,
    )
    series: dict[tuple[str | None, str | None], list[Any]] = {}
    for row in found.order_by("ts_ms").iterator():
        key = (getattr(row, "topic", None), getattr(row, "group", None))
        if key in series or len(series) < SERIES_MAX:
            series.setdefault(key, []).append(row)
    rows: list[Row] = []
    for (topic, group), hourly in sorted(series.items(), key=str):
        before = [row for row in hourly if row.ts_ms < until_ms]
        after = [row for row in hourly if row.ts_ms >= since_ms]
        for measure in measures:
            got = compared(_values(before, measure), _values(after, measure), hours)
            rows.append(
                {
                    "topic": topic,
                    "group": group,
                    "measure": measure,
                    "before": got.before,
                    "after": got.after,
                    "change_share": got.share,
                    "verdict": got.verdict.value,
                    "hours_before": got.hours_before,
                    "hours_after": got.hours_after,
                    "hours_asked": hours,
                }
            )
    return rows


def _values(hourly: Iterable[Any], measure: str) -> list[float | None]:
    """Of an hour that was seen too little, nothing is known."""
    return [
        getattr(row, measure) if row.samples >= SEEN_MIN * row.expected else None for row in hourly
    ]


def _at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
