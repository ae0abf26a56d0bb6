"""A finished run's gold files → SQL, in one transaction with the run row.

DELETE(range) and insert: a reader sees the rows before or the rows after, never a mix, and loading
the same result twice gives the same rows. PostgreSQL takes them by COPY.
"""

from __future__ import annotations

import itertools
import json
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
    GoldTopicRetention,
    GoldTopicRollup,
    RunCluster,
)
from controlplane.operations.states import SUCCEEDED
from spark_analytics.contracts.gold import ALL_TABLES
from spark_analytics.contracts.runs import PERIOD_OF_JOB, RunResult, tables_of

MODELS: Mapping[str, type[models.Model]] = {
    "group_lag": GoldGroupLag,
    "topic_retention": GoldTopicRetention,
    "group_expiry": GoldGroupExpiry,
    "group_rollup": GoldGroupRollup,
    "topic_rollup": GoldTopicRollup,
    "cluster_rollup": GoldClusterRollup,
}
INSERT_BATCH = 500


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
        period_s = PERIOD_OF_JOB.get(run.job)
        of_job = {} if period_s is None else {"period_s": period_s}
        for table in tables_of(run.job):
            model = MODELS[table]
            for cluster_id, from_ms in computed.items():
                model._default_manager.filter(  # noqa: SLF001 - Django's documented name
                    cluster_id=cluster_id, ts_ms__gte=from_ms, ts_ms__lt=result.to_ts_ms, **of_job
                ).delete()
            rows = _rows(Path(run.work_dir) / f"{table}.jsonl", table, result, computed)
            count = _insert(
                model, (*ALL_TABLES[table].column_names, "run_id"), ((*r, run.pk) for r in rows)
            )
            if count != result.rows.get(table, 0):
                raise LoadError(f"{table}.jsonl has {count} rows, not {result.rows.get(table, 0)}")
    return True


def _partial(result: RunResult) -> str:
    failed = [cluster for cluster in result.clusters if cluster.error is not None]
    if not failed:
        return ""
    first = failed[0]
    return f"{len(failed)} of {len(result.clusters)} clusters: {first.cluster_id}: {first.error}"[
        :400
    ]


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
