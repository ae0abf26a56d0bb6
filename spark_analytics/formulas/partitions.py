"""What holds of each partition that a group reads: lag, time lag, expiry.

All arguments are arrays that run in parallel, one element per partition (and window); a scalar
stands for all. NaN is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Method
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S
from spark_analytics.formulas.histories import Brackets
from spark_analytics.formulas.known import Floats, Truths

STEADY: Final = 0.02
"""A lag that grows by less than this share of real time is steady; trends draw the line there."""
METHODS: Final = sorted(Method)
"""By name, which decides where several are equally true."""
NO_METHOD: Final = -1
_CAUGHT_UP = METHODS.index(Method.CAUGHT_UP)
_EXACT = METHODS.index(Method.EXACT)
_INTERPOLATED = METHODS.index(Method.INTERPOLATED)


@dataclass(frozen=True, slots=True)
class Stands:
    """Where a group stands in each partition, and when that was sampled."""

    ts_ms: Floats
    committed: Floats
    start: Floats
    end: Floats


@dataclass(frozen=True, slots=True)
class FirstUnread:
    """When the first unread record came, by when it was there at the latest, and how that is
    known: an index into `METHODS`, -1 where the log end is unknown.
    """

    at_ms: Floats
    there_by_ms: Floats
    method: NDArray[np.int64]


def first_unread(stands: Stands, found: Brackets, oldest_ms: Floats, rules: Rules) -> FirstUnread:
    """By bracketing the committed offset with samples of the log's end.

    The first unread record, at the committed offset, was appended after the last sample at or
    below that offset and not after the first sample above it; its time is interpolated between the
    two. Below the oldest sample nothing is extrapolated, and across a gap, left by a collector that
    was down, nothing is interpolated: the time is unknown and the method `out_of_history`. A group
    that stands at the first record of the log needs no estimate, that record's time is known.
    """
    at, end, now_ms = stands.committed, stands.end, stands.ts_ms
    with np.errstate(invalid="ignore", divide="ignore"):
        # The upper bracket is the position's own log end while no sample is above it yet.
        is_open = ~(found.right_ms <= now_ms)
        closing_ms = np.where(is_open, now_ms, found.right_ms)
        closing = np.where(is_open, end, found.right)
        near = closing_ms - found.left_ms <= rules.offset_samples_gap_max_s * 1000
        inside = (found.left_ms <= now_ms) & near
        method = np.select(
            [
                at < 0,
                np.isnan(end),
                at >= end,
                (at <= stands.start) & ~np.isnan(oldest_ms),
                inside,
            ],
            [METHODS.index(Method.NO_COMMIT), NO_METHOD, _CAUGHT_UP, _EXACT, _INTERPOLATED],
            METHODS.index(Method.OUT_OF_HISTORY),
        )
        between = found.left_ms + (at - found.left) / (closing - found.left) * (
            closing_ms - found.left_ms
        )
    at_ms = np.select(
        [method == _CAUGHT_UP, method == _EXACT, method == _INTERPOLATED],
        [np.broadcast_to(now_ms, at.shape), np.minimum(oldest_ms, now_ms), between],
        np.nan,
    )
    return FirstUnread(at_ms, closing_ms, method)


def lags(stands: Stands, first: FirstUnread) -> dict[str, Floats]:
    """`lag_records`, `lost_records`, `time_lag_s`, `time_lag_at_least_s`; NaN without a commit."""
    committed = stands.committed >= 0
    with np.errstate(invalid="ignore"):
        age_s = np.where(committed, (stands.ts_ms - first.at_ms) / 1000, np.nan)
        at_least_s = np.where(committed, (stands.ts_ms - first.there_by_ms) / 1000, np.nan)
        lag = np.where(committed, np.maximum(stands.end - stands.committed, 0), np.nan)
        readable_from = np.fmax(stands.committed, stands.start)
        lost = np.where(committed, readable_from - stands.committed, np.nan)
    return {
        "lag_records": lag,
        "lost_records": lost,
        "time_lag_s": age_s,
        "time_lag_at_least_s": np.where(np.isnan(age_s), at_least_s, age_s),
    }


def behind(found: Mapping[str, Floats], rules: Rules) -> dict[str, Floats]:
    """`eta_s`, and `behind`: 1, 0 or unknown."""
    lag = found["lag_records"]
    # A group that is behind by less than what arrives between two samples is not behind.
    arriving = np.nan_to_num(found["produce_rps"]) * SAMPLE_INTERVAL_S
    floor = np.maximum(float(rules.allowed_lag_records), arriving)
    with np.errstate(invalid="ignore", divide="ignore"):
        closing = found["consume_rps"] - found["produce_rps"]
        fresh = found["time_lag_s"] <= rules.slo_s
        return {
            "eta_s": np.where(closing > 0, lag / closing, np.nan),
            "behind": np.where(np.isnan(lag), np.nan, (lag > floor) & ~fresh),
        }


def expiry(stands: Stands, found: Mapping[str, Floats], rules: Rules) -> dict[str, Floats]:
    """When retention takes the oldest unread record, and when the group loses its first one.

    Of `found`: the topic's `size_bytes`, `retention_ms`, `retention_bytes`; `born_ms`, when the
    oldest unread record came, or one before it; rates and `behind`. Truths are 1, 0 or unknown.
    A lower bound, for a segment goes only when its newest record is out. `first_loss_s` is when, at
    the present rates, the group's lag reaches what the topic keeps; unknown when it keeps up or
    catches up.
    """
    keep_ms, keep_bytes = found["retention_ms"], found["retention_bytes"]
    by_time, by_size = keep_ms >= 0, keep_bytes >= 0
    produce = found["produce_rps"]
    with np.errstate(invalid="ignore", divide="ignore"):
        readable_from = np.fmax(stands.committed, stands.start)
        unread: Truths = stands.end > readable_from
        held = stands.end - stands.start
        record_bytes = np.where(held > 0, found["size_bytes"] / held, np.nan)
        ingest = produce * record_bytes
        left_s = np.maximum((found["born_ms"] + keep_ms - stands.ts_ms) / 1000, 0.0)
        time_s = np.where(by_time, left_s, np.nan)
        fills = by_size & (ingest > 0)
        free_bytes = np.maximum(keep_bytes - (stands.end - readable_from) * record_bytes, 0.0)
        size_s = np.where(fills, free_bytes / ingest, np.nan)
        ageless = by_time & np.isnan(time_s)
        expires = np.where(unread & ~ageless, np.fmin(time_s, size_s), np.nan)
        keeps_up = (found["behind"] == 0) & (found["time_lag_s"] < expires)
        growth = _growth(produce, found["consume_rps"])
        # What is kept, by both limits and at the present rate of writing.
        kept = np.fmin(
            np.where(by_time, keep_ms / 1000, np.nan), np.where(fills, keep_bytes / ingest, np.nan)
        )
        first_loss = np.where(~keeps_up & (growth > STEADY), expires / growth, np.nan)
    return {
        "ingest_bytes_per_s": ingest,
        "unread": np.where(np.isnan(stands.end), np.nan, unread),
        "expires_s": expires,
        "keeps_up": keeps_up.astype(float),
        "first_loss_s": first_loss,
        "unlimited": _unlimited(keep_ms, keep_bytes, produce),
        "soon_s": np.fmin(rules.at_risk_s, rules.at_risk_share * kept),
    }


def _growth(produce: Floats, consume: Floats) -> Floats:
    """By how many seconds the lag in time grows each second. Where nothing new comes, who reads
    gets there, and who does not ages with the records.
    """
    return np.select(
        [produce > 0, consume > 0, ~np.isnan(produce) & ~np.isnan(consume)],
        [np.minimum(1 - consume / produce, 1.0), np.zeros(len(produce)), np.ones(len(produce))],
        np.nan,
    )


def _unlimited(keep_ms: Floats, keep_bytes: Floats, produce: Floats) -> Floats:
    by_time, by_size = keep_ms >= 0, keep_bytes >= 0
    nothing_taken = ~by_time & (~by_size | (produce <= 0))
    unknown = np.isnan(keep_ms) | (np.isnan(keep_bytes) & ~by_time)
    return np.where(unknown, np.nan, nothing_taken)
