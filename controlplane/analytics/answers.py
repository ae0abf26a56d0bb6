"""Which columns of a gold row its REST answer shows: all but those that the place already says.

The cluster is in the address, an expiry is listed below its topic, and `ts`, the instant of the
sample, stands for the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Model

from spark_analytics.contracts.gold import (
    GROUP_EXPIRY,
    GROUP_LAG,
    TOPIC_RETENTION,
    Column,
    GoldTable,
)


def all_but(table: GoldTable, *names: str) -> tuple[Column, ...]:
    """The columns of the table without those; KeyError when it has no such column."""
    left_out = [table.column(name) for name in names]
    return tuple(column for column in table.columns if column not in left_out)


BY_SPARK, BY_COLLECTOR = "spark", "collector"
SOURCES = [(BY_SPARK, BY_SPARK), (BY_COLLECTOR, BY_COLLECTOR)]
LAG_POINT = all_but(GROUP_LAG, "cluster_id", "ts_ms", "sampled_ms")
RETENTION = all_but(TOPIC_RETENTION, "cluster_id", "ts_ms", "sampled_ms")
EXPIRY = all_but(GROUP_EXPIRY, "cluster_id", "ts_ms", "topic")


def shown(row: Model, columns: Sequence[Column]) -> dict[str, Any]:
    """The values of those columns, by name."""
    return {column.name: _value(row, column) for column in columns}


def _value(row: Model, column: Column) -> Any:
    value = getattr(row, column.name)
    return [word for word in value.split(",") if word] if column.several else value
