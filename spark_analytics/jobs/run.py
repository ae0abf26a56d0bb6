"""One analytics run: telemetry → bronze → silver → gold files, for every cluster it is given."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from spark_analytics import session
from spark_analytics.contracts.runs import (
    CATALOG_SECRETS,
    PERIOD_OF_JOB,
    ClusterResult,
    RunResult,
    formula_version_of,
)
from spark_analytics.io import run_files, watchdog
from spark_analytics.io.jars import jar_paths
from spark_analytics.io.lake import Lake
from spark_analytics.io.telemetry_source import ingest
from spark_analytics.io.words import one_line
from spark_analytics.jobs.compute import compute
from spark_analytics.jobs.tidy import tidy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

    from spark_analytics.contracts.runs import ClusterInput, RunConfig
log = logging.getLogger(__name__)
INGESTS_AT_ONCE = 4
"""Most of an ingest is waiting: for brokers, and for Spark's own planning."""
COMPUTED_BY = 0.8
"""By this share of the deadline gold is there or not; the rest is for the start before and the
end after it. At the deadline the whole run ends.
"""


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
        session.log_in_to_catalog(spark, secrets.get(CATALOG_SECRETS, {}))
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
    started_s = time.monotonic()
    lake = Lake.opened(spark, config.data_uri)
    progress.enter("ingest", total=len(config.clusters))
    errors: dict[str, str] = {}
    is_rollup = config.job in PERIOD_OF_JOB
    # Two sessions on one checkpoint would fight: the telemetry job alone takes records in.
    ingested = () if is_rollup else _ingested(lake, config, secrets)
    for done, (cluster_id, error) in enumerate(ingested, 1):
        progress.step(done, len(config.clusters), f"read the telemetry of {cluster_id}")
        if error is not None:
            errors[cluster_id] = error
    found, rows = compute(
        lake, config, errors, progress, end_s=started_s + config.deadline_s * COMPUTED_BY
    )
    if not is_rollup:
        progress.enter("tidy")
        _tidy(lake, config, progress)
    results = [
        dataclasses.replace(
            found.get(cluster.cluster_id)
            or ClusterResult(cluster_id=cluster.cluster_id, error=errors.get(cluster.cluster_id)),
            from_ts_ms=config.start_of(cluster),
        )
        for cluster in config.clusters
    ]
    ok = bool(found) or not config.clusters
    first_error = next(iter(errors.values()), None)
    return _result(config, ok=ok, clusters=results, rows=rows, error=None if ok else first_error)


def _tidy(lake: Lake, config: RunConfig, progress: run_files.Progress) -> None:
    """Gold is on its files: what is not tidied now is tidied by the next run."""
    try:
        progress.step(1, 1, str(tidy(lake, config)))
    except (Py4JJavaError, PySparkException) as error:
        log.warning("the lake was not tidied: %s", one_line(error))


def _ingested(
    lake: Lake, config: RunConfig, secrets: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str | None]]:
    """(cluster, the reason why it could not be read or None), in the order in which they end.

    Each has a deadline of its own: one that hangs takes an eighth of the run's time, and half of it
    is left for what comes after.
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
        formula_version=formula_version_of(config.job),
        clusters=clusters or [],
        rows=rows or {},
        error=error,
    )
