"""How each series of a group moved over its windows: rates, and since when it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spark_analytics.formulas.known import Floats, Truths
from spark_analytics.formulas.samples import GroupSamples, Ints
from spark_analytics.formulas.segments import Indexes, last_true, run_of, starts_of
from spark_analytics.formulas.theil_sen import frame_slopes


@dataclass(frozen=True, slots=True, kw_only=True)
class Trails:
    """In the order of the samples. `unchanged_s`: the committed offset stands still; a series
    begins with a change, for nothing is known of the time before. `uncommitted_s`: records are
    there and nothing is committed; else NaN. `went_back`: it fell within the trend.
    """

    unchanged_s: Floats
    uncommitted_s: Floats
    went_back: Truths
    produce_rps: Floats
    consume_rps: Floats


def trails(groups: GroupSamples, trend_ms: int) -> Trails:
    """Rates are those of windows from `from_ms` on, NaN before."""
    order = np.lexsort((groups.window_ms, groups.series))
    window, ts_ms = groups.window_ms[order], groups.ts_ms[order].astype(float)
    committed, end = groups.committed_offset[order], groups.log_end_offset[order]
    # What was not there for longer than trends look is another one of that name.
    lives = np.cumsum(np.diff(window, prepend=window[:1]) > trend_ms)
    starts = starts_of(groups.series[order], lives)
    first = starts[run_of(starts, len(order))]
    step = np.diff(committed, prepend=np.nan)
    step[starts] = np.nan
    begins = frame_begins(groups.series[order], window, first, trend_ms)
    changed = last_true(~(step == 0))
    waits = (committed < 0) & (end > groups.log_start_offset[order])
    otherwise = last_true(~waits)
    since = np.where(otherwise >= first, otherwise, first)
    found = {
        "unchanged_s": (ts_ms - ts_ms[changed]) / 1000,
        "uncommitted_s": np.where(waits, (ts_ms - ts_ms[since]) / 1000, np.nan),
        "went_back": last_true(step < 0) >= begins,
    }
    rows = np.flatnonzero(window >= groups.from_ms[order])
    for name, values in (("produce_rps", end), ("consume_rps", committed)):
        rates = np.full(len(order), np.nan)
        rates[rows] = frame_slopes(ts_ms, values, begins[rows], rows) * 1000
        found[name] = rates
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return Trails(**{name: values[back] for name, values in found.items()})


def frame_begins(series: Ints, window_ms: Ints, first: Indexes, trend_ms: int) -> Indexes:
    """Of each row the first of its series in [window - trend, window].

    Rows are sorted by series and window; `first` is the first of the series.
    """
    windows, place = np.unique(window_ms, return_inverse=True)
    # The first window that is in the frame, then the first row of the series from it on.
    earliest = np.searchsorted(windows, window_ms - trend_ms, side="left")
    wide = len(windows) + 1
    key = series * wide + place
    found = np.searchsorted(key, series * wide + earliest, side="left")
    begins: Indexes = np.maximum(found, first)
    return begins
