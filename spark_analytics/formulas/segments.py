"""Sums and extremes of runs of equal rows in a flat array, and where things are in sorted runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_analytics.formulas.known import Floats, Truths

Indexes = NDArray[np.intp]


def starts_of(*keys: NDArray[Any]) -> Indexes:
    """Where each run of rows begins that are equal in all of these sorted keys."""
    count = len(keys[0])
    if count == 0:
        return np.empty(0, dtype=np.intp)
    begins = np.zeros(count, dtype=bool)
    begins[0] = True
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(begins)


def run_of(starts: Indexes, count: int) -> Indexes:
    """Of each of `count` rows the number of its run."""
    marks = np.zeros(count, dtype=np.intp)
    marks[starts] = 1
    found: Indexes = np.cumsum(marks) - 1
    return found


def counts(truths: Truths, starts: Indexes) -> NDArray[np.int64]:
    """How many are true, by run."""
    found: NDArray[np.int64] = np.add.reduceat(truths.astype(np.int64), starts)
    return found


def sums(values: Floats, starts: Indexes) -> Floats:
    """By run, NaN left out; NaN where all are."""
    known = ~np.isnan(values)
    added = np.add.reduceat(np.where(known, values, 0.0), starts)
    return np.where(counts(known, starts) > 0, added, np.nan)


def sums_of_all(values: Floats, starts: Indexes) -> Floats:
    """By run, NaN where one is: partial is not a number."""
    found: Floats = np.add.reduceat(values, starts)
    return found


def largest(values: Floats, starts: Indexes) -> Floats:
    """By run, NaN left out."""
    found: Floats = np.fmax.reduceat(values, starts)
    return found


def smallest(values: Floats, starts: Indexes) -> Floats:
    """By run, NaN left out."""
    found: Floats = np.fmin.reduceat(values, starts)
    return found


def last_true(truths: Truths) -> Indexes:
    """Of each row the last row so far that is true; -1 before the first."""
    rows = np.where(truths, np.arange(len(truths)), -1)
    found: Indexes = np.maximum.accumulate(rows)
    return found


def next_true(truths: Truths) -> Indexes:
    """Of each row the first from it on that is true; the count of rows behind the last."""
    rows = np.where(truths, np.arange(len(truths)), len(truths))
    found: Indexes = np.minimum.accumulate(rows[::-1])[::-1]
    return found


def above(values: Floats, lows: Indexes, highs: Indexes, wanted: Floats) -> Indexes:
    """The first row of each [low, high), whose values rise, that is above what is wanted there; the
    high one where none is.
    """
    low, high = lows.copy(), highs.copy()
    while (looking := low < high).any():
        middle = np.where(looking, (low + high) // 2, 0)
        is_above = values[middle] > wanted
        high = np.where(looking & is_above, middle, high)
        low = np.where(looking & ~is_above, middle + 1, low)
    return low


def whole_sums(values: Floats, starts: Indexes) -> Floats:
    """By run, each to the millionth, NaN left out; NaN where all are.

    A sum of doubles differs in its last digits with the order of the addends; one of whole
    millionths does not, up to 9 billion in all.
    """
    known = ~np.isnan(values)
    millionths = np.rint(np.where(known, values, 0.0) * 1e6)
    added = np.add.reduceat(millionths, starts) / 1e6
    return np.where(counts(known, starts) > 0, added, np.nan)
