"""When a run is due and which range it computes. Pure: times come in, decisions go out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spark_analytics.contracts.gold import DAY_S, HOUR_S
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.runs import Job
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S

OVERLAP_S = 120
"""Recomputed each time: samples that arrived late, and the window that was still open."""


VERDICT_STALE_S = 6 * SAMPLE_INTERVAL_S
"""From a verdict's sample: a collector that is well has judged several newer ones by then."""


def result_stale_s(interval_s: float, deadline_s: float) -> float:
    """From a run's newest sample: the next run has ended by then, or failed."""
    return interval_s + deadline_s + Rules().window_s


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    started_ms: int


def verdict_after_s(rules: Rules) -> float:
    """From a cluster's first sample until a run can judge its groups: before, a trend is unknown.

    A window counts by its last sample, so the span begins up to a window late and ends a sample
    late.
    """
    return rules.span_min_s + rules.window_s + SAMPLE_INTERVAL_S


def run_is_due(
    *,
    now_ms: int,
    first_samples_ms: Iterable[int],
    last_run: LastRun | None,
    interval_s: float,
    first_after_s: float,
    rules: Rules,
) -> bool:
    """Per cluster a run soon after its first sample and one when its groups can be judged; besides
    these one per interval, as long as there is any cluster.
    """
    firsts = list(first_samples_ms)
    if not firsts:
        return False
    last_ms = last_run.started_ms if last_run else None
    if last_ms is not None and now_ms >= last_ms + interval_s * 1000:
        return True
    early_s = (first_after_s, verdict_after_s(rules))
    moments = [first + int(after_s * 1000) for first in firsts for after_s in early_s]
    return any(moment <= now_ms and (last_ms is None or last_ms < moment) for moment in moments)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRange:
    """What a run computes: of each cluster the whole windows of [start, to)."""

    starts_ms: Mapping[str, int]
    to_ms: int
    from_ms: int
    """The earliest start."""


def run_range(
    *,
    now_ms: int,
    cluster_ids: Iterable[str],
    done_until_ms: Mapping[str, int],
    range_max_s: int,
    rules: Rules,
) -> RunRange:
    """Each cluster from where it was computed: what one has missed is no work for another.

    A cluster that was never computed, or not for long, starts `range_max_s` back. The window that
    is still open is included; the next run computes it again.
    """
    window_ms = rules.window_s * 1000
    to_ms = (now_ms // window_ms + 1) * window_ms
    oldest_ms = to_ms - range_max_s * 1000
    starts_ms = {}
    for cluster_id in cluster_ids:
        done_ms = done_until_ms.get(cluster_id, oldest_ms)
        start_ms = min(max(oldest_ms, done_ms - OVERLAP_S * 1000), to_ms - window_ms)
        starts_ms[cluster_id] = start_ms // window_ms * window_ms
    from_ms = min(starts_ms.values(), default=to_ms - window_ms)
    return RunRange(starts_ms=starts_ms, from_ms=from_ms, to_ms=to_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollupPlan:
    """When the rollups of a job are due, and how far a run of it reaches, in periods.

    `settle_s` after a period's end its samples are there; `again` periods are computed each time,
    so that one that came late or failed is mended; `back_max` after an outage.
    """

    period_s: int
    settle_s: int
    again: int
    back_max: int


ROLLUP_PLANS: Mapping[str, RollupPlan] = {
    Job.HOURLY: RollupPlan(period_s=HOUR_S, settle_s=300, again=2, back_max=48),
    Job.DAILY: RollupPlan(period_s=DAY_S, settle_s=900, again=1, back_max=3),
}


def rollup_range(
    plan: RollupPlan, *, now_ms: int, asked_until_ms: int | None, done_until_ms: int | None
) -> tuple[int, int] | None:
    """[from, to) of the run that is due, or None while the last one asked for reaches as far."""
    period_ms = plan.period_s * 1000
    to_ms = (now_ms - plan.settle_s * 1000) // period_ms * period_ms
    if asked_until_ms is not None and asked_until_ms >= to_ms:
        return None
    from_ms = to_ms - plan.again * period_ms
    if done_until_ms is None:
        return from_ms, to_ms
    missed_ms = done_until_ms // period_ms * period_ms - (plan.again - 1) * period_ms
    return max(min(from_ms, missed_ms), to_ms - plan.back_max * period_ms), to_ms


def deadline_s(span_ms: int, base_s: float) -> float:
    """Of a run over that range: `base_s` for each six hours that it begins."""
    return base_s * max(1, -(-span_ms // (6 * HOUR_S * 1000)))


def range_max_after(failures: int, range_max_s: int) -> int:
    """How far back a run may reach after so many failed ones in a row, in seconds.

    Half as far each time, an eighth at least: a range that takes longer than the deadline is not
    tried again for ever. What is left out has no rows.
    """
    return range_max_s >> min(failures, 3)
