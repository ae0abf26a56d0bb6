"""One and the same question of the same files: Spark's run, our formulas alone, and polars.

Lag, time lag and lost records of each group on each topic, by the window. Of one machine; polars
and the formulas alone have no start-up of Java, no other machine to go to, and nothing that goes on
when a process dies.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import dataset

from spark_analytics.contracts.rules import Rules
from spark_analytics.formulas.tables import gold_of
from spark_analytics.io.lake import Lake
from spark_analytics.jobs.absorb import absorb
from spark_analytics.jobs.gold import write_gold
from spark_analytics.jobs.silver import read_silver
from tests.bench.spark.runs import HOUR_MS, TO_MS, config_of, session_of
from tests.bench.spark.table import note, timed

FROM_MS = TO_MS - HOUR_MS
PACKAGES = Path(__file__).resolve().parents[3] / "build" / "bench" / "python"


def measure(path: Path, title: str, goal: str) -> None:
    samples = int((path / "samples").read_text())
    config = config_of(path, FROM_MS, TO_MS)
    spark = session_of(config)
    lake = Lake.opened(spark, config.data_uri)
    absorb(lake, config, config.clusters)
    with timed("Spark", title, samples, goal):
        silver = read_silver(lake, config, config.clusters)
        write_gold(silver, config, on_table=lambda _done, _name: None)
    spark.stop()
    with timed("formulas"):
        ours = _by_formulas(path)
    with timed("polars"):
        theirs = _by_polars(path)
    _compare(ours, theirs)


def _files(path: Path, table: str) -> Any:
    return dataset.dataset(path / "tables" / "silver" / table / "data", format="parquet")


def _by_formulas(path: Path) -> dict[tuple[str, str, int], tuple[Any, ...]]:
    """All of gold, in one process."""
    parts = []
    for kind in ("topic", "group"):
        rows = _files(path, f"{kind}_slice").to_table()
        nothing = pa.nulls(rows.num_rows, pa.int64())
        rows = rows.append_column("kind", pa.array([kind] * rows.num_rows))
        parts.append(rows.append_column("from_ms", nothing.fill_null(FROM_MS)))
    table = pa.concat_tables(parts, promote_options="default")
    found = {}
    for batch in gold_of(table, Rules()):
        for row in batch.column("group_lag").to_pylist():
            if row is not None and row["ts_ms"] < TO_MS:
                key = (row["group"], row["topic"], row["ts_ms"])
                found[key] = (row["lag_records"], row["lag_seconds"], row["lost_records"])
    return found


def _by_polars(path: Path) -> dict[tuple[str, str, int], tuple[Any, ...]]:
    """No rates, no trend, no status; two as-of joins around each committed offset."""
    sys.path.append(str(PACKAGES))
    import polars as pl  # type: ignore[import-not-found,unused-ignore] # of the benchmark's own lock

    log = ["topic", "topic_id", "partition"]
    groups = (
        pl.scan_parquet(path / "tables/silver/group_slice/data/**/*.parquet")
        .filter(pl.col("window_ms").is_between(FROM_MS, TO_MS, closed="left"))
        .explode("partition", "committed_offset", "log_start_offset", "log_end_offset")
        .with_columns(at=pl.col("committed_offset"))
        .sort("at")
    )
    ends = (
        pl.scan_parquet(path / "tables/silver/topic_slice/data/**/*.parquet")
        .select("topic", "topic_id", "ts_ms", "partition", "log_end_offset")
        .explode("partition", "log_end_offset")
    )
    left = ends.rename({"ts_ms": "left_ms", "log_end_offset": "left"}).sort("left", "left_ms")
    right = ends.rename({"ts_ms": "right_ms", "log_end_offset": "right"})
    right = right.sort("right", "right_ms", descending=[False, True])
    around = groups.join_asof(
        left, left_on="at", right_on="left", by=log, strategy="backward", coalesce=False
    ).join_asof(
        right,
        left_on="at",
        right_on="right",
        by=log,
        strategy="forward",
        allow_exact_matches=False,
        coalesce=False,
    )
    is_open = pl.col("right_ms").is_null() | (pl.col("right_ms") > pl.col("ts_ms"))
    closing_ms = pl.when(is_open).then("ts_ms").otherwise("right_ms")
    closing = pl.when(is_open).then("log_end_offset").otherwise("right")
    share = (pl.col("at") - pl.col("left")) / (closing - pl.col("left"))
    first_ms = pl.col("left_ms") + share * (closing_ms - pl.col("left_ms"))
    lag = (pl.col("log_end_offset") - pl.col("at")).clip(0)
    rows = (
        around.with_columns(
            lag=lag,
            late=pl.when(pl.col("at") >= pl.col("log_end_offset"))
            .then(0.0)
            .otherwise((pl.col("ts_ms") - first_ms) / 1000),
            lost=(pl.col("log_start_offset") - pl.col("at")).clip(0),
        )
        .group_by("group", "topic", "window_ms")
        .agg(pl.col("lag").sum(), pl.col("late").max(), pl.col("lost").sum())
        .collect()
    )
    return {(g, t, w): (lag, late, lost) for g, t, w, lag, late, lost in rows.iter_rows()}


def _compare(ours: dict[Any, tuple[Any, ...]], theirs: dict[Any, tuple[Any, ...]]) -> None:
    """Numbers that are known to both are the same, else the figure says nothing."""
    if ours.keys() != theirs.keys():
        raise SystemExit(f"{len(ours)} rows of ours, {len(theirs)} of polars")
    for key, (lag, late, lost) in ours.items():
        other = theirs[key]
        same_lag = lag == other[0] and lost == other[2]
        if not same_lag or (late is not None and abs(late - other[1]) > 1e-3):
            raise SystemExit(f"{key}: {ours[key]} of ours, {other} of polars")
    note(f"the same {len(ours):,} rows by both")
