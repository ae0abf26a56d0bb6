"""Robust rates of Spark's rows: what `theil_sen` computes, over Arrow batches of whole series.

A frame that slides over a series would be collected again for each of its rows: here each series
is collected once, and numpy takes the frames out of it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pandas as pd
from pyspark import cloudpickle
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows
from pyspark.sql.types import ArrayType, DoubleType

from spark_analytics.transforms import theil_sen as kernel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

# Executors need numpy and pandas, but no copy of this package.
for module in (kernel, sys.modules[__name__]):
    cloudpickle.register_pickle_by_value(module)


def with_slopes(
    rows: DataFrame,
    series: Sequence[str],
    at_ms: str,
    slopes: Mapping[str, str],
    *,
    trend_s: int,
    from_ms: Column,
) -> DataFrame:
    """The rows, and by each name of `slopes` the units per second of its column.

    `series` are the columns that name one; `window_ms` orders it and `at_ms` is when a row was
    sampled. The slope of a row is over the windows of the last `trend_s` seconds, unknown
    values left out; null below two points of distinct times, and in windows before
    `from_ms`, an expression over `series`.
    """
    others = [name for name in rows.columns if name not in series]
    whole = rows.groupBy(*series).agg(F.collect_list(F.struct(*others)).alias("rows"))
    for name, value in slopes.items():
        arrays = (F.col(f"rows.{column}").cast("array<double>") for column in (at_ms, value))
        whole = whole.withColumn(
            name,
            _frame_slopes(
                F.col("rows.window_ms"), *arrays, F.lit(trend_s * 1000), from_ms.cast("bigint")
            ),
        )
    return whole.select(*series, F.inline(F.arrays_zip("rows", *slopes))).select(
        *series,
        "rows.*",
        # A missing number is NaN in numpy.
        *(F.when(~F.isnan(name), F.col(name)).alias(name) for name in slopes),
    )


def _slopes(
    windows: pd.Series, times: pd.Series, values: pd.Series, trend: pd.Series, start: pd.Series
) -> pd.Series:
    """One array of slopes a series, per second, of arrays in milliseconds."""
    if windows.empty:
        return pd.Series([], dtype=object)
    found = kernel.frame_slopes(
        windows.tolist(), times.tolist(), values.tolist(), trend.iloc[0], start.tolist()
    )
    return pd.Series([slopes * 1000 for slopes in found])


_frame_slopes = F.pandas_udf(_slopes, ArrayType(DoubleType()))
