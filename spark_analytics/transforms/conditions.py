"""The tables of `contracts.conditions` as Spark columns."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from enum import StrEnum

    from pyspark.sql import Column


class ColumnFacts:
    """`contracts.conditions.Facts` of the columns of those names."""

    def __getitem__(self, name: str) -> Column:
        return F.col(name)

    def known(self, name: str) -> Column:
        return F.col(name).isNotNull()

    def sure(self, condition: Column) -> Column:
        return F.coalesce(condition, F.lit(False))

    def always(self) -> Column:
        return F.lit(True)


def first_true(table: Sequence[tuple[StrEnum, Column]]) -> Column:
    """The word of the first row whose condition is true."""
    (word, condition), *others = table
    first = F.when(condition, word.value)
    return reduce(lambda found, row: found.when(row[1], row[0].value), others, first)
