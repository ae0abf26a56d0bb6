"""Slices laid flat: one row a partition and window, in arrays that run in parallel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analytics.formulas.known import Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSamples:
    """Samples of logs, in any order. NaN is unknown.

    `log` numbers the logs (cluster, topic, topic id, partition).
    """

    log: Ints
    window_ms: Ints
    ts_ms: Ints
    leader_epoch: Floats
    log_end_offset: Floats
    size_bytes: Floats
    oldest_ts_ms: Floats
    retention_ms: Floats
    retention_bytes: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSamples:
    """Where groups stood, sorted by `slice`. NaN is unknown.

    `log` numbers as in `TopicSamples`; `series` numbers (group, log); `slice` numbers (group,
    topic, topic id, window), rising with the window within a group's topic. `from_ms`: rows of
    windows before it are there for trends and have no rates, the costly part.
    """

    slice: Ints
    series: Ints
    log: Ints
    window_ms: Ints
    ts_ms: Ints
    from_ms: Ints
    committed_offset: Floats
    log_start_offset: Floats
    log_end_offset: Floats
