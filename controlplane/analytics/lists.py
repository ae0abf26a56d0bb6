"""Lag and retention of a cluster a page at a time, and the figures over all of it.

All groups and topics are put in order by few columns, as tuples, with gold only where no newer
verdict of the collector replaces it; whole rows are read of what is on the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from controlplane.analytics.judged import word_of
from controlplane.analytics.last_gold import (
    EXPIRY_OF_GOLD,
    LAG_OF_GOLD,
    Found,
    Row,
    last_rows,
    mark_by,
    newest_lag,
)
from controlplane.analytics.latest import Latest
from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GoldTopicRetention
from controlplane.analytics.newest import group_verdicts, is_replaced
from controlplane.analytics.selectors import (
    answer_of,
    expiry_of_group,
    lags_shown,
    last_of_each,
    retention_table,
    sight_of,
)
from controlplane.common.grants import Scope
from controlplane.observed.listings import Wanted, names_in_order, page_within
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.statuses import RISK_SEVERITY, Risk, Severity, Status, rank

LAG_ORDERS = ("group", "topic", "status", "records", "seconds", "trend", "eta")
RETENTION_ORDERS = ("topic", "bytes", "age", "retention", "expiry", "risk")
TROUBLED_NAMED = 2
_HELD = ("topic", "bytes", "age_seconds", "retention_ms")
_HELD_ORDERS = ("bytes", "age", "retention")
_NOTHING_KNOWN: Row = (None,) * len(_HELD_ORDERS)
_HARMED = frozenset({Severity.WARNING, Severity.DANGER})


@dataclass(frozen=True, slots=True)
class Paged:
    """A page: the answer with its rows, and {page, size, matched} with figures of all rows."""

    answer: dict[str, Any]
    counts: dict[str, Any]


class LagFacts(NamedTuple):
    """Of a group on a topic, as `LAG_OF_GOLD`; units as in gold. None is unknown."""

    group: str
    topic: str
    status: str
    sampled_ms: int
    records: int | None
    uncommitted: int | None
    lag_s: float | None
    lag_s_at_least: float | None
    trend: float | None
    eta_s: float | None
    pk: int

    @property
    def unread(self) -> int | None:
        """None: nothing of it is known."""
        if self.records is None and not self.uncommitted:
            return None
        return (self.records or 0) + (self.uncommitted or 0)

    @property
    def seconds(self) -> float | None:
        return self.lag_s if self.lag_s is not None else self.lag_s_at_least


_WORTH = {order: attrgetter(order) for order in LAG_ORDERS} | {
    "records": attrgetter("unread"),
    "eta": attrgetter("eta_s"),
}
"""What an order is of; None comes last either way."""


class ExpiryFacts(NamedTuple):
    """Of a group on a topic, as `EXPIRY_OF_GOLD`: what retention does to what is unread, s."""

    topic: str
    group: str
    risk: str
    at_ms: int
    first_loss_s: float | None
    expires_s: float | None
    pk: int

    @property
    def is_endangered(self) -> bool:
        return _danger_of(self.risk)[0]

    @property
    def harm(self) -> tuple[int, float]:
        """Sorts the worst and soonest first."""
        left_s = float("inf") if self.first_loss_s is None else self.first_loss_s
        return -self.risk_rank, left_s

    @property
    def risk_rank(self) -> int:
        return _danger_of(self.risk)[1]


@cache
def _danger_of(risk: str) -> tuple[bool, int]:
    """Whether it is worth somebody's attention, and how bad it is."""
    word = word_of(Risk, risk)
    return RISK_SEVERITY[word] in _HARMED, rank(word)


def lag_page(tenant: Tenant, scope: Scope, cluster_id: str, wanted: Wanted) -> Paged:
    """The newest of each group and topic, by Spark or the collector.

    The counts say of all: groups, topics, in_trouble, troubled (names), lag_records, behind_s and
    whether that is exact, as it is not where only a bound is known.
    """
    sees = sight_of(tenant, scope, cluster_id)
    newest = newest_lag(cluster_id)
    live, gold = _lags(cluster_id, newest)
    if not scope.sees_all:
        live, gold = (
            [row for row in rows if sees(group=row[0], topic=row[1])] for rows in (live, gold)
        )
    # Plain tuples are sorted faster; the first two are another's in each.
    facts = [*map(LagFacts._make, sorted([*live, *gold]))]
    worth: Any = dict(zip([row[:2] for row in facts], map(_WORTH[wanted.sort], facts), strict=True))
    ordered: list[Any] = list(names_in_order(worth, wanted))
    page = page_within(wanted, len(ordered))
    shown = ordered[(page - 1) * wanted.size : page * wanted.size]
    latest = Latest(cluster_id, {group for group, _ in shown}, newest)
    points = lags_shown(newest, latest.lags, sees)["data"]
    by_key = {(point["group"], point["topic"]): point for point in points}
    answer = answer_of(
        newest,
        [by_key[key] for key in shown if key in by_key],
        max((row.sampled_ms for row in facts), default=None),
        is_live=bool(live),
    )
    counts = {"page": page, "size": wanted.size, "matched": len(ordered)}
    return Paged(answer, {**counts, **lag_figures(facts)})


def lag_figures(rows: list[LagFacts]) -> dict[str, Any]:
    """Of rows by group and topic."""
    behind_s = [row.seconds or 0 for row in rows]
    most = max(range(len(rows)), key=behind_s.__getitem__, default=None)
    limit = rank(Status.FALLING_BEHIND)
    harmful = {
        status for status in {row.status for row in rows} if rank(word_of(Status, status)) >= limit
    }
    troubled = dict.fromkeys(row.group for row in rows if row.status in harmful)
    return {
        "groups": len({row.group for row in rows}),
        "topics": len({row.topic for row in rows}),
        "in_trouble": len(troubled),
        "troubled": [*troubled][:TROUBLED_NAMED],
        "lag_records": sum(row.records or 0 for row in rows),
        "behind_s": None if most is None else behind_s[most],
        "behind_is_exact": most is None or rows[most].lag_s is not None or not behind_s[most],
    }


def retention_page(tenant: Tenant, scope: Scope, cluster_id: str, wanted: Wanted) -> Paged:
    """Topics with what they hold and their groups' expiry.

    The counts say of all: `bytes` as far as they are known, `first_loss` the group's expiry that is
    the worst and soonest.
    """
    sees, sees_all = sight_of(tenant, scope, cluster_id), scope.sees_all
    rows = GoldTopicRetention.objects.filter(cluster_id=cluster_id)
    newest_ms = rows.order_by("-ts_ms").values_list("ts_ms", flat=True).first()
    held: dict[str, Row] = {}
    if newest_ms is not None:
        last = last_of_each(rows, newest_ms, ("topic",)).values_list(*_HELD)
        held = {row[0]: row[1:] for row in last}
    live, gold = _expiries(cluster_id, newest_ms)
    if not sees_all:
        live, gold = ([row for row in each if sees(group=row[1])] for each in (live, gold))
    held = dict.fromkeys([row[0] for row in live], _NOTHING_KNOWN) | held
    worst = worst_expiries([*live, *gold])
    seen = {topic: held[topic] for topic in sorted(held) if sees_all or sees(topic=topic)}
    worth = _worth_of_topics(wanted.sort, seen, worst)
    ordered = names_in_order(worth, wanted)
    page = page_within(wanted, len(ordered))
    shown = ordered[(page - 1) * wanted.size : page * wanted.size]
    answer = retention_table(tenant, scope, cluster_id, topics=shown)
    by_topic = {row["topic"]: row for row in answer["data"]}
    answer["data"] = [by_topic[topic] for topic in shown if topic in by_topic]
    first = min(
        (row for topic, row in worst.items() if topic in seen and row.is_endangered),
        key=_before,
        default=None,
    )
    known = [row[0] for row in seen.values() if row[0] is not None]
    counts = {"page": page, "size": wanted.size, "matched": len(ordered)}
    loss = None if first is None else _whole(tenant, scope, cluster_id, first)
    return Paged(
        answer, {**counts, "bytes": sum(known) if known or not seen else None, "first_loss": loss}
    )


def worst_expiries(rows: Iterable[Row]) -> dict[str, ExpiryFacts]:
    """By topic the worst and soonest, of groups that may lose something."""
    worst: dict[str, ExpiryFacts] = {}
    for row in rows:
        if row[5] is None and not _danger_of(row[2])[0]:
            continue
        found = ExpiryFacts._make(row)
        there = worst.get(found.topic)
        worst[found.topic] = found if there is None else min(there, found, key=_before)
    return worst


def _before(row: ExpiryFacts) -> tuple[Any, ...]:
    return not row.is_endangered, *row.harm, row.topic, row.group


def _worth_of_topics(
    order: str, held: Mapping[str, Row], worst: Mapping[str, ExpiryFacts]
) -> dict[str, Any]:
    """By topic what the order is of; None comes last either way."""
    if order in _HELD_ORDERS:
        at = _HELD_ORDERS.index(order)
        return {topic: values[at] for topic, values in held.items()}
    if order == "topic":
        return {topic: topic for topic in held}
    value = attrgetter("first_loss_s" if order == "expiry" else "risk_rank")
    return {topic: value(worst[topic]) if topic in worst else None for topic in held}


def _whole(
    tenant: Tenant, scope: Scope, cluster_id: str, row: ExpiryFacts
) -> dict[str, Any] | None:
    found = expiry_of_group(tenant, scope, cluster_id, row.group, topic=row.topic)["data"]
    return found[0] if found else None


def _lags(cluster_id: str, newest: GoldGroupLag | None) -> tuple[list[Row], list[Row]]:
    newest_ms = None if newest is None else newest.ts_ms
    gold = last_rows(GoldGroupLag, cluster_id, newest_ms, LAG_OF_GOLD, mark_by(newest))
    return by_collector_or_spark(gold, group_verdicts([cluster_id]).values_list(*LAG_OF_GOLD))


def _expiries(cluster_id: str, newest_ms: int | None) -> tuple[list[Row], list[Row]]:
    gold = last_rows(GoldGroupExpiry, cluster_id, newest_ms, EXPIRY_OF_GOLD)
    of_collector = {"status": "risk", "ts_ms": "sampled_ms"}
    columns = [of_collector.get(column, column) for column in EXPIRY_OF_GOLD]
    return by_collector_or_spark(gold, group_verdicts([cluster_id]).values_list(*columns))


def by_collector_or_spark(gold: Found, live: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """The rows that count: the collector's, and gold's where no newer verdict replaces it; all
    begin with the series, its word, and the time.
    """
    known, of_collector, replaced = gold.get, [], set()
    for row in live:
        series = row[:2]
        kept = known(series)
        if kept is None or is_replaced(row[2], row[3], kept[3]):
            of_collector.append(row)
            replaced.add(series)
    return of_collector, [row for series, row in gold.items() if series not in replaced]
