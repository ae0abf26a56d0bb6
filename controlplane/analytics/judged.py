"""How each group does on the worst of its topics: what puts a cluster's groups in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, QuerySet

from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GroupVerdict
from controlplane.analytics.newest import group_verdicts, newest_expiries, newest_lags
from controlplane.analytics.selectors import newest_of_each, sight_of
from controlplane.common.grants import Scope
from controlplane.groups.diagnosis import harm_of, worse_severity
from controlplane.groups.selectors import Judged
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.statuses import Risk, Severity, Status

JUDGED_BY = ("group", "topic", "sampled_ms", "status", "lag_seconds", "lag_seconds_at_least")


def judged_groups(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Judged]:
    """How each group does on the worst of its topics that are seen: as `lag_series` has it latest.

    It puts all groups of a cluster in order, so it reads few columns, and of gold only what no
    newer verdict of the collector replaces: as a rule nothing.
    """
    sees = sight_of(tenant, scope, cluster_id)
    rows = GoldGroupLag.objects.filter(cluster_id=cluster_id)
    newest_ms = rows.order_by("-ts_ms").values_list("ts_ms", flat=True).first()
    verdicts = group_verdicts([cluster_id])
    lags: list[Any] = []
    expiries: list[Any] = []
    if newest_ms is not None:
        newer = verdicts.exclude(status="UNKNOWN").filter(sampled_ms__gt=OuterRef("sampled_ms"))
        lags = _left_of(rows, newer, newest_ms, JUDGED_BY)
        of_retention = GoldGroupExpiry.objects.filter(cluster_id=cluster_id)
        newer = verdicts.exclude(risk="UNKNOWN").filter(sampled_ms__gt=OuterRef("ts_ms"))
        expiries = _left_of(of_retention, newer, newest_ms, ("group", "topic", "status"))
    live: list[Any] = list(verdicts.values_list(*JUDGED_BY, "risk", named=bool(lags or expiries)))
    if not (lags or expiries):
        return _worst_of(live, scope, sees)
    risks = {
        (row.group, row.topic): getattr(row, "risk", None) or row.status
        for row in newest_expiries(expiries, live)
    }
    found = newest_lags(lags, live)
    judged = ((*row[: len(JUDGED_BY)], risks.get((row.group, row.topic))) for row in found)
    return _worst_of(judged, scope, sees)


def _left_of(
    gold: QuerySet[Any], newer: QuerySet[GroupVerdict], newest_ms: int, columns: tuple[str, ...]
) -> list[Any]:
    """Rows of gold that no newer verdict of the collector replaces: as a rule none."""
    replaced = newer.filter(group=OuterRef("group"), topic=OuterRef("topic"))
    left = gold.exclude(Exists(replaced)).values_list(*columns, "ts_ms", named=True)
    return newest_of_each(left, newest_ms, ("group", "topic"))


def _worst_of(rows: Iterable[Any], scope: Scope, sees: Callable[..., bool]) -> dict[str, Judged]:
    """Rows of `JUDGED_BY` and the risk → by group the worst of its topics that are seen."""
    worst: dict[str, Judged] = {}
    for group, topic, _, status, known_s, least_s, risk in rows:
        harm, is_trouble = _harm_of(status, risk)
        there = worst.get(group)
        if there is not None and there.harm is not None and there.harm >= harm:
            continue
        if scope.sees_all or sees(topic=topic, group=group):
            worst[group] = Judged(harm, known_s if known_s is not None else least_s, is_trouble)
    return worst


@cache
def _harm_of(status: str | None, risk: str | None) -> tuple[tuple[int, ...], bool]:
    """How bad it is, and whether it is worth somebody's attention."""
    of_group, of_retention = _known(Status, status), _known(Risk, risk)
    severity = worse_severity(of_group, of_retention)
    is_trouble = severity in {Severity.WARNING, Severity.DANGER}
    return harm_of(of_group, of_retention), is_trouble


Word = TypeVar("Word", Status, Risk)


def _known(words: type[Word], said: str | None) -> Word:
    """One that nobody said, or that a newer version says, is unknown to this one."""
    try:
        return words(said or "UNKNOWN")
    except ValueError:
        return words("UNKNOWN")
