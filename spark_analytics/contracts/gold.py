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

FORMULA_VERSION: Final = 4
"""Changes when the same input would give other gold rows; stored with every run."""


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
