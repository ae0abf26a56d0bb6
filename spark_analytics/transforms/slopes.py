"""Robust rates: the median of all pairwise slopes (Theil-Sen), inside the JVM.

One odd sample moves a difference quotient or a regression; it does not move this median. With a
window of 30 s and a trend of 600 s there are 21 points, 210 pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

if TYPE_CHECKING:
    from pyspark.sql import Column


def point(at_ms: str, value: str) -> Column:
    """A point for `theil_sen`; null when the value is unknown, which collect_list leaves out."""
    return F.when(
        F.col(value).isNotNull(),
        F.struct((F.col(at_ms) / 1000).alias("at_s"), F.col(value).cast("double").alias("value")),
    )


def theil_sen(points: str) -> Column:
    """Units per second over an array of `point`s; null below two points of distinct times."""

    def slopes_from(first: Column, index: Column) -> Column:
        later = F.slice(F.col(points), index + 2, F.size(points))
        apart = F.filter(later, lambda other: other["at_s"] != first["at_s"])
        return F.transform(
            apart,
            lambda other: (other["value"] - first["value"]) / (other["at_s"] - first["at_s"]),
        )

    return F.when(F.size(points) >= 2, median(F.flatten(F.transform(points, slopes_from))))


def median(values: Column) -> Column:
    """The middle of an array, the mean of the two middle ones when even, null when empty."""

    def middle(ordered: Column) -> Column:
        size = F.size(ordered)
        low = F.try_element_at(ordered, F.floor((size + 1) / 2).cast("int"))
        high = F.try_element_at(ordered, F.floor(size / 2 + 1).cast("int"))
        return F.when(size > 0, (low + high) / 2)

    # The lambda gives the sorted array a name; written out it would be computed at each mention.
    return F.transform(F.array(F.sort_array(values)), middle)[0]
