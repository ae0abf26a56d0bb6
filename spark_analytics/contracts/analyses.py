"""The analyses over hours and days: each answer's columns once, with the version of its formula.

They are computed when somebody asks, from rows that runs have left; REST answers, their types and
the files follow from these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spark_analytics.contracts.gold import CHOICE_LENGTH_MAX, Column, ColumnType


class Verdict(StrEnum):
    """What an analysis says of one thing."""

    SAFE = "safe"
    WOULD_LOSE = "would_lose"
    IN_USE = "in_use"
    UNUSED = "unused"
    EVEN = "even"
    HOT = "hot"
    PRODUCING = "producing"
    SILENT = "silent"
    WITHIN = "within"
    SLOW_BURN = "slow_burn"
    FAST_BURN = "fast_burn"
    ROSE = "rose"
    FELL = "fell"
    STEADY = "steady"
    GROWING = "growing"
    NOT_GROWING = "not_growing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """One analysis: `inputs` are the gold tables that it reads."""

    id: str
    formula_version: int
    inputs: tuple[str, ...]
    columns: tuple[Column, ...]


def _verdict(*words: Verdict) -> Column:
    return Column("verdict", ColumnType.STRING, choices=words, length_max=CHOICE_LENGTH_MAX)


def _long(name: str, *, null: bool = True) -> Column:
    return Column(name, ColumnType.LONG, null=null)


def _double(name: str, *, null: bool = True) -> Column:
    return Column(name, ColumnType.DOUBLE, null=null)


def _text(name: str, length_max: int, *, null: bool = False) -> Column:
    return Column(name, ColumnType.STRING, null=null, length_max=length_max)


_TOPIC = _text("topic", 249)
_GROUP = _text("group", 255)

WHAT_IF: Final = Analysis(
    id="retention-what-if",
    formula_version=1,
    inputs=("topic_rollup", "group_rollup"),
    columns=(
        _long("retention_s", null=False),
        _long("bytes_held"),
        _long("bytes_freed"),
        _long("disk_freed_bytes"),
        _long("groups_losing", null=False),
        _long("groups_unknown", null=False),
    ),
)
WHAT_IF_GROUPS: Final = Analysis(
    id="retention-what-if-groups",
    formula_version=1,
    inputs=("group_rollup",),
    columns=(
        _long("retention_s", null=False),
        _GROUP,
        _verdict(Verdict.SAFE, Verdict.WOULD_LOSE, Verdict.UNKNOWN),
        _long("first_ms"),
        _long("last_ms"),
        _long("losing_hours", null=False),
        _long("unknown_hours", null=False),
    ),
)
USAGE: Final = Analysis(
    id="usage",
    formula_version=1,
    inputs=("topic_rollup", "group_rollup"),
    columns=(
        _TOPIC,
        _text("group", 255, null=True),
        _long("replicas"),
        _double("gib_hours"),
        _double("gib_in"),
        _double("gib_out"),
        _long("hours", null=False),
        _text("cost", 40, null=True),
        _text("currency", 3, null=True),
    ),
)
OBJECTIVES: Final = Analysis(
    id="lag-objectives",
    formula_version=3,
    inputs=("group_lag", "group_rollup"),
    columns=(
        _GROUP,
        _TOPIC,
        _text("objective_id", 40, null=True),
        _double("seconds", null=False),
        _double("share", null=False),
        _verdict(Verdict.WITHIN, Verdict.SLOW_BURN, Verdict.FAST_BURN, Verdict.UNKNOWN),
        _double("burn_5m"),
        _double("burn_30m"),
        _double("burn_1h"),
        _double("burn_6h"),
        _double("good_share"),
        _double("budget_left"),
        _long("good", null=False),
        _long("bad", null=False),
        _long("unknown", null=False),
    ),
)
UNUSED: Final = Analysis(
    id="unused-topics",
    formula_version=1,
    inputs=("topic_rollup", "group_rollup"),
    columns=(
        _TOPIC,
        _verdict(Verdict.IN_USE, Verdict.UNUSED, Verdict.UNKNOWN),
        _long("last_write_ms"),
        _long("last_read_ms"),
        _long("observed_since_ms", null=False),
        _double("seen_share", null=False),
        _long("records_in"),
        _long("bytes_last"),
        _long("groups", null=False),
    ),
)
FORECAST: Final = Analysis(
    id="disk-forecast",
    formula_version=1,
    inputs=("cluster_rollup",),
    columns=(
        _verdict(Verdict.GROWING, Verdict.NOT_GROWING, Verdict.UNKNOWN),
        _long("disk_bytes"),
        _long("capacity_bytes"),
        _double("used_share"),
        _double("growth_bytes_per_day_p10"),
        _double("growth_bytes_per_day_p50"),
        _double("growth_bytes_per_day_p90"),
        _double("days_to_80_p10"),
        _double("days_to_80_p50"),
        _double("days_to_80_p90"),
        _long("days", null=False),
    ),
)
HOT: Final = Analysis(
    id="hot-partitions",
    formula_version=1,
    inputs=("topic_rollup",),
    columns=(
        _TOPIC,
        _verdict(Verdict.EVEN, Verdict.HOT, Verdict.UNKNOWN),
        _long("partitions", null=False),
        _long("busiest_partition"),
        _double("busiest_share"),
        _double("fair_share", null=False),
        _double("gini"),
        _long("records_in"),
        _long("hours", null=False),
    ),
)
SILENT: Final = Analysis(
    id="silent-producers",
    formula_version=1,
    inputs=("topic_rollup",),
    columns=(
        _TOPIC,
        _verdict(Verdict.PRODUCING, Verdict.SILENT, Verdict.UNKNOWN),
        _long("hour_ms", null=False),
        _long("records"),
        _double("usual_records"),
        _double("share_of_usual"),
        _long("hours_compared", null=False),
        _long("last_write_ms"),
    ),
)
IMPACT: Final = Analysis(
    id="change-impact",
    formula_version=1,
    inputs=("audit_event", "cluster_rollup", "topic_rollup", "group_rollup"),
    columns=(
        _text("event_id", 40),
        _text("action", 100),
        _text("resource", 400),
        _text("outcome", 40),
        _text("actor", 200),
        _long("begin_ms", null=False),
        _long("end_ms", null=False),
        _long("others", null=False),
        _text("topic", 249, null=True),
        _text("group", 255, null=True),
        _text("measure", 40),
        _double("before"),
        _double("after"),
        _double("change_share"),
        _verdict(Verdict.ROSE, Verdict.FELL, Verdict.STEADY, Verdict.UNKNOWN),
        _long("hours_before", null=False),
        _long("hours_after", null=False),
        _long("hours_asked", null=False),
    ),
)
TENANT_USAGE: Final = Analysis(
    id="tenant-usage",
    formula_version=1,
    inputs=("topic_rollup", "group_rollup"),
    columns=(
        _text("cluster_id", 40, null=True),
        _text("cluster", 100, null=True),
        _long("topics", null=False),
        _long("groups", null=False),
        _double("gib_hours"),
        _double("gib_in"),
        _double("gib_out"),
        _long("unknown_parts", null=False),
        _text("cost", 40, null=True),
        _text("cost_at_least", 40, null=True),
        _text("currency", 3, null=True),
        _long("as_of_ms"),
        _double("seen_share"),
    ),
)
BY_CLUSTER: Final = (
    WHAT_IF,
    WHAT_IF_GROUPS,
    USAGE,
    OBJECTIVES,
    UNUSED,
    FORECAST,
    HOT,
    SILENT,
    IMPACT,
)
"""Asked of one cluster; the others of the tenant."""
ANALYSES: Final[Mapping[str, Analysis]] = {
    analysis.id: analysis for analysis in (*BY_CLUSTER, TENANT_USAGE)
}
