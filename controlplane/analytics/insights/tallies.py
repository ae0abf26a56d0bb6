"""How many windows were good and bad, of each group and topic, without reading all of them.

Of an hour that was rolled up and in which nothing was late the rollup says all that is asked:
windows with a known lag are good, the others unknown. Windows themselves are read of hours in which
something was late, of hours that no run has rolled up, and of those in which a span begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from controlplane.analytics.insights.burns import WINDOWS_S
from controlplane.analytics.insights.scene import HOUR_MS, WINDOWS
from controlplane.analytics.insights.targets import Pair
from controlplane.analytics.models import GoldClusterRollup, GoldGroupLag, GoldGroupRollup
from spark_analytics.contracts.gold import HOUR_S

ALL = "all"
RUNS_A_QUESTION = 100
"""Series of late hours that one statement reads the windows of."""
WINDOWS_MAX = 15_000_000
"""That one answer reads by themselves: above, groups are to be asked for by name."""
WINDOW_MS = HOUR_MS // WINDOWS
Range = tuple[int, int]
"""[from, to)"""


class TooManyWindowsError(Exception):
    """Too much was late, or not rolled up, for one answer."""


@dataclass(slots=True)
class Tally:
    """Windows of one group and topic, by span; `every` are those of the longest, known or not."""

    good: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    bad: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    every: int = 0


Counted = defaultdict[Pair, Tally]


@dataclass(frozen=True, slots=True)
class Reading:
    """Which hours the rollups answer for, and which windows are read in any case.

    Attributes:
        spans: by name, the start of what counts for it; all end at the same time.
    """

    cluster_id: str
    spans: dict[str, int]
    hours: tuple[int, ...]
    ranges: tuple[Range, ...]


def reading(cluster_id: str, as_of_ms: int, span_s: int) -> Reading:
    """The `span_s` that end with the window that begins at `as_of_ms`."""
    end_ms = as_of_ms + 1
    spans = {ALL: end_ms - span_s * 1000}
    spans |= {name: end_ms - near_s * 1000 for name, near_s in WINDOWS_S.items()}
    whole = GoldClusterRollup.objects.filter(
        cluster_id=cluster_id,
        period_s=HOUR_S,
        ts_ms__gte=spans[ALL],
        ts_ms__lte=end_ms - HOUR_MS,
    )
    starts = spans.values()
    hours = tuple(
        at
        for at in whole.order_by("ts_ms").values_list("ts_ms", flat=True)
        if not any(at < start < at + HOUR_MS for start in starts)
    )
    # What was there before the first window has not to be reckoned with.
    first = GoldGroupLag.objects.filter(cluster_id=cluster_id, ts_ms__gte=spans[ALL])
    begin_ms = first.order_by("ts_ms").values_list("ts_ms", flat=True).first() or end_ms
    begin_ms = min(begin_ms, *hours) if hours else min(begin_ms, end_ms)
    edges = [begin_ms, *(edge for at in hours for edge in (at, at + HOUR_MS)), end_ms]
    between = [pair for number, pair in enumerate(pairwise(edges)) if number % 2 == 0]
    return Reading(cluster_id, spans, hours, tuple(pair for pair in between if pair[0] < pair[1]))


def pairs(found: Reading, group: str | None) -> list[Pair]:
    """Every group and topic with a window in it."""
    mine = {} if group is None else {"group": group}
    seen = set(_rollups(found).filter(**mine).values_list("group", "topic").distinct())
    for each in found.ranges:
        windows = _windows(found, each).filter(**mine)
        seen |= set(windows.values_list("group", "topic").distinct())
    return sorted(seen)


def tallies(found: Reading, seconds: float, names: Collection[str], series: int) -> Counted:
    """By group and topic, of these groups and their `series`, against a lag of `seconds`.

    Raises:
        TooManyWindowsError: more than `WINDOWS_MAX` windows would have to be read.
    """
    late = Q(lag_seconds_max__gt=seconds) | Q(lag_seconds_at_least_max__gt=seconds)
    rolled = _rollups(found).filter(group__in=names)
    by_hand = sum(-(-(end - begin) // WINDOW_MS) for begin, end in found.ranges) * series
    if by_hand + rolled.filter(late).count() * WINDOWS > WINDOWS_MAX:
        raise TooManyWindowsError
    counted: Counted = defaultdict(Tally)
    _add_rolled(counted, found, rolled.exclude(late))
    for each in found.ranges:
        _add(counted, _windows(found, each).filter(group__in=names), found, seconds)
    hours = rolled.filter(late).order_by("group", "topic", "ts_ms")
    runs = _runs(hours.values_list("group", "topic", "ts_ms").iterator())
    while some := list(islice(runs, RUNS_A_QUESTION)):
        wanted = Q()
        for (group, topic), (begin, end) in some:
            wanted |= Q(group=group, topic=topic, ts_ms__gte=begin, ts_ms__lt=end)
        rows = GoldGroupLag.objects.filter(wanted, cluster_id=found.cluster_id)
        _add(counted, rows, found, seconds)
    return counted


def _rollups(found: Reading) -> QuerySet[GoldGroupRollup]:
    return GoldGroupRollup.objects.filter(
        cluster_id=found.cluster_id, period_s=HOUR_S, ts_ms__in=found.hours
    )


def _windows(found: Reading, span: Range) -> QuerySet[GoldGroupLag]:
    begin, end = span
    return GoldGroupLag.objects.filter(cluster_id=found.cluster_id, ts_ms__gte=begin, ts_ms__lt=end)


def _runs(hours: Iterable[tuple[str, str, int]]) -> Iterator[tuple[Pair, Range]]:
    """Hours of a series that follow each other, as one range; `hours` are in order."""
    mine: Pair | None = None
    begin = end = 0
    for group, topic, at in hours:
        if mine == (group, topic) and at == end:
            end += HOUR_MS
            continue
        if mine is not None:
            yield mine, (begin, end)
        mine, begin, end = (group, topic), at, at + HOUR_MS
    if mine is not None:
        yield mine, (begin, end)


def _add_rolled(counted: Counted, found: Reading, rolled: QuerySet[GoldGroupRollup]) -> None:
    """Hours in which nothing was late; each lies whole inside a span or outside it."""
    sums = {
        f"good_{name}": Sum("time_lag_samples", filter=Q(ts_ms__gte=start), default=0)
        for name, start in found.spans.items()
    }
    grouped = rolled.order_by().values("group", "topic")
    rows: Iterator[Any] = grouped.annotate(windows=Sum("samples"), **sums).iterator()
    for row in rows:
        tally = counted[row["group"], row["topic"]]
        tally.every += row["windows"]
        for name in found.spans:
            tally.good[name] += row[f"good_{name}"]


def _add(counted: Counted, rows: QuerySet[GoldGroupLag], found: Reading, seconds: float) -> None:
    good = Q(lag_seconds__lte=seconds)
    bad = Q(lag_seconds__gt=seconds) | Q(lag_seconds__isnull=True, lag_seconds_at_least__gt=seconds)
    counts = {}
    for name, start in found.spans.items():
        near = Q(ts_ms__gte=start)
        counts[f"good_{name}"] = Count("pk", filter=good & near)
        counts[f"bad_{name}"] = Count("pk", filter=bad & near)
    grouped = rows.order_by().values("group", "topic")
    found_rows: Iterator[Any] = grouped.annotate(windows=Count("pk"), **counts).iterator()
    for row in found_rows:
        tally = counted[row["group"], row["topic"]]
        tally.every += row["windows"]
        for name in found.spans:
            tally.good[name] += row[f"good_{name}"]
            tally.bad[name] += row[f"bad_{name}"]
