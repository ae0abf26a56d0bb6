"""One analytics run: telemetry → bronze → silver → gold files, for every cluster it is given."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from spark_analytics import session
from spark_analytics.contracts.gold import FORMULA_VERSION, GOLD_TABLES
from spark_analytics.contracts.runs import ClusterResult, RunResult
from spark_analytics.io import run_files, watchdog
from spark_analytics.io.jars import jar_paths
from spark_analytics.io.lake import Lake, cluster_of
from spark_analytics.io.telemetry_source import ingest
from spark_analytics.jobs.gold import write_gold
from spark_analytics.jobs.intake import intake
from spark_analytics.jobs.silver import build_silver, read_bronze
from spark_analytics.jobs.tidy import tidy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

    from spark_analytics.contracts.runs import ClusterInput, RunConfig


INGESTS_AT_ONCE = 4
"""Most of an ingest is waiting: for brokers, and for Spark's own planning."""


def run(config: RunConfig) -> RunResult:
    """Do the run and leave its files in `work_dir`; the result is also returned.

    A cluster that cannot be read has its reason in the result and no rows; the others go on.
    """
    watchdog.start(
        deadline_s=config.deadline_s, lease_path=config.lease_path, lease_s=config.lease_s
    )
    started_s = time.monotonic()
    progress = run_files.Progress(config.work_dir)
    spark: SparkSession | None = None
    try:
        secrets = run_files.take_secrets(config.secrets_path)
        progress.enter("session", message=f"starting Spark on {config.master}")
        spark = session.start(config, jar_paths(Path(config.jars_dir)) if config.jars_dir else [])
        result = run_in(spark, config, secrets, progress)
    except Exception as error:  # noqa: BLE001 - whatever it was, the supervisor is to read it
        result = _result(config, ok=False, error=one_line(error))
    finally:
        if spark is not None:
            # Gold is on its files by now; a session that will not stop is no failed run.
            with contextlib.suppress(Exception):
                spark.stop()
    result = dataclasses.replace(
        result,
        wall_s=round(time.monotonic() - started_s, 3),
        phases_s=progress.finish(),
    )
    run_files.write_result(config.work_dir, result)
    return result


def run_in(
    spark: SparkSession,
    config: RunConfig,
    secrets: Mapping[str, Mapping[str, str]],
    progress: run_files.Progress,
) -> RunResult:
    """The run in a session that is there."""
    lake = Lake(spark, config.data_uri.rstrip("/"))
    progress.enter("ingest", total=len(config.clusters))
    errors: dict[str, str] = {}
    for done, (cluster_id, error) in enumerate(_ingested(lake, config, secrets), 1):
        progress.step(done, len(config.clusters), f"read the telemetry of {cluster_id}")
        if error is not None:
            errors[cluster_id] = error
    progress.enter("silver")
    readable, found = _silver(lake, config, errors)
    tables = len(GOLD_TABLES)
    progress.enter("gold", total=tables)
    rows = write_gold(lake, config, on_table=lambda done, name: progress.step(done, tables, name))
    progress.enter("tidy")
    tidy(lake, config)
    results = [
        dataclasses.replace(
            found.get(cluster.cluster_id)
            or ClusterResult(cluster_id=cluster.cluster_id, error=errors.get(cluster.cluster_id)),
            from_ts_ms=config.start_of(cluster),
        )
        for cluster in config.clusters
    ]
    ok = bool(readable) or not config.clusters
    first_error = next(iter(errors.values()), None)
    return _result(config, ok=ok, clusters=results, rows=rows, error=None if ok else first_error)


def _silver(
    lake: Lake, config: RunConfig, errors: dict[str, str]
) -> tuple[list[ClusterInput], dict[str, ClusterResult]]:
    """Silver of all clusters without an error, and what was taken in of each.

    A bronze file that cannot be read goes to quarantine and leaves its cluster out of this run,
    with the reason in `errors`; the next run goes on without the file. Each round leaves out a
    cluster more, so there are no more rounds than clusters.
    """
    while True:
        readable = [cluster for cluster in config.clusters if cluster.cluster_id not in errors]
        bronze = read_bronze(lake, config, readable)
        try:
            build_silver(lake, config, bronze)
            return readable, intake(bronze, readable)
        except Py4JJavaError as error:
            file = lake.unreadable_file(error)
            if file is None or cluster_of(file) in errors:
                raise
            name = lake.quarantine(file)
            errors[cluster_of(file)] = f"telemetry of {name} cannot be read; it is in quarantine"


def _ingested(
    lake: Lake, config: RunConfig, secrets: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str | None]]:
    """(cluster, the reason why it could not be read or None), in the order in which they end.

    Several at a time, each with a deadline of its own: one that hangs takes a place for an eighth
    of the run's time, and half of it is left for what comes after.
    """
    end_s = time.monotonic() + config.deadline_s / 2

    def read(cluster: ClusterInput) -> tuple[str, str | None]:
        left_s = min(config.deadline_s / 8, end_s - time.monotonic())
        mine = secrets.get(cluster.cluster_id, {})
        return cluster.cluster_id, _ingest(lake, cluster, mine, timeout_s=left_s)

    with ThreadPoolExecutor(INGESTS_AT_ONCE, thread_name_prefix="ingest") as pool:
        for future in as_completed([pool.submit(read, cluster) for cluster in config.clusters]):
            yield future.result()


def _ingest(
    lake: Lake, cluster: ClusterInput, secrets: Mapping[str, str], *, timeout_s: float
) -> str | None:
    """The reason why this cluster could not be read, or None."""
    if cluster.offsets_end is not None:
        return None
    if cluster.refusal is not None:
        return cluster.refusal
    if timeout_s <= 0:
        return "other clusters took the time in which telemetry is read"
    try:
        ingest(lake.spark, lake, cluster, secrets, timeout_s=timeout_s)
    except (PySparkException, ConnectionError, TimeoutError) as error:
        return one_line(error)
    return None


def _result(
    config: RunConfig,
    *,
    ok: bool,
    clusters: list[ClusterResult] | None = None,
    rows: Mapping[str, int] | None = None,
    error: str | None = None,
) -> RunResult:
    return RunResult(
        run_id=config.run_id,
        ok=ok,
        from_ts_ms=config.from_ts_ms,
        to_ts_ms=config.to_ts_ms,
        formula_version=FORMULA_VERSION,
        clusters=clusters or [],
        rows=rows or {},
        error=error,
    )


def one_line(error: BaseException, limit: int = 300) -> str:
    """The most specific line of an error; of Spark's long ones the innermost cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    chosen = causes[-1] if causes else next(iter(lines), type(error).__name__)
    return chosen.removeprefix("Caused by: ")[:limit]
