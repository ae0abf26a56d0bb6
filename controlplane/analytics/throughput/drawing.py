"""Kept steps, drawn together into no more points than a chart has. Pure.

A point is the mean of what is known of its steps; one of which nothing is known is null, so that no
line is drawn over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.analytics.throughput.rates import Rates

MEASURES = Rates._fields[:4]
Values = dict[str, list[float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Points at `from_ms`, one each `step_ms`, before `to_ms`."""

    from_ms: int
    to_ms: int
    step_ms: int

    @property
    def ts_ms(self) -> range:
        return range(self.from_ms, self.to_ms, self.step_ms)


def grid(*, newest_ms: int, span_ms: int, period_ms: int, points: int) -> Grid:
    """The span that ends with the newest period, in whole periods, at most so many points."""
    periods = max(1, -(-span_ms // period_ms))
    step_ms = -(-periods // max(1, points)) * period_ms
    to_ms = newest_ms // period_ms * period_ms + period_ms
    return Grid(from_ms=to_ms - -(-span_ms // step_ms) * step_ms, to_ms=to_ms, step_ms=step_ms)


def drawn(at: Grid, steps: Mapping[int, Rates]) -> Values:
    """`{records_in_per_s, bytes_in_per_s, records_out_per_s, bytes_out_per_s, known}`."""
    points: list[list[Rates]] = [[] for _ in at.ts_ms]
    for ts_ms, rates in steps.items():
        if at.from_ms <= ts_ms < at.to_ms:
            points[(ts_ms - at.from_ms) // at.step_ms].append(rates)
    found: Values = {
        f"{name}_per_s": [_mean(getattr(one, name) for one in each) for each in points]
        for name in MEASURES
    }
    return {**found, "known": [_mean(one.known for one in each) or 0.0 for each in points]}


def without_out(values: Values) -> Values:
    """For who does not see all that reads."""
    nothing: list[float | None] = [None] * len(values["known"])
    return {**values, "records_out_per_s": nothing, "bytes_out_per_s": list(nothing)}


def _mean(values: Iterable[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def peak(values: Values) -> float:
    """What series are ranked by: the most records a second, in or out; 0 where nothing is known."""
    of: Sequence[float | None] = [*values["records_in_per_s"], *values["records_out_per_s"]]
    return max((value for value in of if value is not None), default=0.0)
