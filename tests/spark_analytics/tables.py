"""Telemetry of tests as the tables that a task of Spark's reads, and what comes of them."""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa

from spark_analytics.contracts.gold import GOLD_TABLES
from spark_analytics.formulas.tables import gold_of
from tests.spark_analytics.reference import last_slices

INTS = pa.list_(pa.int32())
LONGS = pa.list_(pa.int64())
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("kind", "cluster_id", "topic", "topic_id", "group")),
        *((name, pa.int64()) for name in ("window_ms", "ts_ms", "from_ms")),
        ("state", pa.string()),
        ("members", pa.int32()),
        *((name, pa.int64()) for name in ("retention_ms", "retention_bytes")),
        *((name, INTS) for name in ("partition", "leader_epoch")),
        *((name, LONGS) for name in ("committed_offset", "log_start_offset", "log_end_offset")),
        *((name, LONGS) for name in ("size_bytes", "oldest_ts_ms")),
    ]
)


def table_of(slices, rules, from_ms=0):
    """The last slice of each window, of whole topics."""
    rows = [
        {name: one.get(name) for name in SCHEMA.names if name not in {"from_ms", "topic_id"}}
        | {"from_ms": from_ms, "topic_id": one.get("topic_id") or ""}
        for one in last_slices(slices, rules)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def gold(slices, rules, from_ms=0):
    """Rows of each gold table."""
    found = defaultdict(list)
    for batch in gold_of(table_of(slices, rules, from_ms), rules):
        for row in batch.to_pylist():
            for name, values in row.items():
                if values is not None:
                    found[name].append(values)
    return {name: found[name] for name in GOLD_TABLES}
