"""A finished run's files, as Spark would leave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from controlplane.analytics.models import AnalyticsRun
from controlplane.operations.states import RUNNING
from spark_analytics.contracts.gold import (
    FORMULA_VERSION,
    GROUP_EXPIRY,
    GROUP_LAG,
    TOPIC_RETENTION,
    GoldTable,
)
from spark_analytics.contracts.runs import ClusterResult, RunResult, tables_of

WINDOW_MS = 30_000
T0_MS = 1_760_000_010_000 - 1_760_000_010_000 % WINDOW_MS


def gold_row(table: GoldTable, **values: Any) -> dict[str, Any]:
    """A row of the table, null where no value is given."""
    unknown = values.keys() - set(table.column_names)
    assert not unknown, f"{table.name} has no {sorted(unknown)}"
    return {**dict.fromkeys(table.column_names), **values}


def lag_row(cluster_id: str, ts_ms: int, **more: Any) -> dict[str, Any]:
    values = {
        "group": "g",
        "topic": "t",
        "sampled_ms": ts_ms + 20_000,
        "partitions": 1,
        "trend": "steady",
        "lag_records": 10,
        "uncommitted_partitions": 0,
        "uncommitted_records": 0,
        "lag_seconds": 1.5,
        "method": "interpolated",
        "status": "CAUGHT_UP",
        "state": "Stable",
        "members": 1,
        "lost_records": 0,
        "reasons": "",
    }
    return gold_row(GROUP_LAG, **{**values, "cluster_id": cluster_id, "ts_ms": ts_ms, **more})


def retention_row(cluster_id: str, ts_ms: int, **more: Any) -> dict[str, Any]:
    values = {
        "topic": "t",
        "sampled_ms": ts_ms + 20_000,
        "partitions": 1,
        "bytes": 1000,
        "records": 10,
        "age_seconds": 60.0,
        "retention_ms": 3_600_000,
        "retention_bytes": -1,
    }
    return gold_row(TOPIC_RETENTION, **{**values, "cluster_id": cluster_id, "ts_ms": ts_ms, **more})


def expiry_row(cluster_id: str, ts_ms: int, **more: Any) -> dict[str, Any]:
    values = {
        "topic": "t",
        "group": "g",
        "oldest_unread_expires_in_s": 3540.0,
        "method": "interpolated",
        "lost_records": 0,
        "status": "SAFE",
    }
    return gold_row(GROUP_EXPIRY, **{**values, "cluster_id": cluster_id, "ts_ms": ts_ms, **more})


def running(work_dir: Path, **fields: Any) -> AnalyticsRun:
    work_dir.mkdir(parents=True, exist_ok=True)
    values = {"from_ts_ms": T0_MS, "to_ts_ms": T0_MS + 4 * WINDOW_MS, **fields}
    return AnalyticsRun.objects.create(
        state=RUNNING, trigger="manual", work_dir=str(work_dir), **values
    )


def finished(
    run: AnalyticsRun, rows: dict[str, list[dict[str, Any]]], *clusters: ClusterResult
) -> RunResult:
    tables = tables_of(run.job)
    for table in tables:
        lines = "".join(json.dumps(row) + "\n" for row in rows.get(table, []))
        (Path(run.work_dir) / f"{table}.jsonl").write_text(lines)
    return RunResult(
        run_id=run.pk,
        ok=True,
        from_ts_ms=run.from_ts_ms,
        to_ts_ms=run.to_ts_ms,
        formula_version=FORMULA_VERSION,
        clusters=clusters,
        rows={table: len(rows.get(table, [])) for table in tables},
        wall_s=12.5,
    )


def whole_range(cluster_id: str, **more: Any) -> dict[str, list[dict[str, Any]]]:
    moments = [T0_MS + i * WINDOW_MS for i in range(4)]
    return {
        "group_lag": [lag_row(cluster_id, ts, **more) for ts in moments],
        "topic_retention": [retention_row(cluster_id, ts) for ts in moments],
        "group_expiry": [expiry_row(cluster_id, ts) for ts in moments],
    }
