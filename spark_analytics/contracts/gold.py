"""The gold tables: each column once, with its type, whether it may be unknown, and its words.

Everything else that needs to know a gold column follows from these tables or is compared with them:
Spark's schemas, the run's files, the SQL tables, the REST answers and their types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spark_analytics.contracts.statuses import Method, Reason, Risk, Status, Trend

FORMULA_VERSION: Final = 6
"""Changes when the same input would give other gold rows; stored with every run."""


ROLLUP_FORMULA_VERSION: Final = 1
"""As `FORMULA_VERSION`, of the rollups."""
HOUR_S: Final = 3600
DAY_S: Final = 24 * HOUR_S
ROLLUP_KEEP_S: Final = 400 * DAY_S
"""How long rollups are kept: a year can be compared with the one before."""
PARTITION_KEEP_S: Final[Mapping[int, int]] = {HOUR_S: 14 * DAY_S, DAY_S: 92 * DAY_S}
"""As `ROLLUP_KEEP_S`, of partitions, by period: as far as ranges of a chart reach by each."""
PARTITIONS_MAX: Final = 20_000
"""Partitions of one cluster and period that have a rollup: those of its busiest topics, whole.

A partition's period is some 50 characters, about half of that where the database compresses it: of
a cluster with as many as this or more, hours take some 200 MB and days 50 (random numbers, zlib);
all of 100,000 partitions would take more than a gigabyte. Spark aggregates them all for the topics
anyway: of what is left out the writing, loading and storing is saved.
"""
SHARD_PARTITIONS: Final = 500
"""Partitions of one row: a question about one of them reads no topic of 10,000."""
NUMBER_CHARS: Final = 20
"""Of the longest number of 64 bits, with its comma."""


class ColumnType(StrEnum):
    """What a gold column holds; the words are Spark's."""

    STRING = "string"
    INT = "int"
    LONG = "bigint"
    DOUBLE = "double"


CHOICE_LENGTH_MAX: Final = 20
"""Characters; no word of the enumerations above is longer."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a gold table; its unit is the last word of its name.

    `null`: the value may be unknown. A string holds one of `choices`, when there are any, and at
    most `length_max` characters; `several`: any number of the choices, with commas between.
    """

    name: str
    type: ColumnType
    null: bool = False
    choices: tuple[StrEnum, ...] = ()
    length_max: int | None = None
    several: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldTable:
    """One gold table: `key` are the columns of which no two rows have the same values."""

    name: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column of that name; KeyError when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


def _text(name: str, length_max: int, *, null: bool = False) -> Column:
    return Column(name, ColumnType.STRING, null=null, length_max=length_max)


def _choice(name: str, choices: type[StrEnum], *, null: bool = False) -> Column:
    return Column(
        name, ColumnType.STRING, null=null, choices=tuple(choices), length_max=CHOICE_LENGTH_MAX
    )


def _several(name: str, choices: type[StrEnum]) -> Column:
    length_max = len(",".join(choices))
    return Column(
        name, ColumnType.STRING, choices=tuple(choices), length_max=length_max, several=True
    )


def _numbers(name: str) -> Column:
    """One number a partition of the row, in order, with commas between; empty: unknown."""
    return _text(name, SHARD_PARTITIONS * NUMBER_CHARS)


_CLUSTER = _text("cluster_id", 40)
_TOPIC = _text("topic", 249)
_GROUP = _text("group", 255)
_WINDOW = Column("ts_ms", ColumnType.LONG)
_SAMPLED = Column("sampled_ms", ColumnType.LONG)
_PARTITIONS = Column("partitions", ColumnType.INT)

GROUP_LAG: Final = GoldTable(
    name="group_lag",
    key=("cluster_id", "topic", "group", "ts_ms"),
    columns=(
        _CLUSTER,
        _GROUP,
        _TOPIC,
        _WINDOW,
        _SAMPLED,
        _PARTITIONS,
        Column("lag_records", ColumnType.LONG, null=True),
        Column("uncommitted_partitions", ColumnType.INT, null=True),
        Column("uncommitted_records", ColumnType.LONG, null=True),
        Column("lag_seconds", ColumnType.DOUBLE, null=True),
        Column("lag_seconds_at_least", ColumnType.DOUBLE, null=True),
        _choice("method", Method, null=True),
        _choice("trend", Trend),
        Column("trend_records_per_s", ColumnType.DOUBLE, null=True),
        Column("produce_records_per_s", ColumnType.DOUBLE, null=True),
        Column("consume_records_per_s", ColumnType.DOUBLE, null=True),
        Column("eta_seconds", ColumnType.DOUBLE, null=True),
        Column("lost_records", ColumnType.LONG, null=True),
        Column("members", ColumnType.INT, null=True),
        _text("state", 40, null=True),
        _choice("status", Status),
        _several("reasons", Reason),
    ),
)
TOPIC_RETENTION: Final = GoldTable(
    name="topic_retention",
    key=("cluster_id", "topic", "ts_ms"),
    columns=(
        _CLUSTER,
        _TOPIC,
        _WINDOW,
        _SAMPLED,
        _PARTITIONS,
        Column("bytes", ColumnType.LONG, null=True),
        Column("records", ColumnType.LONG, null=True),
        Column("age_seconds", ColumnType.DOUBLE, null=True),
        Column("retention_ms", ColumnType.LONG, null=True),
        Column("retention_bytes", ColumnType.LONG, null=True),
    ),
)
GROUP_EXPIRY: Final = GoldTable(
    name="group_expiry",
    key=("cluster_id", "topic", "group", "ts_ms"),
    columns=(
        _CLUSTER,
        _TOPIC,
        _GROUP,
        _WINDOW,
        Column("oldest_unread_expires_in_s", ColumnType.DOUBLE, null=True),
        Column("first_loss_in_s", ColumnType.DOUBLE, null=True),
        _choice("method", Method, null=True),
        Column("lost_records", ColumnType.LONG),
        _choice("status", Risk),
    ),
)
GOLD_TABLES: Final[Mapping[str, GoldTable]] = {
    table.name: table for table in (GROUP_LAG, TOPIC_RETENTION, GROUP_EXPIRY)
}

_PERIOD = Column("period_s", ColumnType.INT)
_OF_PERIOD = (_PERIOD, _WINDOW, _SAMPLED)
# How many of the period's windows have a sample, and how many it has.
_COVERAGE = (Column("samples", ColumnType.INT), Column("expected", ColumnType.INT))
# Over the `…_samples` windows in which it is known; percentiles are exact, linear between two.
_LAG = (
    Column("lag_samples", ColumnType.INT),
    Column("lag_records_p50", ColumnType.DOUBLE, null=True),
    Column("lag_records_p95", ColumnType.DOUBLE, null=True),
    Column("lag_records_p99", ColumnType.DOUBLE, null=True),
    Column("lag_records_max", ColumnType.LONG, null=True),
    Column("lag_records_last", ColumnType.LONG, null=True),
    Column("time_lag_samples", ColumnType.INT),
    Column("lag_seconds_p50", ColumnType.DOUBLE, null=True),
    Column("lag_seconds_p95", ColumnType.DOUBLE, null=True),
    Column("lag_seconds_p99", ColumnType.DOUBLE, null=True),
    Column("lag_seconds_max", ColumnType.DOUBLE, null=True),
    # Also of windows in which only a lower bound is known.
    Column("lag_seconds_at_least_max", ColumnType.DOUBLE, null=True),
)
_HELD = (
    Column("bytes_samples", ColumnType.INT),
    Column("bytes_avg", ColumnType.DOUBLE, null=True),
    Column("bytes_max", ColumnType.LONG, null=True),
    Column("bytes_last", ColumnType.LONG, null=True),
)

GROUP_ROLLUP: Final = GoldTable(
    name="group_rollup",
    key=("cluster_id", "topic", "group", "period_s", "ts_ms"),
    columns=(
        _CLUSTER,
        _GROUP,
        _TOPIC,
        *_OF_PERIOD,
        *_COVERAGE,
        _PARTITIONS,
        *_LAG,
        Column("worst_partition", ColumnType.INT, null=True),
        Column("worst_partition_lag_records", ColumnType.LONG, null=True),
        Column("records_in", ColumnType.LONG, null=True),
        Column("records_out", ColumnType.LONG, null=True),
        Column("bytes_out", ColumnType.LONG, null=True),
        Column("produce_records_per_s", ColumnType.DOUBLE, null=True),
        Column("consume_records_per_s", ColumnType.DOUBLE, null=True),
        Column("rewinds", ColumnType.INT),
        Column("lost_records", ColumnType.LONG, null=True),
    ),
)
TOPIC_ROLLUP: Final = GoldTable(
    name="topic_rollup",
    key=("cluster_id", "topic", "period_s", "ts_ms"),
    columns=(
        _CLUSTER,
        _TOPIC,
        *_OF_PERIOD,
        *_COVERAGE,
        _PARTITIONS,
        Column("start_offset", ColumnType.LONG, null=True),
        Column("end_offset", ColumnType.LONG, null=True),
        Column("records_in", ColumnType.LONG, null=True),
        Column("bytes_in", ColumnType.LONG, null=True),
        Column("produce_records_per_s", ColumnType.DOUBLE, null=True),
        Column("resets", ColumnType.INT),
        Column("last_write_ms", ColumnType.LONG, null=True),
        *_HELD,
        Column("retention_ms", ColumnType.LONG, null=True),
        Column("retention_bytes", ColumnType.LONG, null=True),
        Column("busiest_partition", ColumnType.INT, null=True),
        Column("busiest_share", ColumnType.DOUBLE, null=True),
        Column("gini", ColumnType.DOUBLE, null=True),
    ),
)
CLUSTER_ROLLUP: Final = GoldTable(
    name="cluster_rollup",
    key=("cluster_id", "period_s", "ts_ms"),
    columns=(
        _CLUSTER,
        *_OF_PERIOD,
        *_COVERAGE,
        Column("topics", ColumnType.INT),
        Column("groups", ColumnType.INT),
        _PARTITIONS,
        *_LAG,
        *_HELD,
        Column("records_in", ColumnType.LONG, null=True),
        Column("bytes_in", ColumnType.LONG, null=True),
        Column("records_out", ColumnType.LONG, null=True),
        Column("bytes_out", ColumnType.LONG, null=True),
        Column("lost_records", ColumnType.LONG, null=True),
    ),
)
PARTITION_ROLLUP: Final = GoldTable(
    name="partition_rollup",
    key=("cluster_id", "topic", "shard", "period_s", "ts_ms"),
    columns=(
        _CLUSTER,
        _TOPIC,
        Column("shard", ColumnType.INT),
        *_OF_PERIOD,
        *_COVERAGE,
        _PARTITIONS,
        _numbers("partition"),
        # What came in within the `covered_ms` of the period that were seen.
        _numbers("records_in"),
        _numbers("bytes_in"),
        _numbers("covered_ms"),
        # As they were when they were last known within the period.
        _numbers("start_offset"),
        _numbers("end_offset"),
        _numbers("bytes_last"),
    ),
)
ROLLUP_TABLES: Final[Mapping[str, GoldTable]] = {
    table.name: table for table in (GROUP_ROLLUP, TOPIC_ROLLUP, CLUSTER_ROLLUP, PARTITION_ROLLUP)
}
ALL_TABLES: Final[Mapping[str, GoldTable]] = {**GOLD_TABLES, **ROLLUP_TABLES}
