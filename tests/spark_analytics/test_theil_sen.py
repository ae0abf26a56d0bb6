"""The slopes in numpy against the slow reference, over random series."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analytics.transforms import theil_sen
from spark_analytics.transforms.theil_sen import frame_slopes, theil_sen_slopes
from tests.spark_analytics import reference

points = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10**12)), max_size=25)
many = st.lists(st.none() | points, max_size=12)


def slopes(series):
    columns = [
        [None if one is None else np.array([point[at] for point in one], float) for one in series]
        for at in (0, 1)
    ]
    return theil_sen_slopes(*columns)


@given(many)
def test_every_slope_is_the_reference_s(series):
    expected = [None if one is None else reference.theil_sen(one) for one in series]
    wanted = [np.nan if one is None else one for one in expected]
    assert slopes(series) == pytest.approx(wanted, rel=1e-12, nan_ok=True)


@given(many)
def test_a_slope_does_not_depend_on_its_neighbours(series):
    alone = [slopes([one])[0] for one in series]
    assert np.array_equal(slopes(series), alone, equal_nan=True)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 40), st.none() | st.integers(0, 10**6)), max_size=15)
    ),
    st.integers(0, 12),
    st.integers(0, 40),
)
def test_each_frame_of_a_series_has_the_slope_of_its_points(series, trend, start):
    columns = [
        [np.array([point[at] for point in one], kind) for one in series]
        for at, kind in ((0, int), (0, float), (1, float))
    ]
    for one, found in zip(
        series, frame_slopes(*columns, trend, [start] * len(series)), strict=True
    ):
        for (window, _), slope in zip(one, found, strict=True):
            frame = [
                (at, value)
                for at, value in one
                if value is not None and window - trend <= at <= window
            ]
            expected = reference.theil_sen(frame) if window >= start else None
            assert slope == pytest.approx(np.nan if expected is None else expected, nan_ok=True)


def test_series_are_taken_in_parts(monkeypatch):
    series = [[(0, 0), (2, n), (3, 9)] for n in range(20)]
    whole = slopes(series)
    monkeypatch.setattr(theil_sen, "PAIRS_MAX", 7)
    assert np.array_equal(slopes(series), whole)


def test_without_points_there_is_no_slope():
    assert np.isnan(slopes([None, [], [(1, 5)], [(1, 5), (1, 6)]])).all()
    assert slopes([]).shape == (0,)
