"""Tables of whole topics → rows of gold, and lags by partition, as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from spark_analytics.contracts.gold import (
    GROUP_EXPIRY,
    GROUP_LAG,
    TOPIC_RETENTION,
    ColumnType,
    GoldTable,
)
from spark_analytics.contracts.rules import Rules
from spark_analytics.formulas import groups, topics
from spark_analytics.formulas.arrow import Flat, Rows, columns_of, laid_flat, words
from spark_analytics.formulas.partitions import METHODS
from spark_analytics.formulas.samples import Ints
from spark_analytics.formulas.standings import judged, lagging

TABLES = (GROUP_LAG, GROUP_EXPIRY, TOPIC_RETENTION)
_TYPES = {
    ColumnType.STRING: pa.string(),
    ColumnType.INT: pa.int32(),
    ColumnType.LONG: pa.int64(),
    ColumnType.DOUBLE: pa.float64(),
}
_LAGS = pa.schema(
    [
        *((name, pa.string()) for name in ("cluster_id", "group", "topic", "topic_id")),
        ("partition", pa.int32()),
        *((name, pa.int64()) for name in ("window_ms", "ts_ms")),
        *((name, pa.int64()) for name in ("committed_offset", "log_start_offset")),
        *((name, pa.int64()) for name in ("log_end_offset", "size_bytes")),
        *((name, pa.int64()) for name in ("lag_records", "lost_records")),
        *((name, pa.float64()) for name in ("time_lag_s", "time_lag_at_least_s")),
    ]
)


def gold_of(table: pa.Table, rules: Rules) -> Iterator[pa.RecordBatch]:
    """Of each slice from `from_ms` on a row of its tables, in a column by the table's name."""
    flat = laid_flat(table)
    if len(flat.groups.row):
        found = _of_groups(flat, rules)
        wanted = flat.slices.window_ms >= flat.slices.from_ms
        yield _batch({GROUP_LAG: found[GROUP_LAG], GROUP_EXPIRY: found[GROUP_EXPIRY]}, wanted)
    if len(flat.topics.row):
        # Those of the look-back need not bring what the table shows.
        heads = flat.topics.heads
        wanted = flat.topics.ints("window_ms")[heads] >= flat.topics.ints("from_ms")[heads]
        yield _batch({TOPIC_RETENTION: _of_topics(flat.topics)}, wanted)


def lags_of(table: pa.Table, rules: Rules) -> Iterator[pa.RecordBatch]:
    """What each sample of a group says of each partition."""
    flat = laid_flat(table)
    rows, samples = flat.groups, flat.group_samples
    if len(rows.row) == 0:
        return
    one = lagging(flat.topic_samples, samples, flat.logs, rules)
    of_row = pa.array(rows.row)
    names = ("cluster_id", "group", "topic", "topic_id")
    texts = {name: rows.table.column(name).combine_chunks().take(of_row) for name in names}
    values = {
        "partition": rows.flat("partition"),
        "window_ms": samples.window_ms,
        "ts_ms": samples.ts_ms,
        "committed_offset": samples.committed_offset,
        "log_start_offset": samples.log_start_offset,
        "log_end_offset": samples.log_end_offset,
    }
    yield columns_of(texts | values | one.found, _LAGS)


def _of_groups(flat: Flat, rules: Rules) -> dict[GoldTable, Mapping[str, Any]]:
    rows, slices, starts = flat.groups, flat.slices, flat.groups.starts
    one = judged(flat.topic_samples, flat.group_samples, flat.logs, rules)
    facts = groups.rolled(one.stands, one.found, one.method, starts)
    facts |= groups.trend_of(slices, facts, rules)
    name = {name: rows.of_slice(name) for name in ("cluster_id", "group", "topic", "state")}
    key = name | {"ts_ms": slices.window_ms}
    lag = key | facts
    lag |= {
        "sampled_ms": slices.sampled_ms,
        "members": slices.members,
        "method": words(METHODS, facts["method"]),
        "trend": facts["trend"].tolist(),
        "status": groups.statuses(facts, slices.members, rules),
        "reasons": groups.reasons(facts),
    }
    due = groups.expiries(one.stands, one.found, one.method, starts)
    return {GROUP_LAG: lag, GROUP_EXPIRY: key | due | {"method": words(METHODS, due["method"])}}


def _of_topics(rows: Rows) -> dict[str, Any]:
    names = ("log_start_offset", "log_end_offset", "size_bytes", "oldest_ts_ms")
    sampled_ms: Ints = rows.ints("ts_ms")[rows.heads]
    held = topics.held(
        {name: rows.flat(name) for name in names}, sampled_ms.astype(float), rows.starts
    )
    of_slice = ("cluster_id", "topic", "retention_ms", "retention_bytes")
    return {
        **{name: rows.of_slice(name) for name in of_slice},
        **held,
        "ts_ms": rows.ints("window_ms")[rows.heads],
        "sampled_ms": sampled_ms,
    }


def _batch(found: Mapping[GoldTable, Mapping[str, Any]], wanted: Any) -> pa.RecordBatch:
    """A column a table, of the slices that are wanted; null where a table has nothing of them."""
    chosen = pa.array(np.flatnonzero(wanted))
    columns = []
    for table in TABLES:
        schema = pa.schema([(column.name, _TYPES[column.type]) for column in table.columns])
        kind = pa.struct(list(schema))
        if table in found:
            rows = columns_of(found[table], schema).take(chosen)
            columns.append(pa.StructArray.from_arrays(rows.columns, fields=list(schema)))
        else:
            columns.append(pa.nulls(len(chosen), kind))
    return pa.RecordBatch.from_arrays(columns, names=[table.name for table in TABLES])
