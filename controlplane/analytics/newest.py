"""The newer of gold and the collector's verdict, for each group and topic.

A verdict that knows less than gold does not replace it: after a restart of the collector its trends
begin anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from django.db.models import QuerySet

from controlplane.analytics.models import GroupVerdict
from spark_analytics.contracts.statuses import Risk, Status

UNKNOWN = "UNKNOWN"
"""What nobody knows, as a status and as a risk."""


class OfSeries(Protocol):
    """A group and topic; rows of the tables, or the columns of them that somebody needs."""

    @property
    def group(self) -> str: ...
    @property
    def topic(self) -> str: ...


class Lag(OfSeries, Protocol):
    """Of gold."""

    @property
    def sampled_ms(self) -> int: ...


class Expiry(OfSeries, Protocol):
    """Of gold. It has no time of its own: its window's start is at most a window too early."""

    @property
    def ts_ms(self) -> int: ...


class Verdict(OfSeries, Protocol):
    """The collector's."""

    @property
    def sampled_ms(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def risk(self) -> str: ...


LagRow = TypeVar("LagRow", bound=Lag)
ExpiryRow = TypeVar("ExpiryRow", bound=Expiry)
VerdictRow = TypeVar("VerdictRow", bound=Verdict)


def group_verdicts(cluster_ids: Iterable[str]) -> QuerySet[GroupVerdict]:
    """How the groups of these clusters did by the newest sample of each; `by_partition` is the
    longest part of a row, and left out until somebody asks for it.
    """
    rows = GroupVerdict.objects.filter(cluster_id__in=list(cluster_ids))
    return rows.defer("by_partition")


def is_replaced(word: str, sampled_ms: int, gold_ms: int) -> bool:
    """Whether the collector's verdict, which says `word`, counts in the place of a row of gold: one
    that knows less does not.
    """
    return word != UNKNOWN and sampled_ms > gold_ms


def newest_lags(
    gold: Iterable[LagRow], verdicts: Iterable[VerdictRow]
) -> list[LagRow | VerdictRow]:
    """One row a group and topic, by group and topic."""
    known = {(row.group, row.topic): row for row in gold}
    found: dict[tuple[str, str], LagRow | VerdictRow] = dict(known)
    for verdict in verdicts:
        there = known.get((verdict.group, verdict.topic))
        at_ms = None if there is None else there.sampled_ms
        if _replaces(verdict, at_ms, is_unknown=verdict.status == Status.UNKNOWN.value):
            found[verdict.group, verdict.topic] = verdict
    return [found[key] for key in sorted(found)]


def newest_expiries(
    gold: Iterable[ExpiryRow], verdicts: Iterable[VerdictRow]
) -> list[ExpiryRow | VerdictRow]:
    """One row a topic and group, by topic and group."""
    known = {(row.topic, row.group): row for row in gold}
    found: dict[tuple[str, str], ExpiryRow | VerdictRow] = dict(known)
    for verdict in verdicts:
        there = known.get((verdict.topic, verdict.group))
        at_ms = None if there is None else there.ts_ms
        if _replaces(verdict, at_ms, is_unknown=verdict.risk == Risk.UNKNOWN.value):
            found[verdict.topic, verdict.group] = verdict
    return [found[key] for key in sorted(found)]


def _replaces(verdict: Verdict, at_ms: int | None, *, is_unknown: bool) -> bool:
    return at_ms is None or (verdict.sampled_ms > at_ms and not is_unknown)
