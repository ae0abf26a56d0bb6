"""Bronze → silver → gold of the clusters of a run, none of which holds up the others."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from spark_analytics.contracts.runs import PERIOD_OF_JOB, ClusterResult, tables_of
from spark_analytics.io import damage, run_files
from spark_analytics.io.limits import limited
from spark_analytics.io.words import one_line
from spark_analytics.jobs.absorb import absorb
from spark_analytics.jobs.gold import write_gold
from spark_analytics.jobs.rollups import write_rollups
from spark_analytics.jobs.silver import read_silver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_analytics.contracts.runs import ClusterInput, RunConfig
    from spark_analytics.io.lake import Lake

log = logging.getLogger(__name__)
Found = tuple[dict[str, ClusterResult], dict[str, int]]
"""What was taken in of each cluster without an error, and the rows of each gold table."""


def compute(
    lake: Lake,
    config: RunConfig,
    errors: dict[str, str],
    progress: run_files.Progress,
    *,
    end_s: float,
) -> Found:
    """All clusters without an error together, which costs least; where that fails or takes more
    than half of the time until `end_s` (monotonic), each by itself, within its share of what is
    left. One that does not get done has its reason in `errors`.
    """
    readable = [cluster for cluster in config.clusters if cluster.cluster_id not in errors]
    found: dict[str, ClusterResult] = {}
    if not readable:
        return found, _together(lake, config, errors, progress, found, threading.Event())
    if len(readable) > 1:
        try:
            with limited(lake.spark, (end_s - time.monotonic()) / 2) as over:
                return found, _together(lake, config, errors, progress, found, over)
        except (TimeoutError, Py4JJavaError, PySparkException) as error:
            log.warning(
                "%d clusters together: %s; each by itself now", len(readable), one_line(error)
            )
    return _one_by_one(lake, config, errors, progress, found, end_s)


def _one_by_one(  # noqa: PLR0917 - see _together
    lake: Lake,
    config: RunConfig,
    errors: dict[str, str],
    progress: run_files.Progress,
    found: dict[str, ClusterResult],
    end_s: float,
) -> Found:
    """In the order of their ids, by which gold is sorted: the files are as of all together."""
    rows = dict.fromkeys(tables_of(config.job), 0)
    done: list[Path] = []
    readable = [cluster for cluster in config.clusters if cluster.cluster_id not in errors]
    for number, cluster in enumerate(sorted(readable, key=lambda one: one.cluster_id)):
        share_s = max((end_s - time.monotonic()) / (len(readable) - number), 0.0)
        work = Path(config.work_dir) / "clusters" / cluster.cluster_id
        work.mkdir(parents=True, exist_ok=True)
        alone = dataclasses.replace(config, clusters=(cluster,), work_dir=str(work))
        try:
            with limited(lake.spark, share_s) as over:
                counts = _together(lake, alone, errors, progress, found, over)
        except TimeoutError:
            _leave_out(
                cluster.cluster_id,
                f"not computed within {share_s:.0f} s, its share of the run's time",
                errors,
                found,
            )
        except (Py4JJavaError, PySparkException) as error:
            _leave_out(cluster.cluster_id, one_line(error), errors, found)
        else:
            done.append(work)
            rows = {table: rows[table] + count for table, count in counts.items()}
    for table in rows:
        run_files.join_rows(config.work_dir, table, done)
    return found, rows


def _leave_out(
    cluster_id: str, why: str, errors: dict[str, str], found: dict[str, ClusterResult]
) -> None:
    errors[cluster_id] = why
    found.pop(cluster_id, None)


def _together(  # noqa: PLR0917 - what a run is made of
    lake: Lake,
    config: RunConfig,
    errors: dict[str, str],
    progress: run_files.Progress,
    found: dict[str, ClusterResult],
    over: threading.Event,
) -> dict[str, int]:
    """The rows of each gold table. What is taken in goes to `found`, also when gold fails then: it
    is new to nobody any more.

    A data file that cannot be read goes to quarantine and leaves its cluster out of this run, with
    the reason in `errors`; the next run goes on without the file. Each round leaves out a cluster
    more, so there are no more rounds than clusters. When the time is over, files are not looked at:
    none can be read then.
    """
    tables = len(tables_of(config.job))

    def on_table(done: int, name: str) -> None:
        progress.step(done, tables, name)

    while True:
        readable = [cluster for cluster in config.clusters if cluster.cluster_id not in errors]
        try:
            progress.enter("silver")
            for cluster_id, taken in _taken_in(lake, config, readable).items():
                found[cluster_id] = _both(found.get(cluster_id), taken)
            progress.enter("gold", total=tables)
            silver = read_silver(lake, config, readable)
            write = write_rollups if config.job in PERIOD_OF_JOB else write_gold
            return write(silver, config, on_table=on_table)
        except (Py4JJavaError, PySparkException):
            damaged = [] if over.is_set() else damage.find(lake, errors)
            if over.is_set() or not damaged:
                raise
            for file in damaged:
                damage.put_aside(lake, file)
                why = f"telemetry of {file.name} cannot be read; it is in quarantine"
                _leave_out(file.cluster_id, why, errors, found)


def _taken_in(
    lake: Lake, config: RunConfig, clusters: Sequence[ClusterInput]
) -> dict[str, ClusterResult]:
    """Rollups read what the telemetry job has brought to silver, and take in nothing."""
    if config.job not in PERIOD_OF_JOB:
        return absorb(lake, config, clusters)
    return {each.cluster_id: ClusterResult(cluster_id=each.cluster_id) for each in clusters}


def _both(before: ClusterResult | None, now: ClusterResult) -> ClusterResult:
    """What an earlier round took in is not new to this one, and was taken in by this run."""
    if before is None:
        return now
    more = now if now.records_in >= before.records_in else before
    was_another = before.telemetry_recreated or now.telemetry_recreated
    return dataclasses.replace(more, telemetry_recreated=was_another)
