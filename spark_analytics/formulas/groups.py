"""Partitions → what is true of a group on a topic, in each window.

A group's partitions in one window are a *slice*: a run of rows in the arrays of its partitions, and
one element in the arrays here. NaN is unknown. Lags over partitions of which one is unknown are
unknown: partial is not a number. Rates and lost records are of the partitions that are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_analytics.contracts.conditions import risk_conditions, status_conditions
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Method, Reason, Risk, Status, Trend, rank
from spark_analytics.formulas import segments
from spark_analytics.formulas.known import (
    ArrayFacts,
    Floats,
    Known,
    Truths,
    certain,
    first_true,
    numbers,
)
from spark_analytics.formulas.partitions import METHODS, NO_METHOD, STEADY, Stands
from spark_analytics.formulas.samples import Ints
from spark_analytics.formulas.segments import Indexes
from spark_analytics.formulas.theil_sen import frame_slopes
from spark_analytics.formulas.trails import frame_begins

_NO_COMMIT = METHODS.index(Method.NO_COMMIT)
_CAUGHT_UP = METHODS.index(Method.CAUGHT_UP)
_OUT_OF_HISTORY = METHODS.index(Method.OUT_OF_HISTORY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Of each slice, sorted by `series` (a group on a topic, of one topic id) and window."""

    series: Ints
    window_ms: Ints
    sampled_ms: Ints
    from_ms: Ints
    members: Floats


def rolled(
    stands: Stands, found: Mapping[str, Floats], method: NDArray[np.int64], starts: Indexes
) -> dict[str, Any]:
    """Facts of each slice: those that conditions ask for and those that are shown.

    `starts` is where each slice begins; `found` what `partitions` and `trails` say. `lag_records`
    is over the committed partitions; `uncommitted_records` is what the others hold, which is the
    most that can be unread there.
    """

    def count(truths: Truths) -> Ints:
        return segments.counts(truths, starts)

    def most(values: Floats, where: Truths | None = None) -> Floats:
        return segments.largest(values if where is None else _where(where, values), starts)

    committed = stands.committed >= 0
    lag, time_lag, eta = found["lag_records"], found["time_lag_s"], found["eta_s"]
    behind = found["behind"] == 1
    unread = lag > 0
    absent = ~committed
    held = np.where(absent, stands.end - stands.start, 0.0)
    committed_count = count(committed)
    all_known = (committed_count > 0) & (count(committed & np.isnan(lag)) == 0)
    untimed = count(committed & unread & np.isnan(time_lag)) > 0
    behind_count, no_eta = count(behind), count(behind & np.isnan(eta))
    return {
        "partitions": np.diff(starts, append=len(lag)),
        "committed_count": committed_count,
        "behind_count": behind_count,
        "lag_records": _where(all_known, segments.sums(lag, starts)),
        "lag_seconds": _where(all_known & ~untimed, most(time_lag)),
        "lag_seconds_at_least": most(found["time_lag_at_least_s"]),
        "uncommitted_partitions": count(absent),
        "uncommitted_records": segments.sums_of_all(held, starts),
        "uncommitted_s": most(found["uncommitted_s"]),
        "stuck_s": most(found["unchanged_s"], behind),
        "went_back": count(found["went_back"] == 1) > 0,
        "lost_records": segments.sums(found["lost_records"], starts),
        # The slowest partition decides; one that does not catch up leaves no forecast.
        "eta_seconds": np.select(
            [all_known & (behind_count == 0), all_known & (no_eta == 0)],
            [np.zeros(len(starts)), most(eta, behind)],
            np.nan,
        ),
        "produce_records_per_s": segments.whole_sums(found["produce_rps"], starts),
        "consume_records_per_s": segments.whole_sums(found["consume_rps"], starts),
        "method": np.select(
            [
                committed_count == 0,
                ~all_known,
                untimed,
                count(unread) == 0,
            ],
            [_NO_COMMIT, NO_METHOD, _OUT_OF_HISTORY, _CAUGHT_UP],
            _of_extreme(_where(unread, time_lag), method, starts, segments.largest, np.maximum),
        ),
    }


def trend_of(slices: Slices, facts: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    """`enough` samples for a trend, `trend_records_per_s` and `trend`, from `from_ms` on."""
    lag, sampled = facts["lag_records"], slices.sampled_ms.astype(float)
    count = len(lag)
    starts = segments.starts_of(slices.series)
    first = starts[segments.run_of(starts, count)]
    begins = frame_begins(slices.series, slices.window_ms, first, rules.trend_s * 1000)
    rows = np.arange(count)
    known = ~np.isnan(lag)
    so_far = np.cumsum(known)
    points = so_far - np.where(begins > 0, so_far[begins - 1], 0)
    oldest, newest = segments.next_true(known)[begins], segments.last_true(known)
    oldest = np.minimum(oldest, count - 1)
    span_ms = sampled[newest] - sampled[oldest]
    enough = (points >= max(rules.samples_min, 1)) & (span_ms >= rules.span_min_s * 1000)
    growth = np.full(count, np.nan)
    wanted = rows[enough & (slices.window_ms >= slices.from_ms)]
    growth[wanted] = frame_slopes(sampled, lag, begins[wanted], wanted) * 1000
    steady = np.maximum(
        rules.steady_records_per_s, np.nan_to_num(facts["produce_records_per_s"]) * STEADY
    )
    trend = np.select(
        [np.isnan(growth), growth > steady, growth < -steady],
        [Trend.UNKNOWN.value, Trend.GROWING.value, Trend.SHRINKING.value],
        Trend.STEADY.value,
    )
    return {"enough": enough, "trend_records_per_s": growth, "trend": trend}


def statuses(facts: Mapping[str, Any], members: Floats, rules: Rules) -> list[Status]:
    """Of each slice, by the facts of `rolled` and `trend_of`."""
    exact = ("committed_count", "behind_count", "enough", "went_back", "trend")
    values = {name: certain(facts[name]) for name in exact}
    values |= {
        name: numbers(facts[name])
        for name in ("lost_records", "stuck_s", "uncommitted_s", "lag_records")
    }
    values["members"] = numbers(members)
    return first_true(status_conditions(ArrayFacts(values, len(members)), rules))


def reasons(facts: Mapping[str, Any]) -> list[str]:
    """Of each slice the words, with commas between."""
    partial = (facts["committed_count"] > 0) & (facts["uncommitted_partitions"] > 0)
    return [
        ",".join(
            word for word, is_so in ((Reason.PARTIAL_COMMIT, some), (Reason.REWOUND, back)) if is_so
        )
        for some, back in zip(partial, facts["went_back"], strict=True)
    ]


def risks(stands: Stands, found: Mapping[str, Floats]) -> list[Risk]:
    """Of each partition, by what `partitions` says."""
    names = ("lost_records", "produce_rps", "consume_rps", "eta_s", "expires_s", "first_loss_s")
    values = {name: numbers(found[name]) for name in (*names, "soon_s")}
    for name in ("unread", "unlimited", "keeps_up"):
        values[name] = Known(found[name] == 1, ~np.isnan(found[name]))
    values["committed_offset"] = numbers(stands.committed)
    values["log_end_offset"] = numbers(stands.end)
    return first_true(risk_conditions(ArrayFacts(values, len(stands.committed))))


def expiries(
    stands: Stands, found: Mapping[str, Floats], method: NDArray[np.int64], starts: Indexes
) -> dict[str, Any]:
    """Of each slice: when its oldest unread record goes, when the first is lost, the worst risk.

    `method` is that of the record that goes first; else the first by name.
    """
    expires = found["expires_s"]
    soonest = _of_extreme(expires, method, starts, segments.smallest, np.minimum)
    named = np.where(method == NO_METHOD, len(METHODS), method)
    first_by_name = np.minimum.reduceat(named, starts)
    first_by_name = np.where(first_by_name == len(METHODS), NO_METHOD, first_by_name)
    ranks = np.array([_RANKS[risk] for risk in risks(stands, found)], dtype=np.int64)
    worst = np.maximum.reduceat(ranks, starts)
    due = segments.smallest(expires, starts)
    return {
        "oldest_unread_expires_in_s": due,
        "first_loss_in_s": segments.smallest(found["first_loss_s"], starts),
        "method": np.where(np.isnan(due), first_by_name, soonest),
        "lost_records": np.nan_to_num(segments.sums(found["lost_records"], starts)),
        "status": [_BY_RANK[at] for at in worst],
    }


_BY_RANK: Sequence[Risk] = tuple(Risk)
_RANKS = {risk: rank(risk) for risk in Risk}


def _where(condition: Truths, values: Floats) -> Floats:
    return np.where(condition, values, np.nan)


def _of_extreme(
    values: Floats, method: NDArray[np.int64], starts: Indexes, extreme: Any, by_name: Any
) -> NDArray[np.int64]:
    """The method of the partition with the extreme value; of several that are equal the name
    decides, not which came first. -1 where no value is known.
    """
    per_row = extreme(values, starts)[segments.run_of(starts, len(values))]
    nobody = -1 if by_name is np.maximum else len(METHODS)
    chosen = np.where((values == per_row) & (method != NO_METHOD), method, nobody)
    found: NDArray[np.int64] = by_name.reduceat(chosen, starts)
    return np.where(found == len(METHODS), NO_METHOD, found)
