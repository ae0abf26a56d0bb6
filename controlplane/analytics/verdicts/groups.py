"""Partitions → what is true of the group on the topic (spark_analytics.formulas.groups)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from controlplane.analytics.verdicts.partitions import Partitions
from controlplane.analytics.verdicts.trails import GroupTrail, Stand
from spark_analytics.contracts.conditions import risk_conditions, status_conditions
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Method, Reason, Risk, Status, Trend, rank
from spark_analytics.formulas.known import (
    ArrayFacts,
    Floats,
    Known,
    Truths,
    certain,
    first_true,
    numbers,
)
from spark_analytics.formulas.partitions import METHODS
from spark_analytics.formulas.theil_sen import column_slopes

_OUT_OF_HISTORY = METHODS.index(Method.OUT_OF_HISTORY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one group does on one topic, now. None is unknown; names and units as in gold.

    `stuck_s` is for how long a partition that is behind has stood still, the longest of them; None
    where none is behind. `ingest_bytes_per_s` is that of the partition that loses first, None when
    none does.
    """

    group: str
    topic: str
    sampled_ms: int
    status: Status
    reasons: tuple[Reason, ...]
    partitions: int
    lag_records: int | None
    uncommitted_partitions: int
    uncommitted_records: int | None
    lag_seconds: float | None
    lag_seconds_at_least: float | None
    method: Method | None
    trend: Trend
    trend_records_per_s: float | None
    produce_records_per_s: float | None
    consume_records_per_s: float | None
    eta_seconds: float | None
    lost_records: int | None
    members: int | None
    state: str | None
    stuck_s: float | None
    risk: Risk
    oldest_unread_expires_in_s: float | None
    first_loss_in_s: float | None
    expiry_method: Method | None
    ingest_bytes_per_s: float | None
    by_partition: Partitions | None = field(default=None, repr=False, compare=False)
    """What it was judged by; arrays by partition number."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A group on a topic with what is known of it."""

    group: str
    topic: str
    stand: Stand
    partitions: Partitions
    facts: dict[str, Any]


def facts_of_group(trail: GroupTrail, found: Partitions, rules: Rules) -> dict[str, Any]:
    """What the conditions of a status ask for, and what is shown."""
    stand = trail.stands[-1]
    committed: Truths = stand.committed > -1
    there: Truths = ~np.isnan(stand.committed)
    absent = there & ~committed
    lag, time_lag = found["lag_records"], found["time_lag_s"]
    unknown = committed & np.isnan(lag)
    all_known = bool(committed.any() and not unknown.any())
    behind: Truths = found["behind"] == 1
    untimed = committed & (lag > 0) & np.isnan(time_lag)
    held = stand.end - stand.start
    timed = all_known and not untimed.any()
    lost = found["lost_records"]
    return {
        "lag_records": stand.lag_records,
        "lag_seconds": _largest(time_lag) if timed else np.nan,
        "committed_count": int(committed.sum()),
        "behind_count": int(behind.sum()),
        "stuck_s": _largest(found["unchanged_s"][behind]),
        "uncommitted_s": _largest(found["uncommitted_s"]),
        "uncommitted_partitions": int(absent.sum()),
        "uncommitted_records": (
            np.nan if np.isnan(held[absent]).any() else float(held[absent].sum())
        ),
        "went_back": bool((found["went_back"] > 0).any()),
        "lost_records": np.nan if np.isnan(lost).all() else float(np.nansum(lost)),
        "members": stand.members,
        "lag_seconds_at_least": _largest(found["time_lag_at_least_s"]),
        "produce_records_per_s": _total(found["produce_rps"]),
        "consume_records_per_s": _total(found["consume_rps"]),
        "method": _method(
            found, committed, unknown=bool(unknown.any()), untimed=bool(untimed.any())
        ),
        "eta_seconds": _eta(found["eta_s"][behind]) if all_known else np.nan,
    } | _trend(trail, found, rules)


def _method(found: Partitions, committed: Truths, *, unknown: bool, untimed: bool) -> Method | None:
    """Of the slowest partition; of several that are equally late the name decides."""
    if not committed.any():
        return Method.NO_COMMIT
    if unknown:
        return None
    if untimed:
        return Method.OUT_OF_HISTORY
    lag, time_lag = found["lag_records"], found["time_lag_s"]
    timed = np.flatnonzero((lag > 0) & ~np.isnan(time_lag))
    if len(timed) == 0:
        return Method.CAUGHT_UP
    slowest: Method = max((time_lag[at], METHODS[found.method[at]]) for at in timed)[1]
    return slowest


def _expiry_method(found: Partitions) -> Method | None:
    """Of the partition whose record goes first; else the first by name."""
    expires, method = found["expires_s"], found.method
    due = [(expires[at], METHODS[method[at]]) for at in np.flatnonzero(~np.isnan(expires))]
    others = [METHODS[at] for at in method if at >= 0]
    first: Method | None = min(due)[1] if due else min(others, default=None)
    return first


def _eta(etas: Floats) -> float:
    """The slowest partition decides; one that does not catch up leaves no forecast."""
    if len(etas) == 0:
        return 0.0
    return np.nan if np.isnan(etas).any() else float(etas.max())


def _total(rates: Floats) -> float:
    """As Spark adds them: each to the millionth."""
    return np.nan if np.isnan(rates).all() else float(np.nansum(np.round(rates, 6)))


def _trend(trail: GroupTrail, found: Partitions, rules: Rules) -> dict[str, Any]:
    stands = [stand for stand in trail.trend() if not np.isnan(stand.lag_records)]
    times = np.array([stand.ts_ms for stand in stands])
    enough = (
        len(stands) >= rules.samples_min
        and stands[-1].ts_ms - stands[0].ts_ms >= rules.span_min_s * 1000
    )
    growth = np.nan
    if enough:
        lags = np.array([[stand.lag_records] for stand in stands])
        growth = float(column_slopes(times, lags)[0] * 1000)
    produced = float(np.nan_to_num(_total(found["produce_rps"])))
    steady = max(rules.steady_records_per_s, produced * 0.02)
    trend = (
        Trend.UNKNOWN
        if np.isnan(growth)
        else Trend.GROWING
        if growth > steady
        else Trend.SHRINKING
        if growth < -steady
        else Trend.STEADY
    )
    return {"enough": enough, "trend": trend, "trend_records_per_s": growth}


def judge(rows: Sequence[Judged], rules: Rules) -> list[Verdict]:
    """Every group's verdict, all in one go."""
    if not rows:
        return []
    statuses = first_true(status_conditions(_group_facts([row.facts for row in rows]), rules))
    risks = first_true(risk_conditions(_partition_facts(rows)))
    verdicts, begin = [], 0
    for row, status in zip(rows, statuses, strict=True):
        end = begin + len(row.stand.committed)
        there = ~np.isnan(row.stand.committed)
        mine = [risk for risk, is_there in zip(risks[begin:end], there, strict=True) if is_there]
        verdicts.append(_verdict(row, status, mine))
        begin = end
    return verdicts


def _verdict(row: Judged, status: Status, risks: list[Risk]) -> Verdict:
    stand, found, fact = row.stand, row.partitions, row.facts
    there = ~np.isnan(stand.committed)
    partial = fact["committed_count"] > 0 and fact["uncommitted_partitions"] > 0
    loss = found["first_loss_s"]
    first = None if np.isnan(loss).all() else int(np.nanargmin(loss))
    ingest = None if first is None else _number(found["ingest_bytes_per_s"][first])
    return Verdict(
        group=row.group,
        topic=row.topic,
        sampled_ms=int(stand.ts_ms),
        status=status,
        reasons=tuple(
            reason
            for reason, holds in (
                (Reason.PARTIAL_COMMIT, partial),
                (Reason.REWOUND, fact["went_back"]),
            )
            if holds
        ),
        partitions=int(there.sum()),
        lag_records=_whole(fact["lag_records"]),
        lag_seconds=_number(fact["lag_seconds"]),
        lag_seconds_at_least=_number(fact["lag_seconds_at_least"]),
        method=fact["method"],
        trend=fact["trend"],
        trend_records_per_s=_number(fact["trend_records_per_s"]),
        produce_records_per_s=_number(fact["produce_records_per_s"]),
        consume_records_per_s=_number(fact["consume_records_per_s"]),
        eta_seconds=_number(fact["eta_seconds"]),
        uncommitted_partitions=fact["uncommitted_partitions"],
        uncommitted_records=_whole(fact["uncommitted_records"]),
        lost_records=_whole(fact["lost_records"]),
        members=_whole(stand.members),
        state=stand.state,
        stuck_s=_number(fact["stuck_s"]),
        risk=max(risks, key=rank, default=Risk.UNKNOWN),
        oldest_unread_expires_in_s=_number(_smallest(found["expires_s"])),
        first_loss_in_s=None if first is None else _number(loss[first]),
        expiry_method=_expiry_method(found),
        ingest_bytes_per_s=ingest,
        by_partition=found,
    )


def _group_facts(facts: Sequence[dict[str, Any]]) -> ArrayFacts:
    def column(name: str) -> Known:
        return numbers(np.array([fact[name] for fact in facts], dtype=float))

    exact = ("committed_count", "behind_count", "enough", "went_back", "trend")
    values = {name: certain(np.array([fact[name] for fact in facts])) for name in exact}
    values |= {
        name: column(name)
        for name in ("lost_records", "members", "stuck_s", "uncommitted_s", "lag_records")
    }
    return ArrayFacts(values, len(facts))


def _partition_facts(rows: Sequence[Judged]) -> ArrayFacts:
    def column(name: str) -> Known:
        return numbers(np.concatenate([row.partitions[name] for row in rows]))

    rates = ("produce_rps", "consume_rps", "eta_s")
    times = ("expires_s", "first_loss_s", "soon_s")
    values = {name: column(name) for name in ("lost_records", *rates, *times)}
    for name in ("unread", "unlimited", "keeps_up"):
        truth = column(name)
        values[name] = Known(truth.values == 1, truth.is_known)
    values["committed_offset"] = numbers(np.concatenate([row.stand.committed for row in rows]))
    values["log_end_offset"] = numbers(np.concatenate([row.stand.end for row in rows]))
    return ArrayFacts(values, len(values["unread"].values))


def _largest(values: Floats) -> float:
    return np.nan if np.isnan(values).all() else float(np.nanmax(values))


def _smallest(values: Floats) -> float:
    return np.nan if np.isnan(values).all() else float(np.nanmin(values))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)
