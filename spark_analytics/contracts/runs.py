"""What one Spark run is given and what it leaves, both as files in its working directory."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Self

from spark_analytics.contracts.errors import ContractError
from spark_analytics.contracts.gold import (
    DAY_S,
    FORMULA_VERSION,
    GOLD_TABLES,
    HOUR_S,
    ROLLUP_FORMULA_VERSION,
    ROLLUP_TABLES,
    GoldTable,
)
from spark_analytics.contracts.rules import Rules

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RESULT_FILE: Final = "result.json"
PROGRESS_FILE: Final = "progress.jsonl"
"""In `RunConfig.work_dir`; gold rows are in `<table>.jsonl` beside them, one JSON row a line."""

CATALOG_SECRETS: Final = "catalog"
"""Beside the ids of clusters in the secrets file, none of which is this word."""


_TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Job(StrEnum):
    """What a run computes: gold of the last minutes, or rollups of whole hours or days."""

    TELEMETRY = "telemetry"
    HOURLY = "hourly"
    DAILY = "daily"


PERIOD_OF_JOB: Final[Mapping[str, int]] = {Job.HOURLY: HOUR_S, Job.DAILY: DAY_S}
"""Seconds, of the jobs that compute rollups."""


def tables_of(job: str) -> Mapping[str, GoldTable]:
    """The gold tables whose rows a run of the job leaves."""
    return ROLLUP_TABLES if job in PERIOD_OF_JOB else GOLD_TABLES


def formula_version_of(job: str) -> int:
    return ROLLUP_FORMULA_VERSION if job in PERIOD_OF_JOB else FORMULA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInput:
    """One cluster that a run reads.

    `kafka_options` are connector options without secrets; the secret ones are under the cluster's
    id in the secrets file. `offsets_end` bounds the input for a repeatable re-run: no ingest
    happens then, and of each telemetry partition only offsets below the bound count. `hosts` are
    the addresses of every name by which the cluster is reached, by name; None where the run is to
    resolve them itself. `refusal` says why the cluster must not be read. `from_ts_ms` is where its
    windows begin; None where the run's begin. `telemetry_topic_id` (KIP-516) tells a telemetry
    topic from one of the same name before it; None where brokers give no ids.
    """

    cluster_id: str
    bootstrap_servers: str
    kafka_options: Mapping[str, str] = field(default_factory=dict)
    offsets_end: Mapping[str, int] | None = None
    hosts: Mapping[str, Sequence[str]] | None = None
    refusal: str | None = None
    from_ts_ms: int | None = None
    telemetry_topic_id: str | None = None

    def __post_init__(self) -> None:
        # It names a folder.
        if self.telemetry_topic_id and not _TOPIC_ID.fullmatch(self.telemetry_topic_id):
            raise ContractError(f"{self.cluster_id}: telemetry_topic_id is no topic id")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogInput:
    """Where it is written which tables the lake has, when not in its own folders: a database.

    `uri` is a JDBC URI without a login, which is under `CATALOG_SECRETS` in the secrets file
    ("user", "password"); `jars` are the files of its driver.
    """

    uri: str
    jars: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.uri.startswith("jdbc:"):
            raise ContractError("the catalog's URI must begin with jdbc:")
        if "@" in self.uri or "password" in self.uri.lower():
            raise ContractError("the catalog's URI must not hold a login")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """Everything one Spark run is given, on a file: nothing of it is on the command line.

    Windows of [from_ts_ms, to_ts_ms) are computed; both are multiples of the window, or of the
    hours or days that `job` computes. The lake lies below `data_uri`; with `catalog` a database
    says which tables it has. `secrets_path`
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
    job: str = Job.TELEMETRY
    catalog: CatalogInput | None = None
    jars_dir: str | None = None
    secrets_path: str | None = None
    lease_path: str | None = None
    lease_s: float = 90.0
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    bronze_keep_s: int = 8 * 24 * 3600
    silver_keep_s: int = 15 * 24 * 3600

    def __post_init__(self) -> None:
        if self.job not in set(Job):
            raise ContractError(f"job must be one of {', '.join(Job)}")
        window_ms = PERIOD_OF_JOB.get(self.job, self.rules.window_s) * 1000
        if self.from_ts_ms % window_ms or self.to_ts_ms % window_ms:
            raise ContractError("from_ts_ms and to_ts_ms must be multiples of the window")
        if self.to_ts_ms <= self.from_ts_ms:
            raise ContractError("to_ts_ms must be after from_ts_ms")
        for cluster in self.clusters:
            start_ms = self.start_of(cluster)
            if start_ms % window_ms or not self.from_ts_ms <= start_ms < self.to_ts_ms:
                raise ContractError(
                    f"{cluster.cluster_id}: from_ts_ms must be a window's start in the run's range"
                )
        if "://" not in self.data_uri and not self.data_uri.startswith("file:/"):
            raise ContractError(f"data_uri must have a scheme: {self.data_uri!r}")

    def start_of(self, cluster: ClusterInput) -> int:
        """Where the cluster's windows begin, in milliseconds."""
        return self.from_ts_ms if cluster.from_ts_ms is None else cluster.from_ts_ms

    def to_json(self) -> str:
        return _written(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        Raises:
            ContractError: not JSON, a field missing or unknown, a value out of its bounds.
        """
        with _agreed("run configuration"):
            raw: dict[str, Any] = json.loads(text)
            clusters = tuple(ClusterInput(**cluster) for cluster in raw.pop("clusters"))
            rules = Rules(**raw.pop("rules", {}))
            given = raw.pop("catalog", None)
            catalog = None
            if given is not None:
                catalog = CatalogInput(**{**given, "jars": tuple(given.get("jars", ()))})
            return cls(clusters=clusters, rules=rules, catalog=catalog, **raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterResult:
    """How one cluster fared. `error` is one line; its gold rows are absent then.

    `records_in` and `records_rejected` are those that this run was the first to see;
    `offsets_end` bounds everything that it saw. `from_ts_ms` is that of its input.

    `records_skipped` are offsets of the telemetry topic between those seen before and these that no
    record was read at: retention took them first, or they are on a file in quarantine.
    `telemetry_recreated` says that the topic is another one than the last run's: how many records
    of the old one were not read is unknown.
    """

    cluster_id: str
    offsets_end: Mapping[str, int] = field(default_factory=dict)
    records_in: int = 0
    records_rejected: int = 0
    records_skipped: int = 0
    telemetry_recreated: bool = False
    error: str | None = None
    from_ts_ms: int | None = None


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
        return _written(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        Raises:
            ContractError: not that shape.
        """
        with _agreed("run result"):
            raw: dict[str, Any] = json.loads(text)
            clusters = tuple(ClusterResult(**cluster) for cluster in raw.pop("clusters"))
            return cls(clusters=clusters, **raw)


def _written(file: DataclassInstance) -> str:
    return json.dumps(asdict(file), indent=1, sort_keys=True)


@contextlib.contextmanager
def _agreed(what: str) -> Iterator[None]:
    """Whatever a text of another shape leads to is a ContractError that says `what` it was."""
    try:
        yield
    except ContractError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ContractError(f"{what}: {error}") from error
