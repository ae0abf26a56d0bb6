"""How each group does on the worst of its topics, and whether that is what it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from controlplane.analytics.conf import conf
from controlplane.analytics.last_gold import (
    EXPIRY_OF_GOLD,
    LAG_OF_GOLD,
    Found,
    Mark,
    last_rows,
    mark_of,
)
from controlplane.analytics.models import (
    CollectorState,
    GoldGroupExpiry,
    GoldGroupLag,
)
from controlplane.analytics.newest import UNKNOWN, group_verdicts
from controlplane.analytics.rules import VERDICT_STALE_S, result_stale_s
from controlplane.analytics.selectors import PRESENT_WITHIN_S, sight_of
from controlplane.common.grants import Scope
from controlplane.groups.diagnosis import harm_of, worse_severity
from controlplane.groups.selectors import Judged
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Risk, Severity, Status

_OF_VERDICT = (
    *("group", "topic", "status", "sampled_ms", "lag_seconds", "lag_seconds_at_least", "risk"),
)


def judged_groups(
    tenant: Tenant, scope: Scope, cluster_id: str, mark: Mark | None = None
) -> dict[str, Judged]:
    """How each group does on the worst of its topics that are seen: as `lag_series` has it latest.

    It puts all groups of a cluster in order, so it reads few columns, as tuples, and gold once a
    run (`last_gold`). `mark` is gold's as it is now, of those who have it already.
    """
    sees = sight_of(tenant, scope, cluster_id)
    mark = mark or mark_of(GoldGroupLag, cluster_id)
    newest_ms = None if mark is None else mark[0]
    lags = last_rows(GoldGroupLag, cluster_id, newest_ms, LAG_OF_GOLD, mark)
    risks = last_rows(GoldGroupExpiry, cluster_id, newest_ms, EXPIRY_OF_GOLD)
    live = group_verdicts([cluster_id]).values_list(*_OF_VERDICT)
    found = newer(live, lags, risks)
    if not scope.sees_all:
        found = (row for row in found if sees(topic=row[1], group=row[0]))
    return worst_of(found)


def newer(live: Iterable[tuple[Any, ...]], lags: Found, risks: Found) -> Iterator[tuple[Any, ...]]:
    """(group, topic, status, lag, its bound, risk): gold's where no newer verdict replaces it.

    It runs over all groups of a cluster: `is_replaced` stands here without its call.
    """
    lag_of, risk_of, seen = lags.get, risks.get, set()
    for group, topic, status, sampled_ms, lag_s, least_s, risk in live:
        series = (group, topic)
        seen.add(series)
        lag = lag_of(series)
        if lag is not None and (status == UNKNOWN or sampled_ms <= lag[3]):
            status, lag_s, least_s = lag[2], lag[6], lag[7]
        expiry = risk_of((topic, group)) if risks else None
        if expiry is not None and (risk == UNKNOWN or sampled_ms <= expiry[3]):
            risk = expiry[2]
        yield group, topic, status, lag_s, least_s, risk
    for series in [series for series in lags if series not in seen]:
        lag, expiry = lags[series], risk_of(series[::-1])
        yield *series, lag[2], lag[6], lag[7], None if expiry is None else expiry[2]


def worst_of(rows: Iterable[tuple[Any, ...]]) -> dict[str, Judged]:
    """By group the worst of its topics; of equally bad ones the first."""
    worst: dict[str, Judged] = {}
    known = worst.get
    for group, _, status, lag_s, least_s, risk in rows:
        harm, is_trouble = _harm_of(status, risk)
        there = known(group)
        if there is None or there.harm is None or there.harm < harm:
            worst[group] = Judged(harm, least_s if lag_s is None else lag_s, is_trouble)
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
