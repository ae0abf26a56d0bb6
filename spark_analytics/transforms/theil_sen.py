"""Theil-Sen slopes of many short series at once, in numpy: the median of all pairwise slopes.

One odd sample moves a difference quotient or a regression; it does not move this median. With a
window of 30 s and a trend of 600 s there are 21 points, 210 pairs. No Spark in here: the executors
get this module by value, and tests call it as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PAIRS_MAX = 1 << 21
"""Slopes held at once: 16 MiB, and as much again while they are sorted."""


def theil_sen_slopes(times: Sequence[Floats | None], values: Sequence[Floats | None]) -> Floats:
    """One slope a series, in units of `values` per unit of `times`, shape (n,).

    `times[i]` and `values[i]` have equal lengths; None is a series without points. NaN where there
    are no two points of distinct times.
    """
    found = np.full(len(times), np.nan)
    sizes = np.array([0 if series is None else len(series) for series in times], dtype=np.intp)
    wide = int(sizes.max(initial=0))
    if wide < 2:
        return found
    chosen = np.flatnonzero(sizes >= 2)
    step = max(1, PAIRS_MAX // (wide * (wide - 1) // 2))
    for start in range(0, len(chosen), step):
        rows = chosen[start : start + step]
        found[rows] = _medians(_pairwise(_padded(times, rows, wide), _padded(values, rows, wide)))
    return found


def frame_slopes(
    windows: Sequence[NDArray[np.int64]],
    times: Sequence[Floats],
    values: Sequence[Floats],
    trend: int,
    starts: Sequence[int],
) -> list[Floats]:
    """Slopes of each series at each of its windows, over the points of [window - trend, window].

    The arrays of a series have equal lengths, in any order; points whose value is NaN are left out.
    NaN in windows before the series' start.
    """
    found = [np.full(len(series), np.nan) for series in windows]
    frames: list[tuple[Floats, Floats]] = []
    places: list[tuple[int, int]] = []
    series_of = zip(windows, times, values, starts, strict=True)
    for number, (at, when, value, start) in enumerate(series_of):
        order = np.argsort(at, kind="stable")
        known = order[~np.isnan(value[order])]
        ends = np.searchsorted(at[known], at, side="right")
        begins = np.searchsorted(at[known], at - trend, side="left")
        for row in np.flatnonzero(at >= start):
            frame = known[begins[row] : ends[row]]
            frames.append((when[frame], value[frame]))
            places.append((number, int(row)))
    slopes = theil_sen_slopes([t for t, _ in frames], [v for _, v in frames])
    for (number, place), slope in zip(places, slopes, strict=True):
        found[number][place] = slope
    return found


def _padded(series: Sequence[Floats | None], rows: NDArray[np.intp], wide: int) -> Floats:
    """Shape (rows, wide), NaN behind the end of each."""
    grid = np.full((len(rows), wide), np.nan)
    for at, row in enumerate(rows):
        points = series[row]
        if points is not None:
            grid[at, : len(points)] = points
    return grid


def _pairwise(times: Floats, values: Floats) -> Floats:
    """Shape (rows, pairs), NaN where a point is missing or both are of one time."""
    first, second = np.triu_indices(times.shape[1], k=1)
    apart = times[:, second] - times[:, first]
    apart[apart == 0] = np.nan
    slopes: Floats = (values[:, second] - values[:, first]) / apart
    return slopes


def _medians(slopes: Floats) -> Floats:
    """Of each row without its NaN: the middle, the mean of the two middle ones when even."""
    slopes.sort(axis=1)  # NaN last
    counts = slopes.shape[1] - np.count_nonzero(np.isnan(slopes), axis=1)
    row = np.arange(len(slopes))
    low = slopes[row, np.maximum(counts - 1, 0) // 2]
    high = slopes[row, np.minimum(counts // 2, slopes.shape[1] - 1)]
    middle: Floats = (low + high) / 2
    return middle
