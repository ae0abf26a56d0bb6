"""What holds of each partition that a group reads: lag, time lag, rates, expiry.

The formulas of `spark_analytics.transforms` (time_lag, positions, group_expiry), over arrays; a
test holds both to the same results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from controlplane.analytics.verdicts.known import Floats, Truths
from controlplane.analytics.verdicts.logs import padded
from controlplane.analytics.verdicts.slopes import slopes_per_s
from controlplane.analytics.verdicts.trails import Stand
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Method
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S

STEADY = 0.02
"""A lag that grows by less than this share of real time is steady."""
METHODS = list(Method)
_UNKNOWN_METHOD = -1


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
    first_ms, there_by_ms, method = _first_unread(stand, logs, of_topic["oldest_ts_ms"], rules)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = _lags(stand, first_ms, there_by_ms) | _rates(trail)
        found |= _behind(found, rules)
        out_of_history = method == METHODS.index(Method.OUT_OF_HISTORY)
        born_ms = np.where(np.isnan(first_ms), of_topic["oldest_ts_ms"], first_ms)
        if not history_is_whole:
            born_ms = np.where(out_of_history, np.nan, born_ms)
        found |= _expiry(stand, found | of_topic | {"born_ms": born_ms}, rules)
    return Partitions(found, method)


def _first_unread(
    stand: Stand, logs: Logs | None, oldest_ms: Floats, rules: Rules
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """When the first unread record came, by when it was there at the latest, and how that is known
    (spark_analytics.transforms.time_lag).
    """
    at, end, now_ms = stand.committed, stand.end, stand.ts_ms
    left_ms, left, right_ms, right = _brackets(at, logs)
    open_end = ~(right_ms <= now_ms)
    closing_ms = np.where(open_end, now_ms, right_ms)
    closing = np.where(open_end, end, right)
    inside = (left_ms <= now_ms) & (closing_ms - left_ms <= rules.offset_samples_gap_max_s * 1000)
    method = np.select(
        [
            at < 0,
            np.isnan(end),
            at >= end,
            (at <= stand.start) & ~np.isnan(oldest_ms),
            inside,
        ],
        [
            METHODS.index(Method.NO_COMMIT),
            _UNKNOWN_METHOD,
            METHODS.index(Method.CAUGHT_UP),
            METHODS.index(Method.EXACT),
            METHODS.index(Method.INTERPOLATED),
        ],
        METHODS.index(Method.OUT_OF_HISTORY),
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        between = left_ms + (at - left) / (closing - left) * (closing_ms - left_ms)
    first_ms = np.select(
        [
            method == METHODS.index(Method.CAUGHT_UP),
            method == METHODS.index(Method.EXACT),
            method == METHODS.index(Method.INTERPOLATED),
        ],
        [np.full(len(at), now_ms), np.minimum(oldest_ms, now_ms), between],
        np.nan,
    )
    return first_ms, closing_ms, method


def _brackets(at: Floats, logs: Logs | None) -> tuple[Floats, Floats, Floats, Floats]:
    """The last true sample at or below each offset and the first above it: time and end of both."""
    width = len(at)
    nothing = np.full(width, np.nan)
    if logs is None:
        return nothing, nothing, nothing, nothing
    times, ends, is_true = logs.samples()
    if len(times) == 0:
        return nothing, nothing, nothing, nothing
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
    return (
        np.where(some_below, times[last], np.nan),
        np.where(some_below, ends[last, column], np.nan),
        np.where(some_above, times[first], np.nan),
        np.where(some_above, ends[first, column], np.nan),
    )


def _lags(stand: Stand, first_ms: Floats, there_by_ms: Floats) -> dict[str, Floats]:
    committed = stand.committed >= 0
    age_s = np.where(committed, (stand.ts_ms - first_ms) / 1000, np.nan)
    at_least_s = np.where(committed, (stand.ts_ms - there_by_ms) / 1000, np.nan)
    lag = np.where(committed, np.maximum(stand.end - stand.committed, 0), np.nan)
    readable_from = np.fmax(stand.committed, stand.start)
    return {
        "lag_records": lag,
        "lost_records": np.where(committed, readable_from - stand.committed, np.nan),
        "time_lag_s": age_s,
        "time_lag_at_least_s": np.where(np.isnan(age_s), at_least_s, age_s),
        "unchanged_s": (stand.ts_ms - stand.changed_ms) / 1000,
        "uncommitted_s": (stand.ts_ms - stand.waiting_ms) / 1000,
    }


def _rates(trail: Trail) -> dict[str, Floats]:
    stands = trail.trend()
    width = len(stands[-1].committed)
    times = np.array([stand.ts_ms for stand in stands])
    ends = np.stack([padded(stand.end, width) for stand in stands])
    committed = np.stack([padded(stand.committed, width) for stand in stands])
    steps = np.stack([padded(stand.step, width) for stand in stands])
    both = slopes_per_s(times, np.hstack([ends, committed]))
    return {
        "produce_rps": both[:width],
        "consume_rps": both[width:],
        "went_back": (steps < 0).any(axis=0).astype(float),
    }


def _behind(found: Mapping[str, Floats], rules: Rules) -> dict[str, Floats]:
    closing = found["consume_rps"] - found["produce_rps"]
    lag = found["lag_records"]
    # A group that is behind by less than what arrives between two samples is not behind.
    floor = np.maximum(
        float(rules.allowed_lag_records), np.nan_to_num(found["produce_rps"]) * SAMPLE_INTERVAL_S
    )
    fresh = found["time_lag_s"] <= rules.slo_s
    return {
        "eta_s": np.where(closing > 0, lag / closing, np.nan),
        "behind": np.where(np.isnan(lag), np.nan, (lag > floor) & ~fresh),
    }


def _expiry(stand: Stand, found: Mapping[str, Floats], rules: Rules) -> dict[str, Floats]:
    """spark_analytics.transforms.group_expiry"""
    keep_ms, keep_bytes = found["retention_ms"], found["retention_bytes"]
    by_time, by_size = keep_ms >= 0, keep_bytes >= 0
    produce, consume = found["produce_rps"], found["consume_rps"]
    readable_from = np.fmax(stand.committed, stand.start)
    unread_records = stand.end - readable_from
    unread: Truths = stand.end > readable_from
    held = stand.end - stand.start
    record_bytes = np.where(held > 0, found["size_bytes"] / held, np.nan)
    ingest = produce * record_bytes
    left_s = np.maximum((found["born_ms"] + keep_ms - stand.ts_ms) / 1000, 0.0)
    time_s = np.where(by_time, left_s, np.nan)
    fills = by_size & (ingest > 0)
    size_s = np.where(
        fills, np.maximum(keep_bytes - unread_records * record_bytes, 0.0) / ingest, np.nan
    )
    ageless = by_time & np.isnan(time_s)
    expires = np.where(unread & ~ageless, np.fmin(time_s, size_s), np.nan)
    keeps_up = (found["behind"] == 0) & (found["time_lag_s"] < expires)
    growth = np.select(
        [produce > 0, consume > 0, ~np.isnan(produce) & ~np.isnan(consume)],
        [np.minimum(1 - consume / produce, 1.0), np.zeros(len(produce)), np.ones(len(produce))],
        np.nan,
    )
    # What retention leaves, by its limits and the present rate.
    kept = np.fmin(
        np.where(by_time, keep_ms / 1000, np.nan), np.where(fills, keep_bytes / ingest, np.nan)
    )
    endless = np.where(
        np.isnan(keep_ms),
        np.nan,
        np.where(np.isnan(keep_bytes) & ~by_time, np.nan, ~by_time & (~by_size | (produce <= 0))),
    )
    return {
        "ingest_bytes_per_s": ingest,
        "unread": np.where(np.isnan(stand.end), np.nan, unread),
        "expires_s": expires,
        "keeps_up": keeps_up.astype(float),
        "first_loss_s": np.where(~keeps_up & (growth > STEADY), expires / growth, np.nan),
        "unlimited": endless,
        "soon_s": np.fmin(rules.at_risk_s, rules.at_risk_share * kept),
    }
