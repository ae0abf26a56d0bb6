"""What holds of each partition that a group reads: lag, time lag, rates, expiry.

By the formulas of `spark_analytics.formulas`, of the newest stand alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from controlplane.analytics.verdicts.logs import padded
from controlplane.analytics.verdicts.trails import Stand
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Method
from spark_analytics.formulas.histories import Brackets
from spark_analytics.formulas.known import Floats, Truths
from spark_analytics.formulas.partitions import (
    METHODS,
    Stands,
    behind,
    expiry,
    first_unread,
    lags,
)
from spark_analytics.formulas.theil_sen import column_slopes


@dataclass(frozen=True, slots=True)
class Partitions:
    """Arrays with one element per partition; NaN is unknown. Names as in gold."""

    facts: Mapping[str, Floats]
    method: NDArray[np.int64]
    """Index into `METHODS`, -1 where there is none."""

    def __getitem__(self, name: str) -> Floats:
        return self.facts[name]


class Trail(Protocol):
    """What is asked of a `GroupTrail`."""

    @property
    def stands(self) -> Sequence[Stand]: ...
    def trend(self) -> list[Stand]: ...


class Logs(Protocol):
    """What is asked of `TopicLogs`; retention is one number, or one a partition."""

    @property
    def now(self) -> Mapping[str, Any] | None: ...
    def samples(self) -> tuple[Floats, Floats, Truths]: ...


def partitions(
    trail: Trail, logs: Logs | None, rules: Rules, *, history_is_whole: bool
) -> Partitions:
    """Of the newest stand. `logs` are None when the topic was not sampled with the group; unless
    `history_is_whole` a record that is older than what is known has no known age.
    """
    stand, width = trail.stands[-1], len(trail.stands[-1].committed)
    now = logs.now if logs is not None else None
    if now is not None and now["window"] != stand.window:
        now = None
    nothing = np.full(width, np.nan)
    of_topic = {
        name: padded(now[name], width)[:width] if now else nothing
        for name in ("size_bytes", "oldest_ts_ms")
    }
    for name in ("retention_ms", "retention_bytes"):
        of_topic[name] = np.full(width, now[name] if now else np.nan)
    now_ms = np.full(width, stand.ts_ms)
    stands = Stands(now_ms, stand.committed, stand.start, stand.end)
    first = first_unread(stands, _brackets(stand.committed, logs), of_topic["oldest_ts_ms"], rules)
    found = lags(stands, first) | _trail(trail)
    found |= behind(found, rules)
    born_ms = np.where(np.isnan(first.at_ms), of_topic["oldest_ts_ms"], first.at_ms)
    if not history_is_whole:
        out_of_history = first.method == METHODS.index(Method.OUT_OF_HISTORY)
        born_ms = np.where(out_of_history, np.nan, born_ms)
    found |= expiry(stands, found | of_topic | {"born_ms": born_ms}, rules)
    return Partitions(found, first.method)


def _brackets(at: Floats, logs: Logs | None) -> Brackets:
    """The last true sample at or below each offset and the first above it: time and end of both."""
    width = len(at)
    nothing = np.full(width, np.nan)
    if logs is None:
        return Brackets(nothing, nothing, nothing, nothing)
    times, ends, is_true = logs.samples()
    if len(times) == 0:
        return Brackets(nothing, nothing, nothing, nothing)
    ends, is_true = ends[:, :width], is_true[:, :width]
    if ends.shape[1] < width:
        more = ((0, 0), (0, width - ends.shape[1]))
        ends = np.pad(ends, more, constant_values=np.nan)
        is_true = np.pad(is_true, more, constant_values=False)
    with np.errstate(invalid="ignore"):
        below, above = is_true & (ends <= at), is_true & (ends > at)
    # True ends rise with time: the last below and the first above are neighbours.
    last = len(times) - 1 - below[::-1].argmax(axis=0)
    first = above.argmax(axis=0)
    some_below, some_above = below.any(axis=0), above.any(axis=0)
    column = np.arange(width)
    return Brackets(
        np.where(some_below, times[last], np.nan),
        np.where(some_below, ends[last, column], np.nan),
        np.where(some_above, times[first], np.nan),
        np.where(some_above, ends[first, column], np.nan),
    )


def _trail(trail: Trail) -> dict[str, Floats]:
    """What the stands of the trend say (`spark_analytics.formulas.trails`)."""
    stands = trail.trend()
    last, width = stands[-1], len(stands[-1].committed)
    times = np.array([stand.ts_ms for stand in stands])
    ends = np.stack([padded(stand.end, width) for stand in stands])
    committed = np.stack([padded(stand.committed, width) for stand in stands])
    steps = np.stack([padded(stand.step, width) for stand in stands])
    both = column_slopes(times, np.hstack([ends, committed])) * 1000
    return {
        "produce_rps": both[:width],
        "consume_rps": both[width:],
        "went_back": (steps < 0).any(axis=0).astype(float),
        "unchanged_s": (last.ts_ms - last.changed_ms) / 1000,
        "uncommitted_s": (last.ts_ms - last.waiting_ms) / 1000,
    }
