"""What was true of a log's offsets, and between which samples an offset lies.

A topic that is created again has another topic id, and shares no history with the one before.
Within one topic a log is cut when a leader comes that has less (an unclean election): its leader
epoch is a new one and its log end below what was there. Offsets below the cut keep their times;
those above it were other records, whose times stay true of the instants before the cut. A sample
above a later log end of its own history is dropped: the log fell without a new leader epoch, so
nobody knows what its records were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spark_analytics.formulas.known import Floats
from spark_analytics.formulas.samples import Ints, TopicSamples
from spark_analytics.formulas.segments import Indexes, above, starts_of

CUTS_MAX = 16
"""Cuts kept of one log, the latest: what is known of it costs no more than that many times."""


@dataclass(frozen=True, slots=True)
class Brackets:
    """The last true sample at or below each offset (`left`) and the first above it (`right`): time
    and log end of both, NaN where there is none.
    """

    left_ms: Floats
    left: Floats
    right_ms: Floats
    right: Floats


@dataclass(frozen=True, slots=True)
class Histories:
    """Samples that are true, of each history of each log in a run of its own, rising in offset.

    `first` is the number of a log's first history, of which it has one more than cuts; history
    number n lies in [`begins[n]`, `ends[n]`).
    """

    ts_ms: Ints
    log_end_offset: Floats
    first: Indexes
    begins: Indexes
    ends: Indexes
    cuts: dict[int, list[int]]
    """When each log that was cut was, in time."""

    def brackets(self, log: Ints, ts_ms: Ints, offset: Floats) -> Brackets:
        """Of offsets of these logs, as the logs were at these instants."""
        history = self.first[log]
        if self.cuts:
            order = np.argsort(log, kind="stable")
            ones = np.array(list(self.cuts))
            lows = np.searchsorted(log[order], ones, side="left")
            highs = np.searchsorted(log[order], ones, side="right")
            for times, low, high in zip(self.cuts.values(), lows, highs, strict=True):
                mine = order[low:high]
                history[mine] += np.searchsorted(times, ts_ms[mine], side="right")
        begins, ends = self.begins[history], self.ends[history]
        at = above(self.log_end_offset, begins, ends, offset)
        return Brackets(
            *self._at(at - 1, at > begins),
            *self._at(at, at < ends),
        )

    def _at(self, rows: Indexes, there: np.ndarray) -> tuple[Floats, Floats]:
        if len(self.ts_ms) == 0:
            nothing = np.full(len(rows), np.nan)
            return nothing, nothing
        rows = np.where(there, rows, 0)
        return (
            np.where(there, self.ts_ms[rows], np.nan),
            np.where(there, self.log_end_offset[rows], np.nan),
        )


def histories(topics: TopicSamples, logs: int) -> Histories:
    """Of `logs` logs, some of which may have no samples."""
    known = ~np.isnan(topics.log_end_offset)
    order = np.flatnonzero(known)
    order = order[np.lexsort((topics.ts_ms[order], topics.log[order]))]
    log, ts_ms, end = topics.log[order], topics.ts_ms[order], topics.log_end_offset[order]
    epoch = np.nan_to_num(topics.leader_epoch[order], nan=-1.0)
    fell = (log[1:] == log[:-1]) & ((end[1:] < end[:-1]) | (epoch[1:] < epoch[:-1]))
    odd = np.unique(log[1:][fell])
    begins = np.searchsorted(log, np.arange(logs), side="left")
    ends = np.searchsorted(log, np.arange(logs), side="right")
    first = np.arange(logs)
    if len(odd) == 0:
        return Histories(ts_ms, end, first, begins, ends, {})
    all_ts, all_end = [ts_ms], [end]
    more_begins, more_ends, cuts = [], [], {}
    at, number = len(ts_ms), logs
    for one in odd.tolist():
        mine = slice(begins[one], ends[one])
        times, runs = _cut(ts_ms[mine], end[mine], epoch[mine])
        first[one] = number
        number += len(runs)
        if times:
            cuts[one] = times
        for run_ts, run_end in runs:
            more_begins.append(at)
            at += len(run_ts)
            more_ends.append(at)
            all_ts.append(run_ts)
            all_end.append(run_end)
    return Histories(
        np.concatenate(all_ts),
        np.concatenate(all_end),
        first,
        np.append(begins, more_begins).astype(np.intp),
        np.append(ends, more_ends).astype(np.intp),
        cuts,
    )


def _cut(ts_ms: Ints, end: Floats, epoch: Floats) -> tuple[list[int], list[tuple[Ints, Floats]]]:
    """When one log was cut, and what is true in each of its histories; its samples are in time."""
    cuts = _cuts(ts_ms, end, epoch)[-CUTS_MAX:]
    times, cut_ends = [ts for ts, _ in cuts], [cut_end for _, cut_end in cuts]
    own = np.searchsorted(times, ts_ms, side="right")
    found = []
    for history in range(len(cuts) + 1):
        kept = own <= history
        # What comes later in a sample's own history, and each cut that was passed since.
        for number in range(history + 1):
            mine = np.flatnonzero(own == number)
            lowest = np.minimum.accumulate(end[mine][::-1])[::-1]
            passed = min(cut_ends[number:history], default=np.inf)
            kept[mine] &= (end[mine] <= lowest) & (end[mine] <= passed)
        # A log that fell without a new epoch may leave them out of order.
        order = np.lexsort((ts_ms[kept], end[kept]))
        found.append((ts_ms[kept][order], end[kept][order]))
    return times, found


def _cuts(ts_ms: Ints, end: Floats, epoch: Floats) -> list[tuple[int, float]]:
    """When the first sample of a leader epoch lay below what was reached before, and where."""
    order = np.lexsort((ts_ms, epoch))
    starts = starts_of(epoch[order])
    tops = np.maximum.reduceat(end[order], starts)
    epochs = [
        (int(ts_ms[order[row]]), float(epoch[order[row]]), float(end[order[row]]), float(top))
        for row, top in zip(starts, tops, strict=True)
    ]
    reached, found = -1.0, []
    for when, _, begin, top in sorted(epochs):
        if begin < reached:
            found.append((when, begin))
        reached = max(reached, top)
    return found
