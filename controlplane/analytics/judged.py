"""How each group does on the worst of its topics, and whether that is what it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, QuerySet

from controlplane.analytics.conf import conf
from controlplane.analytics.models import (
    CollectorState,
    GoldGroupExpiry,
    GoldGroupLag,
    GroupVerdict,
)
from controlplane.analytics.newest import group_verdicts
from controlplane.analytics.rules import VERDICT_STALE_S, result_stale_s
from controlplane.analytics.selectors import PRESENT_WITHIN_S, last_of_each, sight_of
from controlplane.common.grants import Scope
from controlplane.groups.diagnosis import harm_of, worse_severity
from controlplane.groups.selectors import Judged
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.rules import Rules
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


@dataclass(frozen=True, slots=True)
class JudgedAs:
    """Attributes:
    revision: JSON; another value as soon as a group's newest verdicts say something else.
    sampled_ms: the sample that the collector's are by, which is none of that.
    stale_after_ms: until when they hold.
    """

    revision: list[Any]
    sampled_ms: int
    stale_after_ms: int


def judged_as(cluster_id: str, now_ms: int) -> JudgedAs | None:
    """In two statements, however many groups there are.

    None: not known without reading them all. So it is while a row of Spark's may become the newer
    one or too old by nothing but the time.
    """
    state = CollectorState.objects.filter(pk=cluster_id)
    known = state.values_list("verdicts_revision", "verdicts_sampled_ms").first()
    revision, sampled_ms = known or ("", None)
    if not revision or sampled_ms is None:
        return None
    rows = GoldGroupLag.objects.filter(cluster_id=cluster_id).order_by("-ts_ms")
    gold = rows.values_list("ts_ms", "run_id").first()
    if gold is not None and not _stays(gold[0], sampled_ms, now_ms):
        return None
    stale_after_ms = sampled_ms + int(VERDICT_STALE_S * 1000)
    is_stale = now_ms > stale_after_ms
    return JudgedAs([revision, is_stale, list(gold or ())], sampled_ms, stale_after_ms)


def _stays(gold_ms: int, sampled_ms: int, now_ms: int) -> bool:
    """Whether all of gold is older than the collector's sample, and none of it too old to hold."""
    stale_s = result_stale_s(conf().interval_s, conf().deadline_s)
    oldest_ms = gold_ms - PRESENT_WITHIN_S * 1000
    return sampled_ms >= gold_ms + Rules().window_s * 1000 and now_ms <= oldest_ms + stale_s * 1000
