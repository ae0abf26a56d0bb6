"""Where one group stood on one topic in each window of the trend."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from controlplane.analytics.verdicts.logs import by_partition, padded
from spark_analytics.formulas.known import Floats


@dataclass(slots=True)
class Stand:
    """One window's last slice, arrays by partition; NaN is unknown, or no row of that partition.

    `changed_ms`: since when the committed offset stands still. `waiting_ms`: since when records are
    there and nothing is committed; NaN when not so. `step`: how far the committed offset moved
    since the window before. `lag_records`: the group's, over the committed partitions; NaN when
    there is none or one is unknown.
    """

    window: int
    ts_ms: float
    committed: Floats
    start: Floats
    end: Floats
    changed_ms: Floats
    waiting_ms: Floats
    step: Floats
    state: str | None
    members: float
    lag_records: float


class GroupTrail:
    """The stands of the last `trend_ms`: 48 bytes a partition and window, 1.1 KiB with 22."""

    def __init__(self, topic_id: str, *, window_ms: int, trend_ms: int) -> None:
        self.topic_id = topic_id
        self._window_ms, self._trend_ms = window_ms, trend_ms
        self.stands: deque[Stand] = deque()

    def see(self, record: Mapping[str, Any]) -> None:
        """A group slice that is not older than the one before."""
        window = record["ts_ms"] - record["ts_ms"] % self._window_ms
        if self.stands and self.stands[-1].window == window:
            self.stands.pop()
        # What was not there for longer than trends look is another one of that name.
        if self.stands and window - self.stands[-1].window > self._trend_ms:
            self.stands.clear()
        before = self.stands[-1] if self.stands else None
        self.stands.append(_stand(record, window, before))
        # One more than the trend has, whose step the first of the trend needs.
        while len(self.stands) > 1 and self.stands[1].window < window - self._trend_ms:
            self.stands.popleft()

    def forget_after(self, window: int) -> None:
        """The clock was set back: what is dated later did not happen yet."""
        while self.stands and self.stands[-1].window > window:
            self.stands.pop()

    def trend(self) -> list[Stand]:
        """The stands of the trend window, the newest last."""
        oldest = self.stands[-1].window - self._trend_ms
        return [stand for stand in self.stands if stand.window >= oldest]


def _stand(record: Mapping[str, Any], window: int, before: Stand | None) -> Stand:
    committed = by_partition(record, "committed_offset")
    start, end = by_partition(record, "log_start_offset"), by_partition(record, "log_end_offset")
    ts_ms, width = float(record["ts_ms"]), len(committed)
    nothing = np.full(width, np.nan)
    was = padded(before.committed, width)[:width] if before else nothing
    step = committed - was
    changed_before = padded(before.changed_ms, width)[:width] if before else nothing
    waited_before = padded(before.waiting_ms, width)[:width] if before else nothing
    # A series begins with a "change": nothing is known of the time before.
    stood = (step == 0) & ~np.isnan(changed_before)
    waits = (committed < 0) & (end > start)
    # The time before is its own: the commit was still there, or nothing is known.
    begun_ms = np.where(np.isnan(was), ts_ms, before.ts_ms if before else ts_ms)
    since_ms = np.where(np.isnan(waited_before), begun_ms, waited_before)
    members = record["members"]
    return Stand(
        window=window,
        ts_ms=ts_ms,
        committed=committed,
        start=start,
        end=end,
        changed_ms=np.where(stood, changed_before, ts_ms),
        waiting_ms=np.where(waits, since_ms, np.nan),
        step=step,
        state=record["state"],
        members=np.nan if members is None else float(members),
        lag_records=_lag_records(committed, end),
    )


def _lag_records(committed: Floats, end: Floats) -> float:
    of_group = committed >= 0
    lags = np.maximum(end - committed, 0)[of_group]
    return float(lags.sum()) if of_group.any() else np.nan
