"""What nobody needs any more: silver of old runs, bronze past its keep."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from spark_analytics.io import lake as lakes

if TYPE_CHECKING:
    from spark_analytics.contracts.runs import RunConfig
    from spark_analytics.io.lake import Lake

_DAY = re.compile(r"dt=(\d{4}-\d{2}-\d{2})$")


def tidy(lake: Lake, config: RunConfig) -> None:
    """Delete silver beyond the newest runs, and bronze batches whose every day is too old."""
    for table in lakes.SILVER:
        runs = lake.children_by_age(f"{lake.uri}/silver/{table}")
        for path in runs[: -config.silver_runs_keep]:
            lake.delete(path)
    oldest = _day(config.to_ts_ms - config.bronze_keep_s * 1000)
    for cluster in lake.children(f"{lake.uri}/bronze"):
        _drop_old_batches(lake, cluster, oldest)


def _drop_old_batches(lake: Lake, cluster: str, oldest: str) -> None:
    for batch in lake.children(cluster):
        parts = [path for part in lake.children(batch) for path in lake.children(part)]
        days = [found[1] for path in parts if (found := _DAY.search(path))]
        # Batches are in order of time: the first that is still wanted ends the search.
        if days and max(days) >= oldest:
            return
        if days:
            lake.delete(batch)


def _day(ts_ms: int) -> str:
    return datetime.fromtimestamp(max(ts_ms, 0) / 1000, UTC).strftime("%Y-%m-%d")
