"""Whether what was worked out of a cluster's groups still says the same, without reading it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from controlplane.analytics.conf import conf
from controlplane.analytics.models import CollectorState, GoldGroupLag
from controlplane.analytics.rules import VERDICT_STALE_S, result_stale_s
from controlplane.analytics.selectors import PRESENT_WITHIN_S
from spark_analytics.contracts.rules import Rules


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
    if known is None or not known[0] or known[1] is None:
        return None
    revision, sampled_ms = known
    rows = GoldGroupLag.objects.filter(cluster_id=cluster_id).order_by("-ts_ms")
    gold = rows.values_list("ts_ms", "run_id").first()
    if gold is not None and not _stays(gold[0], sampled_ms, now_ms):
        return None
    stale_after_ms = sampled_ms + VERDICT_STALE_S * 1000
    is_stale = now_ms > stale_after_ms
    return JudgedAs([revision, is_stale, list(gold or ())], sampled_ms, stale_after_ms)


def _stays(gold_ms: int, sampled_ms: int, now_ms: int) -> bool:
    """Whether all of gold is older than the collector's sample, and none of it too old to hold."""
    stale_s = result_stale_s(conf().interval_s, conf().deadline_s)
    oldest_ms = gold_ms - PRESENT_WITHIN_S * 1000
    return sampled_ms >= gold_ms + Rules().window_s * 1000 and now_ms <= oldest_ms + stale_s * 1000
