"""Theil-Sen slopes of many short frames at once: the median of all pairwise slopes.

One odd sample moves a difference quotient or a regression; it does not move this median. With a
window of 30 s and a trend of 600 s there are 21 points, 210 pairs.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from spark_analytics.formulas.known import Floats
from spark_analytics.formulas.segments import Indexes

PAIRS_MAX = 1 << 20
"""Slopes held at once: 8 MiB, and a few times that while they are made."""


def frame_slopes(times: Floats, values: Floats, begins: Indexes, rows: Indexes) -> Floats:
    """Of each of these rows the slope over [its begin, the row], in units of `values` per unit of
    `times`.

    `times` and `values` run in parallel, `begins` and `rows` too; points whose value is NaN are
    left out. NaN where there are no two points of distinct times.
    """
    found = np.full(len(rows), np.nan)
    lengths = rows - begins + 1
    # Frames that are alike are as wide as themselves, not as the widest.
    for wide in np.unique(lengths):
        if wide < 2:
            continue
        mine = np.flatnonzero(lengths == wide)
        step = max(1, PAIRS_MAX // (int(wide) * (int(wide) - 1) // 2))
        offsets = np.arange(wide)
        for start in range(0, len(mine), step):
            some = mine[start : start + step]
            points = begins[some][:, None] + offsets
            found[some] = medians(_pairwise(times[points], values[points]))
    return found


def column_slopes(times: Floats, values: Floats) -> Floats:
    """The slope of each column of `values` of shape (n, series) at `times` of shape (n,)."""
    if len(times) < 2 or values.shape[1] == 0:
        return np.full(values.shape[1], np.nan)
    first, second = _pairs(len(times))
    apart = times[second] - times[first]
    apart[apart == 0] = np.nan
    return medians(np.ascontiguousarray(((values[second] - values[first]) / apart[:, None]).T))


def medians(slopes: Floats) -> Floats:
    """Of each row without its NaN: the middle, the mean of the two middle ones when even. Sorts
    the rows, which NumPy does in a fraction of the time in which it would partition them.
    """
    slopes.sort(axis=1)  # NaN last
    counts = slopes.shape[1] - np.count_nonzero(np.isnan(slopes), axis=1)
    row = np.arange(len(slopes))
    low = slopes[row, np.maximum(counts - 1, 0) // 2]
    high = slopes[row, np.minimum(counts // 2, slopes.shape[1] - 1)]
    middle: Floats = (low + high) / 2
    return middle


def _pairwise(times: Floats, values: Floats) -> Floats:
    """Shape (rows, pairs), NaN where a value is missing or both are of one time."""
    first, second = _pairs(times.shape[1])
    apart = times[:, second] - times[:, first]
    apart[apart == 0] = np.nan
    slopes: Floats = (values[:, second] - values[:, first]) / apart
    return slopes


@lru_cache(maxsize=64)
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(count, k=1)
