"""What is known of the logs of one topic: when each had which end, as far as that is still true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spark_analytics.formulas.known import Floats, Truths

FINE_S = 1_800
"""So far back every window's sample is kept, further back one in `COARSE_S`."""
COARSE_S = 240
"""Less than `Rules.offset_samples_gap_max_s`, so that times can be interpolated between two."""


class TopicLogs:
    """Log ends of every partition of one topic by window: shapes (samples,) and (samples, p).

    At most `FINE_S / window_s + lookback_s / COARSE_S` samples of 9 bytes a partition: 3.6 KiB with
    30 s windows and 24 h. The newest window's sample is `now`, and replaced while it lasts.
    """

    def __init__(self, topic_id: str, *, window_ms: int, lookback_ms: int) -> None:
        self.topic_id = topic_id
        self._window_ms, self._lookback_ms = window_ms, lookback_ms
        self._windows = np.empty(0, dtype=np.int64)
        self._times = np.empty(0)
        self._ends = np.empty((0, 0))
        self._is_true = np.empty((0, 0), dtype=bool)
        self._epoch, self._cut_ms, self._reached = np.empty(0), np.empty(0), np.empty(0)
        self.now: dict[str, Any] | None = None
        self._samples: tuple[Floats, Floats, Truths] | None = None

    def see(self, record: Mapping[str, Any]) -> None:
        """A topic slice that is not older than the one before."""
        self._samples = None
        window = record["ts_ms"] - record["ts_ms"] % self._window_ms
        if self.now is not None and self.now["window"] != window:
            self._keep()
        self.now = {
            "window": window,
            "ts_ms": float(record["ts_ms"]),
            "retention_ms": _number(record["retention_ms"]),
            "retention_bytes": _number(record["retention_bytes"]),
            **{
                name: by_partition(record, name)
                for name in ("leader_epoch", "log_end_offset", "size_bytes", "oldest_ts_ms")
            },
        }

    def forget_after(self, window: int) -> None:
        """The clock was set back: what is dated later did not happen yet."""
        self._samples = None
        kept = self._windows <= window
        self._take(kept)
        self.now = None

    def samples(self) -> tuple[Floats, Floats, Truths]:
        """Times (n,), ends (n, p) and which of these are true of the log as it is, `now` included;
        true ends rise with time.
        """
        # Every group that reads the topic asks for them; see `forget_samples`.
        if self._samples is None:
            self._samples = self._with_now()
        return self._samples

    def forget_samples(self) -> None:
        """Put together again when they are asked for next: they are as large as what is kept."""
        self._samples = None

    def _with_now(self) -> tuple[Floats, Floats, Truths]:
        if self.now is None:
            return self._times, self._ends, self._is_true
        ends = self.now["log_end_offset"]
        self._widen(len(ends))
        ends = padded(ends, self._ends.shape[1])
        still, _ = self._still_true(ends)
        times = np.append(self._times, self.now["ts_ms"])
        return times, np.vstack([self._ends, ends]), np.vstack([still, ~np.isnan(ends)])

    def span_ms(self) -> float:
        """From the oldest sample to the newest."""
        times, _, _ = self.samples()
        return float(times[-1] - times[0]) if len(times) else 0.0

    def _keep(self) -> None:
        last = self.now
        if last is None:
            return
        ends = last["log_end_offset"]
        self._widen(len(ends))
        width = self._ends.shape[1]
        ends = padded(ends, width)
        self._is_true, cut = self._still_true(ends)
        known = ~np.isnan(ends)
        epoch = padded(last["leader_epoch"], width, -1.0)
        self._cut_ms = np.where(cut, last["ts_ms"], self._cut_ms)
        self._epoch = np.where(known, np.nan_to_num(epoch, nan=-1.0), self._epoch)
        self._reached = np.fmax(self._reached, ends)
        self._windows = np.append(self._windows, last["window"])
        self._times = np.append(self._times, last["ts_ms"])
        self._ends = np.vstack([self._ends, ends])
        self._is_true = np.vstack([self._is_true, known])
        self._thin(last["window"])

    def _still_true(self, ends: Floats) -> tuple[Truths, Truths]:
        """Which samples lie at or below these ends, and of which partitions the log was cut: the
        first of a new leader epoch is below what was reached. Without one only the samples since
        the last cut are doubted.
        """
        now = self.now or {}
        epoch = np.nan_to_num(padded(now["leader_epoch"], len(ends), -1.0), nan=-1.0)
        with np.errstate(invalid="ignore"):
            cut = (epoch != self._epoch) & (ends < self._reached)
            above = self._ends > ends
        since = self._times[:, None] >= self._cut_ms[None, :]
        return self._is_true & ~(above & (cut[None, :] | since)), cut

    def _thin(self, window: int) -> None:
        age = window - self._windows
        fine = age <= FINE_S * 1000
        slot = self._windows // (COARSE_S * 1000)
        first = np.append(True, slot[1:] != slot[:-1])
        kept = (age <= self._lookback_ms) & (fine | first)
        if not kept.all():
            self._take(kept)

    def _take(self, kept: Truths) -> None:
        self._windows, self._times = self._windows[kept], self._times[kept]
        self._ends, self._is_true = self._ends[kept], self._is_true[kept]

    def _widen(self, width: int) -> None:
        more = width - self._ends.shape[1]
        if more <= 0:
            return
        rows = len(self._times)
        self._ends = np.hstack([self._ends, np.full((rows, more), np.nan)])
        self._is_true = np.hstack([self._is_true, np.zeros((rows, more), dtype=bool)])
        self._epoch = np.append(self._epoch, np.full(more, -1.0))
        self._cut_ms = np.append(self._cut_ms, np.full(more, -np.inf))
        self._reached = np.append(self._reached, np.full(more, np.nan))


def by_partition(record: Mapping[str, Any], name: str) -> Floats:
    """A slice's array by partition number, NaN where it has none or does not know."""
    partitions = np.asarray(record["partition"], dtype=np.intp)
    found = np.full(int(partitions.max(initial=-1)) + 1, np.nan)
    found[partitions] = np.asarray(record[name], dtype=float)
    return found


def padded(values: Floats, width: int, filler: float = np.nan) -> Floats:
    if len(values) >= width:
        return values
    return np.append(values, np.full(width - len(values), filler))


def _number(value: int | None) -> float:
    return np.nan if value is None else float(value)
