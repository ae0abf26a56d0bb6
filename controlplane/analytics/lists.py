"""Lag and retention of a cluster a page at a time, and the figures over all of it.

All groups and topics are put in order by few columns, as tuples, with gold only where no newer
verdict of the collector replaces it; whole rows are read of what is on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from controlplane.analytics.judged import (
    EXPIRY_OF_GOLD,
    LAG_OF_GOLD,
    is_replaced,
    word_of,
)
from controlplane.analytics.last_gold import Found, last_rows
from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GoldTopicRetention
from controlplane.analytics.newest import group_verdicts
from controlplane.analytics.selectors import (
    answer_of,
    expiry_of_group,
    lag_series,
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
Rows = Iterable[tuple[Any, ...]]
_HARMED = frozenset({Severity.WARNING, Severity.DANGER})


@dataclass(frozen=True, slots=True)
class Paged:
    """A page: the answer with its rows, and {page, size, matched} with figures of all rows."""

    answer: dict[str, Any]
    counts: dict[str, Any]


class LagFacts(NamedTuple):
    """Of a group on a topic; units as in gold. None is unknown."""

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
    is_live: bool = False

    def worth(self, order: str) -> Any:
        """What an order is of; None comes last either way."""
        if order == "records":
            return None if self.records is None and not self.uncommitted else self.unread
        if order == "seconds":
            return self.lag_s if self.lag_s is not None else self.lag_s_at_least
        if order == "eta":
            return self.eta_s
        return getattr(self, order)

    @property
    def unread(self) -> int:
        return (self.records or 0) + (self.uncommitted or 0)


class ExpiryFacts(NamedTuple):
    """Of a group on a topic: what retention does to what it has not read, s."""

    topic: str
    group: str
    risk: str
    at_ms: int
    first_loss_s: float | None
    expires_s: float | None
    is_live: bool = False

    @property
    def is_endangered(self) -> bool:
        return RISK_SEVERITY[word_of(Risk, self.risk)] in _HARMED

    @property
    def harm(self) -> tuple[int, float]:
        """Sorts the worst and soonest first."""
        left_s = float("inf") if self.first_loss_s is None else self.first_loss_s
        return -rank(word_of(Risk, self.risk)), left_s


def lag_page(tenant: Tenant, scope: Scope, cluster_id: str, wanted: Wanted) -> Paged:
    """The newest of each group and topic, by Spark or the collector.

    The counts say of all: groups, topics, in_trouble, troubled (names), lag_records, behind_s and
    whether that is exact, as it is not where only a bound is known.
    """
    sees, sees_all = sight_of(tenant, scope, cluster_id), scope.sees_all
    newest = GoldGroupLag.objects.filter(cluster_id=cluster_id).order_by("-ts_ms").first()
    facts = {
        (row.group, row.topic): row
        for row in _lags(cluster_id, None if newest is None else newest.ts_ms)
        if sees_all or sees(topic=row.topic, group=row.group)
    }
    worth: Any = {key: row.worth(wanted.sort) for key, row in facts.items()}
    ordered: list[Any] = list(names_in_order(worth, wanted))
    page = page_within(wanted, len(ordered))
    shown = ordered[(page - 1) * wanted.size : page * wanted.size]
    groups = sorted({group for group, _ in shown})
    points = lag_series(tenant, scope, cluster_id, groups=groups, latest=True)["data"]
    by_key = {(point["group"], point["topic"]): point for point in points}
    answer = answer_of(
        newest,
        [by_key[key] for key in shown if key in by_key],
        max((row.sampled_ms for row in facts.values()), default=None),
        is_live=any(row.is_live for row in facts.values()),
    )
    counts = {"page": page, "size": wanted.size, "matched": len(ordered)}
    return Paged(answer, {**counts, **lag_figures([facts[key] for key in sorted(facts)])})


def lag_figures(rows: list[LagFacts]) -> dict[str, Any]:
    """Of rows by group and topic."""
    behind_s = [(row.lag_s if row.lag_s is not None else row.lag_s_at_least) or 0 for row in rows]
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
    held: dict[str, tuple[Any, ...]] = {}
    if newest_ms is not None:
        last = last_of_each(rows, newest_ms, ("topic",)).values_list(*_HELD)
        held = {row[0]: row[1:] for row in last}
    worst: dict[str, ExpiryFacts] = {}
    for row in _expiries(cluster_id, newest_ms):
        if not sees_all and not sees(group=row.group):
            continue
        if row.is_live:
            held.setdefault(row.topic, (None, None, None))
        if row.is_endangered or row.expires_s is not None:
            there = worst.get(row.topic)
            worst[row.topic] = row if there is None else min(there, row, key=_before)
    seen = {topic: held[topic] for topic in sorted(held) if sees_all or sees(topic=topic)}
    worth = {topic: _worth(wanted.sort, topic, seen[topic], worst.get(topic)) for topic in seen}
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


def _before(row: ExpiryFacts) -> tuple[Any, ...]:
    return not row.is_endangered, *row.harm, row.topic, row.group


def _worth(order: str, topic: str, held: tuple[Any, ...], worst: ExpiryFacts | None) -> Any:
    of_topic = dict(zip(("bytes", "age", "retention"), held, strict=True))
    if order in of_topic:
        return of_topic[order]
    if order == "expiry":
        return None if worst is None else worst.first_loss_s
    if order == "risk":
        return None if worst is None else rank(word_of(Risk, worst.risk))
    return topic


def _whole(
    tenant: Tenant, scope: Scope, cluster_id: str, row: ExpiryFacts
) -> dict[str, Any] | None:
    found = expiry_of_group(tenant, scope, cluster_id, row.group, topic=row.topic)["data"]
    return found[0] if found else None


def _lags(cluster_id: str, newest_ms: int | None) -> Iterator[LagFacts]:
    gold = last_rows(GoldGroupLag, cluster_id, newest_ms, LAG_OF_GOLD)
    live = group_verdicts([cluster_id]).values_list(*LAG_OF_GOLD)
    return _newest(gold, live, LagFacts)


def _expiries(cluster_id: str, newest_ms: int | None) -> Iterator[ExpiryFacts]:
    gold = last_rows(GoldGroupExpiry, cluster_id, newest_ms, EXPIRY_OF_GOLD)
    of_collector = {"status": "risk", "ts_ms": "sampled_ms"}
    columns = [of_collector.get(column, column) for column in EXPIRY_OF_GOLD]
    live = group_verdicts([cluster_id]).values_list(*columns)
    return _newest(gold, live, ExpiryFacts)


def _newest(gold: Found, live: Rows, facts: Callable[..., Any]) -> Iterator[Any]:
    """Gold's where no newer verdict of the collector replaces it; both begin with the series, its
    word, and the time.
    """
    seen = set()
    for row in live:
        series = row[:2]
        seen.add(series)
        kept = gold.get(series)
        if kept is None or is_replaced(row[2], row[3], kept[3]):
            yield facts(*row, is_live=True)
        else:
            yield facts(*kept)
    for series, row in gold.items():
        if series not in seen:
            yield facts(*row)
