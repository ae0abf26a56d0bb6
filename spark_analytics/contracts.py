"""What the collector, the Spark run and the control plane agree on. No pyspark, no Django.

Telemetry records travel as JSON through the topic `TELEMETRY_TOPIC` of each cluster. One record is
one *slice*: every partition of one topic, or of one group and topic, at one instant; arrays run in
parallel and have one element per partition. Times named `ts_ms` are milliseconds since the epoch,
end offsets are exclusive, `null` means unknown and NaN never occurs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

TELEMETRY_TOPIC: Final = "__penstock_telemetry"
TELEMETRY_PARTITIONS: Final = 4
TELEMETRY_RETENTION_MS: Final = 7 * 24 * 3600 * 1000
TELEMETRY_VERSION: Final = 1
SAMPLE_INTERVAL_S: Final = 10.0
"""How often the collector samples each cluster."""
FORMULA_VERSION: Final = 3
"""Changes when the same input would give other gold rows; stored with every run."""

KIND_TOPIC: Final = "topic"
KIND_GROUP: Final = "group"
NO_OFFSET: Final = -1
"""`committed_offset` of a partition that the group never committed (Kafka's own sign)."""

# Arrays that must have as many elements as `partition`, by record kind.
SLICE_ARRAYS: Final[Mapping[str, tuple[str, ...]]] = {
    KIND_TOPIC: (
        "leader_epoch",
        "log_start_offset",
        "log_end_offset",
        "size_bytes",
        "oldest_ts_ms",
    ),
    KIND_GROUP: ("committed_offset", "log_start_offset", "log_end_offset"),
}


class Severity(StrEnum):
    """How much a status is worth somebody's attention, from the least to the most."""

    OK = "ok"
    UNKNOWN = "unknown"
    RECOVERING = "recovering"
    WARNING = "warning"
    DANGER = "danger"


class Status(StrEnum):
    """How a group does on a topic, from the best to the worst: the worst topic speaks for it."""

    CAUGHT_UP = "CAUGHT_UP"
    NO_COMMIT = "NO_COMMIT"
    UNKNOWN = "UNKNOWN"
    CATCHING_UP = "CATCHING_UP"
    LAGGING = "LAGGING"
    REWOUND = "REWOUND"
    FALLING_BEHIND = "FALLING_BEHIND"
    STALLED = "STALLED"
    STOPPED = "STOPPED"
    DATA_LOST = "DATA_LOST"


class Trend(StrEnum):
    """Where a group's lag is heading."""

    GROWING = "growing"
    SHRINKING = "shrinking"
    STEADY = "steady"
    UNKNOWN = "unknown"


class Method(StrEnum):
    """How a time was found; anything but the first three leaves it null."""

    CAUGHT_UP = "caught_up"
    EXACT = "exact"
    INTERPOLATED = "interpolated"
    OUT_OF_HISTORY = "out_of_history"
    NO_COMMIT = "no_commit"


class Risk(StrEnum):
    """What retention does to a group's unread records, from the best to the worst."""

    SAFE = "SAFE"
    UNKNOWN = "UNKNOWN"
    WATCH = "WATCH"
    AT_RISK = "AT_RISK"
    LOSING = "LOSING"


STATUS_SEVERITY: Final[Mapping[Status, Severity]] = {
    Status.CAUGHT_UP: Severity.OK,
    Status.NO_COMMIT: Severity.UNKNOWN,
    Status.UNKNOWN: Severity.UNKNOWN,
    Status.CATCHING_UP: Severity.RECOVERING,
    Status.LAGGING: Severity.WARNING,
    Status.REWOUND: Severity.WARNING,
    Status.FALLING_BEHIND: Severity.WARNING,
    Status.STALLED: Severity.DANGER,
    Status.STOPPED: Severity.DANGER,
    Status.DATA_LOST: Severity.DANGER,
}
RISK_SEVERITY: Final[Mapping[Risk, Severity]] = {
    Risk.SAFE: Severity.OK,
    Risk.UNKNOWN: Severity.UNKNOWN,
    Risk.WATCH: Severity.WARNING,
    Risk.AT_RISK: Severity.DANGER,
    Risk.LOSING: Severity.DANGER,
}


def rank(value: Status | Risk) -> int:
    """How bad it is: 0 is the best."""
    return list(type(value)).index(value)


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
    most `length_max` characters.
    """

    name: str
    type: ColumnType
    null: bool = False
    choices: tuple[StrEnum, ...] = ()
    length_max: int | None = None


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


# Everything else that needs to know a gold column follows from these tables or is compared with
# them: Spark's schemas, the run's files, the SQL tables, the REST answers and their types.
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


class ContractError(ValueError):
    """A run configuration or result does not have the agreed shape; one line for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The knobs of the formulas. Everything a result depends on, apart from its input.

    A group is AT_RISK when, at its present pace, its first loss is at most `at_risk_s` away and at
    most `at_risk_share` of the time that the topic keeps records: a topic that keeps little is no
    risk by itself.
    """

    window_s: int = 30
    trend_s: int = 600
    offset_samples_lookback_s: int = 24 * 3600
    offset_samples_gap_max_s: int = 300
    samples_min: int = 5
    span_min_s: int = 180
    quiet_s: int = 300
    slo_s: float = 60.0
    allowed_lag_records: int = 0
    steady_records_per_s: float = 0.05
    at_risk_s: float = 24 * 3600.0
    at_risk_share: float = 0.5

    def __post_init__(self) -> None:
        if self.window_s <= 0 or self.trend_s < self.window_s:
            raise ContractError("rules: need window_s > 0 and trend_s >= window_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInput:
    """One cluster that a run reads.

    `kafka_options` are connector options without secrets; the secret ones are under the cluster's
    id in the secrets file. `offsets_end` bounds the input for a repeatable re-run: no ingest
    happens then, and of each telemetry partition only offsets below the bound count.
    """

    cluster_id: str
    bootstrap_servers: str
    kafka_options: Mapping[str, str] = field(default_factory=dict)
    offsets_end: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """Everything one Spark run is given, on a file: nothing of it is on the command line.

    Windows of [from_ts_ms, to_ts_ms) are computed; both are multiples of the window. `secrets_path`
    is a JSON file of mode 0600, {cluster_id: {option: value}}; the run reads it once and removes
    it. `lease_path`, when given, must be touched by the supervisor: a run whose lease is older than
    `lease_s` ends itself.
    """

    run_id: str
    master: str
    data_uri: str
    work_dir: str
    from_ts_ms: int
    to_ts_ms: int
    deadline_s: float
    clusters: Sequence[ClusterInput]
    jars_dir: str | None = None
    secrets_path: str | None = None
    lease_path: str | None = None
    lease_s: float = 90.0
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    bronze_keep_s: int = 8 * 24 * 3600
    silver_runs_keep: int = 3

    def __post_init__(self) -> None:
        window_ms = self.rules.window_s * 1000
        if self.from_ts_ms % window_ms or self.to_ts_ms % window_ms:
            raise ContractError("from_ts_ms and to_ts_ms must be multiples of the window")
        if self.to_ts_ms <= self.from_ts_ms:
            raise ContractError("to_ts_ms must be after from_ts_ms")
        if "://" not in self.data_uri and not self.data_uri.startswith("file:/"):
            raise ContractError(f"data_uri must have a scheme: {self.data_uri!r}")

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        Raises:
            ContractError: not JSON, a field missing or unknown, a value out of its bounds.
        """
        try:
            raw: dict[str, Any] = json.loads(text)
            clusters = tuple(ClusterInput(**cluster) for cluster in raw.pop("clusters"))
            rules = Rules(**raw.pop("rules", {}))
            return cls(clusters=clusters, rules=rules, **raw)
        except ContractError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ContractError(f"run configuration: {error}") from error


RESULT_FILE: Final = "result.json"
PROGRESS_FILE: Final = "progress.jsonl"
"""In `RunConfig.work_dir`; gold rows are in `<table>.jsonl` beside them, one JSON row a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterResult:
    """How one cluster fared. `error` is one line; its gold rows are absent then."""

    cluster_id: str
    offsets_end: Mapping[str, int] = field(default_factory=dict)
    records_in: int = 0
    records_rejected: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run leaves in `RESULT_FILE`, written last and by rename: there means complete."""

    run_id: str
    ok: bool
    from_ts_ms: int
    to_ts_ms: int
    formula_version: int
    clusters: Sequence[ClusterResult] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    wall_s: float = 0.0
    phases_s: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        Raises:
            ContractError: not that shape.
        """
        try:
            raw: dict[str, Any] = json.loads(text)
            clusters = tuple(ClusterResult(**cluster) for cluster in raw.pop("clusters"))
            return cls(clusters=clusters, **raw)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ContractError(f"run result: {error}") from error
