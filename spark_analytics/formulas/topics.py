"""What each topic holds, in bytes and in age, in each window."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spark_analytics.formulas import segments
from spark_analytics.formulas.known import Floats
from spark_analytics.formulas.segments import Indexes


def held(
    partitions: Mapping[str, Floats], sampled_ms: Floats, starts: Indexes
) -> dict[str, Floats]:
    """Of each slice of a topic, which begin at `starts`: `partitions`, `bytes`, `records`,
    `age_seconds`.

    Bytes and records count one replica (the leader's) of every partition and are NaN when one of
    them is unknown. The age is that of the oldest record held, NaN when there is none; producers
    stamp records, and one ahead of our clock is not of negative age.
    """
    records = partitions["log_end_offset"] - partitions["log_start_offset"]
    oldest_ms = segments.smallest(partitions["oldest_ts_ms"], starts)
    return {
        "partitions": np.diff(starts, append=len(records)).astype(float),
        "bytes": segments.sums_of_all(partitions["size_bytes"], starts),
        "records": segments.sums_of_all(records, starts),
        "age_seconds": np.maximum(sampled_ms - oldest_ms, 0) / 1000,
    }
