"""When each analysis has what it needs: what is computed when, since when, and what is left. Pure.

A new cluster has no hours. Whoever opens its pages is told once what they wait for and until when,
not by each card that it is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from controlplane.analytics.insights import forecast, hot, impact, silent
from controlplane.analytics.rules import ROLLUP_PLANS
from spark_analytics.contracts.analyses import FORECAST, HOT, IMPACT, SILENT, UNUSED, USAGE, WHAT_IF
from spark_analytics.contracts.gold import DAY_S, HOUR_S
from spark_analytics.contracts.runs import Job

IDLE_S: Final = 7 * DAY_S
"""For which a topic has to be watched before it is called unused, where nobody asks otherwise."""
LATE_S: Final = 1200
"""After the time at which they are due, numbers that are not there yet are late."""
ROLLUPS: Final = "rollups"


class State(StrEnum):
    READY = "ready"
    COLLECTING = "collecting"
    COMPUTING = "computing"
    LATE = "late"
    NOT_SAMPLED = "not_sampled"


class Unit(StrEnum):
    HOURS = "hours"
    DAYS = "days"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """So many whole hours, or days (UTC), that were added up."""

    unit: Unit
    count: int


def _hours(count: int) -> Need:
    return Need(unit=Unit.HOURS, count=count)


NEEDS: Final[Mapping[str, Need]] = {
    ROLLUPS: _hours(1),
    USAGE.id: _hours(1),
    WHAT_IF.id: _hours(1),
    HOT.id: _hours(hot.HOURS_MIN),
    IMPACT.id: _hours(2 * impact.KNOWN_MIN),  # before a change, and after it
    SILENT.id: _hours(silent.DAYS_MIN * DAY_S // HOUR_S + 1),
    FORECAST.id: Need(unit=Unit.DAYS, count=forecast.DAYS_MIN),
    UNUSED.id: _hours(IDLE_S // HOUR_S),
}
_PLANS: Final = {Unit.HOURS: ROLLUP_PLANS[Job.HOURLY], Unit.DAYS: ROLLUP_PLANS[Job.DAILY]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Of one cluster; `since_ms` is of its first sample, None: there is none."""

    now_ms: int
    since_ms: int | None
    hours: int
    days: int


def readiness(seen: Observed) -> list[dict[str, Any]]:
    """{analysis, unit, needed, have, state, first_at_ms} of each; null: nobody can say when."""
    return [{"analysis": analysis, **_of(need, seen)} for analysis, need in NEEDS.items()]


def _of(need: Need, seen: Observed) -> dict[str, Any]:
    have = min(need.count, seen.hours if need.unit is Unit.HOURS else seen.days)
    row = {"unit": need.unit, "needed": need.count, "have": have}
    if have >= need.count:
        return {**row, "state": State.READY, "first_at_ms": None}
    if seen.since_ms is None:
        return {**row, "state": State.NOT_SAMPLED, "first_at_ms": None}
    first_ms = _first_ms(need, seen, have)
    return {**row, "state": _state(first_ms, seen.now_ms), "first_at_ms": first_ms}


def _first_ms(need: Need, seen: Observed, have: int) -> int:
    """When the run begins that adds the last one that lacks: the periods go on without a gap.

    A period that was sampled in part counts: its numbers say how much of it was seen.
    """
    plan = _PLANS[need.unit]
    period_ms, settle_ms = plan.period_s * 1000, plan.settle_s * 1000
    since_ms = seen.since_ms or 0
    begin_ms = since_ms if have == 0 else max(since_ms, seen.now_ms - settle_ms)
    end_ms = (begin_ms // period_ms + 1) * period_ms
    return end_ms + (need.count - have - 1) * period_ms + settle_ms


def _state(first_ms: int, now_ms: int) -> State:
    if now_ms < first_ms:
        return State.COLLECTING
    return State.COMPUTING if now_ms < first_ms + LATE_S * 1000 else State.LATE
