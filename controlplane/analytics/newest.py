"""The newer of gold and the collector's verdict, for each group and topic.

A verdict that knows less than gold does not replace it: after a restart of the collector its trends
begin anew.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GroupVerdict
from spark_analytics.contracts.statuses import Risk, Status


def group_verdicts(cluster_ids: Iterable[str]) -> QuerySet[GroupVerdict]:
    """How the groups of these clusters did by the newest sample of each."""
    return GroupVerdict.objects.filter(cluster_id__in=list(cluster_ids))


def newest_lags(
    gold: Iterable[GoldGroupLag], verdicts: Iterable[GroupVerdict]
) -> list[GoldGroupLag | GroupVerdict]:
    """One row a group and topic, by group and topic."""
    found: dict[tuple[str, str], GoldGroupLag | GroupVerdict]
    found = {(row.group, row.topic): row for row in gold}
    for verdict in verdicts:
        key = (verdict.group, verdict.topic)
        there = found.get(key)
        if there is None or _replaces(verdict, there, verdict.status == Status.UNKNOWN.value):
            found[key] = verdict
    return [found[key] for key in sorted(found)]


def newest_expiries(
    gold: Iterable[GoldGroupExpiry], verdicts: Iterable[GroupVerdict]
) -> list[GoldGroupExpiry | GroupVerdict]:
    """One row a topic and group, by topic and group."""
    found: dict[tuple[str, str], GoldGroupExpiry | GroupVerdict]
    found = {(row.topic, row.group): row for row in gold}
    for verdict in verdicts:
        key = (verdict.topic, verdict.group)
        there = found.get(key)
        if there is None or _replaces(verdict, there, verdict.risk == Risk.UNKNOWN.value):
            found[key] = verdict
    return [found[key] for key in sorted(found)]


def _replaces(
    verdict: GroupVerdict, gold: GoldGroupLag | GoldGroupExpiry | GroupVerdict, is_unknown: bool
) -> bool:
    """Gold's expiry has no time of its own: its window's start is at most a window too early."""
    at_ms = gold.ts_ms if isinstance(gold, GoldGroupExpiry) else gold.sampled_ms
    return verdict.sampled_ms > at_ms and not is_unknown
