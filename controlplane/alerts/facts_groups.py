"""How groups do, as last judged; the one place that knows where judgements are kept.

They are the collector's own, of its newest sample, and gold's newest window where that is newer or
knows more.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from django.db.models import Max, Q, QuerySet

from controlplane.alerts.fact_types import ClusterFacts, GroupFacts, SeriesFact
from controlplane.analytics.models import (
    GoldGroupExpiry,
    GoldGroupLag,
    GoldTopicRetention,
    GroupVerdict,
)
from controlplane.analytics.newest import group_verdicts, newest_expiries, newest_lags
from controlplane.observed.models import ObservedGroup
from spark_analytics.contracts.statuses import Risk, Status

Columns = TypeVar("Columns", bound=NamedTuple)
LIVE_STALE_S = 60.0
"""A verdict of the collector of longer ago counts no more: six samples were missed."""
STALE_S = 900.0
"""A judgement of longer ago says nothing of now: a run each 5 minutes, and two that failed."""
SERIES_MAX = 5_000
"""Groups on topics in trouble that are read of one cluster, the worst statuses by name first."""
BAD_STATUSES = tuple(
    str(each)
    for each in (
        Status.FALLING_BEHIND,
        Status.STOPPED,
        Status.STALLED,
        Status.NOT_COMMITTING,
        Status.DATA_LOST,
    )
)
BAD_RISKS = tuple(str(each) for each in (Risk.WATCH, Risk.AT_RISK, Risk.LOSING))


class _Lag(NamedTuple):
    """Of gold; named as its columns, as the next two are."""

    group: str
    topic: str
    status: str
    lag_records: int | None
    lag_seconds: float | None
    lost_records: int | None
    sampled_ms: int


class _Expiry(NamedTuple):
    group: str
    topic: str
    status: str
    oldest_unread_expires_in_s: float | None
    first_loss_in_s: float | None
    ts_ms: int


class _Verdict(NamedTuple):
    """The collector's."""

    group: str
    topic: str
    status: str
    risk: str
    lag_records: int | None
    lag_seconds: float | None
    lost_records: int | None
    oldest_unread_expires_in_s: float | None
    first_loss_in_s: float | None
    sampled_ms: int


@dataclass(frozen=True, slots=True)
class Judged:
    """`groups` is null when they were not judged lately, and then `because` says why.

    `judged_at` is of when Spark's newest results are: what the collector says meanwhile does not
    make them newer.
    """

    groups: GroupFacts | None
    judged_at: datetime | None
    because: str = ""


def with_groups(cluster: ClusterFacts, judged: Judged) -> ClusterFacts:
    return replace(
        cluster,
        groups=judged.groups,
        groups_unknown_because=judged.because,
        judged_at=judged.judged_at,
    )


def read(
    cluster_ids: Collection[str], wanted: Mapping[str, Collection[str]], now: datetime
) -> dict[str, Judged]:
    """By cluster; `wanted` are groups whose judgement is read however good it is."""
    fresh_ms = int((now.timestamp() - LIVE_STALE_S) * 1000)
    live = group_verdicts(cluster_ids).filter(sampled_ms__gte=fresh_ms)
    newest = dict(live.values_list("cluster_id").annotate(Max("sampled_ms")).order_by())
    return {
        cluster_id: _judged(
            cluster_id, frozenset(wanted.get(cluster_id, ())), now, newest.get(cluster_id)
        )
        for cluster_id in cluster_ids
    }


def _judged(cluster_id: str, wanted: frozenset[str], now: datetime, live_ms: int | None) -> Judged:
    """`live_ms`: of the collector's newest verdict, null where none is fresh."""
    # The collector's own topic has a row in every window, groups or none.
    newest = (
        GoldTopicRetention.objects.filter(cluster_id=cluster_id)
        .order_by("-ts_ms")
        .values_list("ts_ms", "sampled_ms")
        .first()
    )
    live = GroupVerdict.objects.none()
    if live_ms is not None:
        # One sample is one instant: what is older was not in it.
        live = group_verdicts([cluster_id]).filter(sampled_ms=live_ms)
    window_ms, gold_ms = newest if newest is not None else (0, 0)
    judged_at = datetime.fromtimestamp(gold_ms / 1000, UTC) if gold_ms else None
    if gold_ms < (now.timestamp() - STALE_S) * 1000 and live_ms is not None:
        window_ms = 0
    sampled_ms = max(gold_ms, live_ms or 0)
    if not sampled_ms:
        return Judged(None, None, "its groups have not been judged yet")
    as_of = datetime.fromtimestamp(sampled_ms / 1000, UTC)
    if (now - as_of).total_seconds() > STALE_S:
        return Judged(None, judged_at, "its groups were not judged lately")
    return Judged(_groups(cluster_id, window_ms, as_of, wanted, live), judged_at)


def _groups(
    cluster_id: str,
    window_ms: int,
    as_of: datetime,
    wanted: frozenset[str],
    live: QuerySet[GroupVerdict],
) -> GroupFacts:
    at = Q(cluster_id=cluster_id, ts_ms=window_ms)
    gold_lags, gold_expiries = _gold(at, wanted)
    in_gold = {row.group for row in gold_lags} | {row.group for row in gold_expiries}
    bad = Q(status__in=BAD_STATUSES) | Q(risk__in=BAD_RISKS)
    verdicts = _read(_Verdict, live.filter(bad | Q(group__in=sorted(wanted | in_gold))))
    lags = {(row.group, row.topic): row for row in newest_lags(gold_lags, verdicts)}
    found = newest_expiries(gold_expiries, verdicts)
    expiries = {(row.group, row.topic): row for row in found}
    kept = _retention_s(at, {topic for _, topic in expiries})
    series = tuple(
        _series(key, lags.get(key), expiries.get(key), kept)
        for key in sorted(lags.keys() | expiries.keys())
    )
    missing = wanted - {each.group for each in series}
    return GroupFacts(as_of=as_of, series=series, missing=_still_there(cluster_id, missing))


def _gold(at: Q, wanted: frozenset[str]) -> tuple[list[_Lag], list[_Expiry]]:
    """The rows of groups in trouble, and of those that are wanted."""
    chosen = Q(group__in=sorted(wanted))
    expiries = _read(_Expiry, GoldGroupExpiry.objects.filter(at, Q(status__in=BAD_RISKS) | chosen))
    lags = _read(_Lag, GoldGroupLag.objects.filter(at, Q(status__in=BAD_STATUSES) | chosen))
    # What is at risk is so whatever its status: its lag is told beside it.
    there = {(row.group, row.topic) for row in lags}
    lacking = {row.group for row in expiries if (row.group, row.topic) not in there}
    more = _read(_Lag, GoldGroupLag.objects.filter(at, group__in=sorted(lacking)), most=None)
    lags += [row for row in more if (row.group, row.topic) not in there]
    return lags, expiries


def _read(kind: type[Columns], rows: QuerySet[Any], most: int | None = SERIES_MAX) -> list[Columns]:
    """These columns alone: of thousands of rows the models themselves take longest to make."""
    return [kind(*row) for row in rows.values_list(*kind._fields)[:most]]


def _retention_s(at: Q, topics: Collection[str]) -> dict[str, float]:
    rows = GoldTopicRetention.objects.filter(at, topic__in=sorted(topics))
    found = rows.values_list("topic", "retention_ms")
    return {topic: ms / 1000 for topic, ms in found if ms is not None and ms > 0}


def _still_there(cluster_id: str, names: Collection[str]) -> frozenset[str]:
    """A group that is gone has no trouble any more; of one that is there nothing was said."""
    rows = ObservedGroup.objects.filter(cluster_id=cluster_id, key__in=sorted(names), gone=False)
    return frozenset(rows.values_list("key", flat=True)) if names else frozenset()


def _series(
    key: tuple[str, str],
    lag: _Lag | _Verdict | None,
    expiry: _Expiry | _Verdict | None,
    kept_s: Mapping[str, float],
) -> SeriesFact:
    group, topic = key
    return SeriesFact(
        group=group,
        topic=topic,
        status=lag.status if lag is not None else str(Status.UNKNOWN),
        risk=_risk(expiry),
        lag_records=lag.lag_records if lag is not None else None,
        lag_s=lag.lag_seconds if lag is not None else None,
        lost_records=lag.lost_records if lag is not None else None,
        expires_in_s=expiry.oldest_unread_expires_in_s if expiry is not None else None,
        first_loss_in_s=expiry.first_loss_in_s if expiry is not None else None,
        retention_s=kept_s.get(topic),
    )


def _risk(expiry: _Expiry | _Verdict | None) -> str | None:
    if expiry is None:
        return None
    return expiry.risk if isinstance(expiry, _Verdict) else expiry.status
