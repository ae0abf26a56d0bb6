"""Rollups as a run would leave them, in SQL."""

from __future__ import annotations

from typing import Any

from controlplane.analytics.load import MODELS
from spark_analytics.contracts.gold import DAY_S, HOUR_S, ROLLUP_TABLES, ColumnType

DAY_MS = DAY_S * 1000
HOUR_MS = HOUR_S * 1000
T0_MS = 1_760_000_000_000 // DAY_MS * DAY_MS

_DEFAULTS = {ColumnType.INT: 0, ColumnType.LONG: 0, ColumnType.DOUBLE: 0.0, ColumnType.STRING: ""}


def rollup_row(table: str, cluster_id: str, at: int, **more: Any) -> dict[str, Any]:
    """The `at`th hour (or day, by `period_s`) from T0; null where no value is given."""
    columns = ROLLUP_TABLES[table].columns
    period_s = more.get("period_s", HOUR_S)
    ts_ms = T0_MS + at * period_s * 1000
    values = {
        "cluster_id": cluster_id,
        "group": "g",
        "topic": "t",
        "period_s": period_s,
        "ts_ms": ts_ms,
        "sampled_ms": ts_ms + period_s * 1000 - 10_000,
        "samples": period_s // 30,
        "expected": period_s // 30,
        "partitions": 2,
        **more,
    }
    unknown = more.keys() - {column.name for column in columns}
    assert not unknown, f"{table} has no {sorted(unknown)}"
    return {
        column.name: values.get(column.name, None if column.null else _DEFAULTS[column.type])
        for column in columns
    }


def stored(table: str, cluster_id: str, at: int, **more: Any) -> Any:
    row = rollup_row(table, cluster_id, at, **more)
    return MODELS[table]._default_manager.create(**row, run_id="run_x")  # noqa: SLF001 - Django's documented name
