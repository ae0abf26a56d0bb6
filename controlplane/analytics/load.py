"""A finished run's gold files → SQL, in one transaction with the run row.

DELETE(range) and insert: a reader sees the rows before or the rows after, never a mix, and loading
the same result twice gives the same rows. PostgreSQL takes them by COPY.
"""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db import DataError, IntegrityError, connection, models, transaction
from django.utils import timezone

from controlplane.analytics.models import (
    AnalyticsRun,
    GoldClusterRollup,
    GoldGroupExpiry,
    GoldGroupLag,
    GoldGroupRollup,
    GoldPartitionRollup,
    GoldTopicRetention,
    GoldTopicRollup,
    RunCluster,
)
from controlplane.operations.states import SUCCEEDED
from spark_analytics.contracts.gold import ALL_TABLES, CLUSTER_ROLLUP
from spark_analytics.contracts.runs import PERIOD_OF_JOB, RunResult, tables_of

MODELS: Mapping[str, type[models.Model]] = {
    "group_lag": GoldGroupLag,
    "topic_retention": GoldTopicRetention,
    "group_expiry": GoldGroupExpiry,
    "group_rollup": GoldGroupRollup,
    "topic_rollup": GoldTopicRollup,
    "cluster_rollup": GoldClusterRollup,
    "partition_rollup": GoldPartitionRollup,
}
INSERT_BATCH = 500
ERROR_LENGTH_MAX = 400
Periods = set[tuple[str, int]]
"""(cluster, when the period begins in milliseconds)."""


class LoadError(Exception):
    """The result's files do not hold what the result says."""


def load_result(run: AnalyticsRun, result: RunResult) -> bool:
    """Put the rows in and mark the run succeeded. False when the run is not running any more, or
    somebody else's to follow.

    Raises:
        LoadError: a file is missing, has another number of rows, or rows that do not fit.
        django.db.OperationalError: the database is away; the files stay, try again.
    """
    try:
        return _load(run, result)
    except (IntegrityError, DataError) as error:
        raise LoadError(f"rows do not fit the tables: {str(error).splitlines()[0]}") from error


def _load(run: AnalyticsRun, result: RunResult) -> bool:
    with transaction.atomic():
        # First the run row: it is the lock, and whoever comes second finds it taken.
        mine = AnalyticsRun.move_all(
            AnalyticsRun.objects.filter(pk=run.pk, lease_token=run.lease_token),
            SUCCEEDED,
            finished_at=timezone.now(),
            formula_version=result.formula_version,
            rows_in=sum(cluster.records_in for cluster in result.clusters),
            rows_rejected=sum(cluster.records_rejected for cluster in result.clusters),
            rows_out=sum(result.rows.values()),
            wall_s=result.wall_s,
            phases_s=dict(result.phases_s),
            error=_partial(result),
        )
        if not mine:
            return False
        for cluster in result.clusters:
            RunCluster.objects.create(
                run=run,
                cluster_id=cluster.cluster_id,
                offsets_end=dict(cluster.offsets_end),
                records_in=cluster.records_in,
                records_rejected=cluster.records_rejected,
                records_skipped=cluster.records_skipped,
                telemetry_recreated=cluster.telemetry_recreated,
                error=(cluster.error or "")[:400],
            )
        computed = {
            cluster.cluster_id: result.from_ts_ms
            if cluster.from_ts_ms is None
            else cluster.from_ts_ms
            for cluster in result.clusters
            if cluster.error is None
        }
        files = {
            table: _rows(Path(run.work_dir) / f"{table}.jsonl", table, result, computed)
            for table in tables_of(run.job)
        }
        kept: Periods = set()
        if run.job in PERIOD_OF_JOB:
            # A row a period: few enough to be read at once.
            of_clusters = list(files[CLUSTER_ROLLUP.name])
            files[CLUSTER_ROLLUP.name] = iter(of_clusters)
            kept = _better_known(run, result, computed, of_clusters)
        for table, rows in files.items():
            _replace(table, rows, run=run, result=result, computed=computed, kept=kept)
        if kept:
            _say(run, f"kept {len(kept)} periods that were computed from more samples")
    return True


def _replace(
    table: str,
    rows: Iterable[list[Any]],
    *,
    run: AnalyticsRun,
    result: RunResult,
    computed: Mapping[str, int],
    kept: Periods,
) -> None:
    """The rows of a table's range by these, but for the periods that are kept."""
    model, names = MODELS[table], ALL_TABLES[table].column_names
    period_s = PERIOD_OF_JOB.get(run.job)
    of_job = {} if period_s is None else {"period_s": period_s}
    for cluster_id, from_ms in computed.items():
        old = model._default_manager.filter(  # noqa: SLF001 - Django's documented name
            cluster_id=cluster_id, ts_ms__gte=from_ms, ts_ms__lt=result.to_ts_ms, **of_job
        )
        old.exclude(ts_ms__in=[ts_ms for known, ts_ms in kept if known == cluster_id]).delete()
    cluster_at, ts_at = names.index("cluster_id"), names.index("ts_ms")
    seen = 0

    def chosen() -> Iterator[tuple[Any, ...]]:
        nonlocal seen
        for row in rows:
            seen += 1
            if (row[cluster_at], row[ts_at]) not in kept:
                yield (*row, run.pk)

    _insert(model, (*names, "run_id"), chosen())
    if seen != result.rows.get(table, 0):
        raise LoadError(f"{table}.jsonl has {seen} rows, not {result.rows.get(table, 0)}")


def _better_known(
    run: AnalyticsRun, result: RunResult, computed: Mapping[str, int], of_clusters: list[list[Any]]
) -> Periods:
    """Periods of which there are rows that were computed from more than this run has seen.

    Silver forgets, or lost a file: what was computed while it was whole is the better answer, and
    nobody could compute it again. More is more windows, of anything, of groups or of topics, or
    more topics or groups.
    """
    names = CLUSTER_ROLLUP.column_names
    cluster_at, ts_at, *places = map(names.index, ("cluster_id", "ts_ms", *_SEEN))
    seen = {
        (row[cluster_at], row[ts_at]): tuple(row[place] for place in places) for row in of_clusters
    }
    there = GoldClusterRollup.objects.filter(
        cluster_id__in=computed,
        period_s=PERIOD_OF_JOB[run.job],
        ts_ms__gte=result.from_ts_ms,
        ts_ms__lt=result.to_ts_ms,
    ).values_list("cluster_id", "ts_ms", *_SEEN)
    nothing = (0,) * len(_SEEN)
    return {
        (cluster_id, ts_ms)
        for cluster_id, ts_ms, *counts in there
        if any(map(operator.gt, counts, seen.get((cluster_id, ts_ms), nothing)))
    }


_SEEN = ("samples", "lag_samples", "bytes_samples", "topics", "groups")


def _say(run: AnalyticsRun, words: str) -> None:
    """Beside what is said of clusters that failed."""
    said = AnalyticsRun.objects.values_list("error", flat=True).get(pk=run.pk)
    error = f"{said}; {words}" if said else words
    AnalyticsRun.objects.filter(pk=run.pk).update(error=error[:ERROR_LENGTH_MAX])


def _partial(result: RunResult) -> str:
    failed = [cluster for cluster in result.clusters if cluster.error is not None]
    if not failed:
        return ""
    first = failed[0]
    said = f"{len(failed)} of {len(result.clusters)} clusters: {first.cluster_id}: {first.error}"
    return said[:ERROR_LENGTH_MAX]


def _rows(
    path: Path, table: str, result: RunResult, computed: Mapping[str, int]
) -> Iterator[list[Any]]:
    columns = ALL_TABLES[table].column_names
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                from_ms = computed.get(row["cluster_id"])
                if from_ms is None or not from_ms <= row["ts_ms"] < result.to_ts_ms:
                    raise LoadError(f"{path.name}: a row outside the run's range: {line[:120]}")
                yield [row[column] for column in columns]
    except (OSError, ValueError, KeyError) as error:
        raise LoadError(f"{path.name}: {error}") from error


def _insert(
    model: type[models.Model], columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]
) -> int:
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    # No field of a gold table is named other than its column.
    names = ", ".join(quote(column) for column in columns)
    count = 0
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Django wraps the driver's errors for the cursor's usual methods only.
            with (
                connection.wrap_database_errors,
                cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy,
            ):
                for row in rows:
                    copy.write_row(row)
                    count += 1
            return count
        marks = ", ".join(["%s"] * len(columns))
        insert = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names are the model's, values are bound
        iterator = iter(rows)
        while batch := list(itertools.islice(iterator, INSERT_BATCH)):
            cursor.executemany(insert, batch)
            count += len(batch)
    return count
