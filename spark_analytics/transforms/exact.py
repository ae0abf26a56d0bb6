"""Sums that do not depend on the order in which Spark meets the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

if TYPE_CHECKING:
    from pyspark.sql import Column

_MILLIONTHS = "decimal(28,6)"


def exact_sum(name: str) -> Column:
    """The sum of a column of doubles, each to the millionth; null where all are.

    A sum of doubles differs in its last digits with the order of the addends, which tasks and hosts
    settle between them; one of decimals does not.
    """
    return F.sum(F.col(name).cast(_MILLIONTHS)).cast("double")
