"""Passes over so many rows that compiling them to Java pays; a session does not, by itself."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_WHOLE_STAGE = "spark.sql.codegen.wholeStage"


@contextlib.contextmanager
def compiled(spark: SparkSession) -> Iterator[None]:
    """What is planned meanwhile is compiled as a whole (see `session.DEFAULTS`)."""
    before = spark.conf.get(_WHOLE_STAGE)
    spark.conf.set(_WHOLE_STAGE, "true")
    try:
        yield
    finally:
        spark.conf.set(_WHOLE_STAGE, str(before))
