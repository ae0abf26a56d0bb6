"""Where each group stands in each partition, in each window: what gold and rollups are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analytics.contracts.rules import Rules
from spark_analytics.formulas.histories import histories
from spark_analytics.formulas.known import Floats
from spark_analytics.formulas.partitions import Stands, behind, expiry, first_unread, lags
from spark_analytics.formulas.samples import GroupSamples, TopicSamples
from spark_analytics.formulas.trails import trails

OF_TOPIC = ("size_bytes", "oldest_ts_ms", "retention_ms", "retention_bytes")


@dataclass(frozen=True, slots=True)
class Standings:
    """By partition, in the order of the group samples. `found` has the names of `partitions` and
    `trails`, and `OF_TOPIC`: the topic's in the same window, NaN when it was not sampled then.
    """

    stands: Stands
    found: dict[str, Floats]
    method: NDArray[np.int64]


def lagging(topics: TopicSamples, groups: GroupSamples, logs: int, rules: Rules) -> Standings:
    """What one sample says, with the history of the logs: up to the time lag."""
    of_topic = _of_topic(topics, groups)
    stands = Stands(
        groups.ts_ms.astype(float),
        groups.committed_offset,
        groups.log_start_offset,
        groups.log_end_offset,
    )
    known = histories(topics, logs)
    around = known.brackets(groups.log, groups.ts_ms, groups.committed_offset)
    first = first_unread(stands, around, of_topic["oldest_ts_ms"], rules)
    born_ms = np.where(np.isnan(first.at_ms), of_topic["oldest_ts_ms"], first.at_ms)
    found = of_topic | lags(stands, first) | {"born_ms": born_ms}
    return Standings(stands, found, first.method)


def judged(topics: TopicSamples, groups: GroupSamples, logs: int, rules: Rules) -> Standings:
    """The same with rates, and when retention takes what is unread."""
    one = lagging(topics, groups, logs, rules)
    trail = trails(groups, rules.trend_s * 1000)
    found = one.found | {
        "unchanged_s": trail.unchanged_s,
        "uncommitted_s": trail.uncommitted_s,
        "went_back": trail.went_back.astype(float),
        "produce_rps": trail.produce_rps,
        "consume_rps": trail.consume_rps,
    }
    found |= behind(found, rules)
    found |= expiry(one.stands, found, rules)
    return Standings(one.stands, found, one.method)


def _of_topic(topics: TopicSamples, groups: GroupSamples) -> dict[str, Floats]:
    if len(topics.log) == 0:
        return {name: np.full(len(groups.log), np.nan) for name in OF_TOPIC}
    windows = np.unique(topics.window_ms)
    wide = len(windows) + 1
    keys = topics.log * wide + np.searchsorted(windows, topics.window_ms)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    place = np.searchsorted(windows, groups.window_ms)
    sampled = place < len(windows)
    sampled &= windows[np.minimum(place, len(windows) - 1)] == groups.window_ms
    wanted = groups.log * wide + place
    row = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    there = sampled & (keys[row] == wanted)
    return {name: np.where(there, getattr(topics, name)[order[row]], np.nan) for name in OF_TOPIC}
