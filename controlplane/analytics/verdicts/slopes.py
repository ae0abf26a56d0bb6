"""Theil–Sen slopes of several series that were sampled at the same times."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from controlplane.analytics.verdicts.known import Floats


def slopes_per_s(times_ms: Floats, values: Floats) -> Floats:
    """The median of all pairwise slopes of each column, per second; NaN below two known points of
    distinct times.

    `times_ms` has shape (n,), `values` (n, series) with NaN where unknown. The same as
    `spark_analytics.transforms.theil_sen` computes.
    """
    if len(times_ms) < 2 or values.shape[1] == 0:
        return np.full(values.shape[1], np.nan)
    first, second = _pairs(len(times_ms))
    apart = times_ms[second] - times_ms[first]
    apart[apart == 0] = np.nan
    found = (values[second] - values[first]) / apart[:, None]
    found.sort(axis=0)  # NaN last
    counts = len(found) - np.count_nonzero(np.isnan(found), axis=0)
    column = np.arange(found.shape[1])
    low = found[np.maximum(counts - 1, 0) // 2, column]
    high = found[np.minimum(counts // 2, len(found) - 1), column]
    middle: Floats = (low + high) / 2 * 1000
    return middle


@cache
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(count, k=1)
