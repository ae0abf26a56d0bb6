"""How each group does on the worst of its topics: what puts a cluster's groups in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, QuerySet

from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GroupVerdict
from controlplane.analytics.newest import group_verdicts
from controlplane.analytics.selectors import last_of_each, sight_of
from controlplane.common.grants import Scope
from controlplane.groups.diagnosis import harm_of, worse_severity
from controlplane.groups.selectors import Judged
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.statuses import Risk, Severity, Status

JUDGED_BY = ("group", "topic", "status", "lag_seconds", "lag_seconds_at_least")
Series = tuple[str, str]
"""A group and a topic."""


def judged_groups(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Judged]:
    """How each group does on the worst of its topics that are seen: as `lag_series` has it latest.

    It puts all groups of a cluster in order, so it reads few columns, as tuples, and of gold only
    what no newer verdict of the collector replaces: as a rule nothing.
    """
    sees = sight_of(tenant, scope, cluster_id)
    rows = GoldGroupLag.objects.filter(cluster_id=cluster_id)
    newest_ms = rows.order_by("-ts_ms").values_list("ts_ms", flat=True).first()
    verdicts = group_verdicts([cluster_id])
    lags: dict[Series, tuple[Any, ...]] = {}
    risks: dict[Series, str] = {}
    if newest_ms is not None:
        newer = verdicts.exclude(status="UNKNOWN").filter(sampled_ms__gt=OuterRef("sampled_ms"))
        lags = {row[:2]: row for row in left_of(rows, newer, newest_ms, JUDGED_BY)}
        of_retention = GoldGroupExpiry.objects.filter(cluster_id=cluster_id)
        newer = verdicts.exclude(risk="UNKNOWN").filter(sampled_ms__gt=OuterRef("ts_ms"))
        left = left_of(of_retention, newer, newest_ms, ("group", "topic", "status"))
        risks = {(group, topic): status for group, topic, status in left}
    live = verdicts.values_list(*JUDGED_BY, "risk")
    found = _newer(live, lags, risks)
    if not scope.sees_all:
        found = (row for row in found if sees(topic=row[1], group=row[0]))
    return _worst_of(found)


def left_of(
    gold: QuerySet[Any], newer: QuerySet[GroupVerdict], newest_ms: int, columns: tuple[str, ...]
) -> QuerySet[Any]:
    """The last row of gold of each series that no newer verdict of the collector replaces."""
    replaced = newer.filter(group=OuterRef("group"), topic=OuterRef("topic"))
    return last_of_each(gold.exclude(Exists(replaced)), newest_ms).values_list(*columns)


def _newer(
    live: Iterable[tuple[Any, ...]],
    lags: dict[Series, tuple[Any, ...]],
    risks: dict[Series, str],
) -> Iterator[tuple[Any, ...]]:
    """Rows of `JUDGED_BY` and the risk: gold's where it is left, else the collector's.

    `lags` is used up.
    """
    for row in live:
        series = row[:2]
        lag = lags.pop(series, row)
        yield *lag[: len(JUDGED_BY)], risks.get(series, row[-1])
    for series, lag in lags.items():
        yield *lag, risks.get(series)


def _worst_of(rows: Iterable[tuple[Any, ...]]) -> dict[str, Judged]:
    """By group the worst of its topics."""
    worst: dict[str, Judged] = {}
    for group, _, status, known_s, least_s, risk in rows:
        harm, is_trouble = _harm_of(status, risk)
        there = worst.get(group)
        if there is None or there.harm is None or there.harm < harm:
            worst[group] = Judged(harm, known_s if known_s is not None else least_s, is_trouble)
    return worst


@cache
def _harm_of(status: str | None, risk: str | None) -> tuple[tuple[int, ...], bool]:
    """How bad it is, and whether it is worth somebody's attention."""
    of_group, of_retention = word_of(Status, status), word_of(Risk, risk)
    severity = worse_severity(of_group, of_retention)
    is_trouble = severity in {Severity.WARNING, Severity.DANGER}
    return harm_of(of_group, of_retention), is_trouble


Word = TypeVar("Word", Status, Risk)


def word_of(words: type[Word], said: str | None) -> Word:
    """One that nobody said, or that a newer version says, is unknown to this one."""
    try:
        return words(said or "UNKNOWN")
    except ValueError:
        return words("UNKNOWN")
