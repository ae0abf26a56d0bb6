"""The slopes in NumPy against the slow reference, over random series."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analytics.formulas import theil_sen
from spark_analytics.formulas.theil_sen import column_slopes, frame_slopes
from tests.spark_analytics import reference

points = st.lists(
    st.tuples(st.integers(0, 40), st.none() | st.integers(0, 10**12)), min_size=1, max_size=25
)


def laid(series):
    """The points of all series in a row, and where each begins and ends."""
    flat = [point for one in series for point in one]
    times = np.array([at for at, _ in flat], float)
    values = np.array([np.nan if value is None else value for _, value in flat], float)
    rows = np.cumsum([len(one) for one in series]) - 1
    return times, values, np.array([0, *(rows + 1)[:-1]])[: len(series)], rows


def expected(frame):
    found = reference.theil_sen([(at, value) for at, value in frame if value is not None])
    return np.nan if found is None else found


@given(st.lists(points, min_size=1, max_size=12))
def test_every_slope_is_the_reference_s(series):
    wanted = [expected(one) for one in series]
    assert frame_slopes(*laid(series)) == pytest.approx(wanted, rel=1e-12, nan_ok=True)


@given(st.lists(points, min_size=1, max_size=12))
def test_a_slope_does_not_depend_on_its_neighbours(series):
    alone = [frame_slopes(*laid([one]))[0] for one in series]
    assert np.array_equal(frame_slopes(*laid(series)), alone, equal_nan=True)


@given(points, st.data())
def test_any_part_of_a_series_is_a_frame(series, data):
    begins = [data.draw(st.integers(0, row)) for row in range(len(series))]
    times, values, _, _ = laid([series])
    found = frame_slopes(times, values, np.array(begins), np.arange(len(series)))
    wanted = [expected(series[begin : row + 1]) for row, begin in enumerate(begins)]
    assert found == pytest.approx(wanted, rel=1e-12, nan_ok=True)


@given(
    st.lists(st.integers(0, 40), max_size=22),
    st.lists(st.integers(0, 3), max_size=6),
    st.randoms(use_true_random=False),
)
def test_columns_are_series_of_the_same_times(times, columns, dice):
    values = [
        [None if dice.random() < 0.2 else dice.randrange(10**9) for _ in times] for _ in columns
    ]
    table = np.array([[np.nan if v is None else v for v in one] for one in values], float)
    table = table.reshape(len(columns), len(times)).T
    wanted = [expected(list(zip(times, one, strict=True))) for one in values]
    found = column_slopes(np.array(times, float), table)
    assert found == pytest.approx(wanted, rel=1e-12, nan_ok=True)


def test_frames_are_taken_in_parts(monkeypatch):
    series = [[(0, 0), (2, n), (3, 9)] for n in range(20)]
    whole = frame_slopes(*laid(series))
    monkeypatch.setattr(theil_sen, "PAIRS_MAX", 7)
    assert np.array_equal(frame_slopes(*laid(series)), whole)


def test_without_points_there_is_no_slope():
    assert np.isnan(frame_slopes(*laid([[(1, None)], [(1, 5)], [(1, 5), (1, 6)]]))).all()
    nothing = np.empty(0, dtype=np.intp)
    assert frame_slopes(np.empty(0), np.empty(0), nothing, nothing).shape == (0,)
