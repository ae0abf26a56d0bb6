"""Slices as Arrow tables ↔ flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC
from spark_analytics.formulas.groups import Slices
from spark_analytics.formulas.known import Floats
from spark_analytics.formulas.samples import GroupSamples, Ints, TopicSamples
from spark_analytics.formulas.segments import Indexes, run_of, starts_of

TOPIC_KEY = ("cluster_id", "topic")
SAMPLES_AT_ONCE = 500_000
"""Partitions and windows that are computed together; of a larger topic all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Slices of one kind, sorted by topic, group, topic id and window, and their partitions.

    A slice that came in several records is several rows of `table`; `starts` is where each slice
    begins among the partitions, `heads` its first row.
    """

    table: pa.Table
    starts: Indexes
    heads: Indexes
    row: Indexes
    """Of each partition the row that it lies in."""

    def flat(self, name: str) -> Floats:
        """An array column, one element a partition; NaN is null."""
        column = self.table.column(name).combine_chunks()
        values = _floats(column.flatten())
        if column.null_count == 0:
            return values
        found = np.full(len(self.row), np.nan)
        found[np.asarray(column.is_valid())[self.row]] = values
        return found

    def each(self, name: str) -> Floats:
        """A number of the slice, one element a partition; NaN is null."""
        return _floats(self.table.column(name))[self.row]

    def ints(self, name: str) -> Ints:
        """A number of the row that is always known, one element a row."""
        found: Ints = np.asarray(self.table.column(name)).astype(np.int64)
        return found

    def of_slice(self, name: str) -> pa.Array:
        """A column, one element a slice."""
        return self.table.column(name).take(pa.array(self.heads)).combine_chunks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """What a table of whole topics holds."""

    topics: Rows
    groups: Rows
    topic_samples: TopicSamples
    group_samples: GroupSamples
    slices: Slices
    """Of `groups`."""
    logs: int


def whole_topics(batches: Iterable[pa.RecordBatch], at_once: int) -> Iterator[pa.Table]:
    """Batches that are sorted by topic → tables of whole topics, of about that many samples."""
    pending: list[pa.RecordBatch] = []
    samples = 0
    for batch in batches:
        pending.append(batch)
        samples += len(batch.column("partition").flatten())
        if samples < at_once:
            continue
        change = _last_change(batch, pending[-2] if len(pending) > 1 else None)
        if change is None:
            continue
        pending[-1] = batch.slice(0, change)
        yield pa.Table.from_batches(pending)
        pending = [batch.slice(change)]
        samples = len(pending[0].column("partition").flatten())
    if pending:
        yield pa.Table.from_batches(pending)


def laid_flat(table: pa.Table) -> Flat:
    """Rows of topics and groups, of whole topics, in any order."""
    topic_no = _numbered(table, (*TOPIC_KEY, "topic_id"))
    window_ms = np.asarray(table.column("window_ms")).astype(np.int64)
    kind = table.column("kind")
    topics = _rows(table, kind, KIND_TOPIC, (topic_no, window_ms))
    group_no = _numbered(table, ("group",))
    groups = _rows(table, kind, KIND_GROUP, (topic_no, group_no, window_ms))
    log, logs = _logs(topics, groups)
    of_topics, of_groups = log[: len(topics.row)], log[len(topics.row) :]
    groups_no = _numbered(groups.table, ("group",))
    heads = groups.heads
    series_starts = starts_of(groups.ints("topic_no")[heads], groups_no[heads])
    window, ts_ms = groups.ints("window_ms"), groups.ints("ts_ms")
    return Flat(
        topics=topics,
        groups=groups,
        logs=logs,
        topic_samples=TopicSamples(
            log=of_topics,
            window_ms=topics.ints("window_ms")[topics.row],
            ts_ms=topics.ints("ts_ms")[topics.row],
            leader_epoch=topics.flat("leader_epoch"),
            log_end_offset=topics.flat("log_end_offset"),
            size_bytes=topics.flat("size_bytes"),
            oldest_ts_ms=topics.flat("oldest_ts_ms"),
            retention_ms=topics.each("retention_ms"),
            retention_bytes=topics.each("retention_bytes"),
        ),
        group_samples=GroupSamples(
            slice=run_of(groups.starts, len(groups.row)),
            series=np.unique(groups_no[groups.row] * logs + of_groups, return_inverse=True)[1],
            log=of_groups,
            window_ms=window[groups.row],
            ts_ms=ts_ms[groups.row],
            from_ms=groups.ints("from_ms")[groups.row],
            committed_offset=groups.flat("committed_offset"),
            log_start_offset=groups.flat("log_start_offset"),
            log_end_offset=groups.flat("log_end_offset"),
        ),
        slices=Slices(
            series=run_of(series_starts, len(heads)),
            window_ms=window[heads],
            sampled_ms=ts_ms[heads],
            from_ms=groups.ints("from_ms")[heads],
            members=_floats(groups.table.column("members"))[heads],
        ),
    )


def columns_of(values: Mapping[str, Any], schema: pa.Schema) -> pa.RecordBatch:
    """Arrays by name → a batch of that schema; NaN is null."""
    return pa.RecordBatch.from_arrays(
        [_array(values[field.name], field.type) for field in schema], schema=schema
    )


def words(choices: Sequence[str], numbers: NDArray[np.int64]) -> pa.Array:
    """The words by their number; null where it is negative."""
    return pa.array(choices, pa.string()).take(pa.array(np.maximum(numbers, 0), mask=numbers < 0))


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array):
        return values.cast(kind)
    if isinstance(values, list):
        return pa.array([str(value) for value in values], kind)
    unknown = np.isnan(values)
    if pa.types.is_integer(kind):
        values = np.where(unknown, 0, values).astype(np.int64)
    return pa.array(values, mask=unknown).cast(kind)


def _floats(values: Any) -> Floats:
    found: Floats = np.array(values.cast(pa.float64(), safe=False), dtype=float)
    return found


def _last_change(batch: pa.RecordBatch, before: pa.RecordBatch | None) -> int | None:
    """The last row that is of another topic than the row before it; None where none is."""
    found = 0
    for name in TOPIC_KEY:
        column = batch.column(name)
        differs = np.asarray(pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)))
        rows = np.flatnonzero(differs)
        if len(rows):
            found = max(found, int(rows[-1]) + 1)
    if found == 0 and before is not None:
        same = all(
            batch.column(name)[0] == before.column(name)[before.num_rows - 1] for name in TOPIC_KEY
        )
        return None if same else 0
    return found or None


def _numbered(table: pa.Table, names: tuple[str, ...]) -> Ints:
    """Numbers the combinations of these columns."""
    found = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        encoded = table.column(name).combine_chunks().dictionary_encode("encode")
        codes = np.asarray(encoded.indices).astype(np.int64)
        found = np.unique(found * max(len(encoded.dictionary), 1) + codes, return_inverse=True)[1]
    return found


def _rows(table: pa.Table, kinds: pa.ChunkedArray, kind: str, keys: tuple[Ints, ...]) -> Rows:
    mine = np.flatnonzero(np.asarray(pc.equal(kinds, kind)))
    sorted_keys = [key[mine] for key in keys]
    order = np.lexsort(tuple(reversed(sorted_keys)))
    chosen = table.append_column("topic_no", pa.array(keys[0])).take(pa.array(mine[order]))
    heads = starts_of(*(key[order] for key in sorted_keys))
    lengths = np.asarray(pc.list_value_length(chosen.column("partition"))).astype(np.int64)
    begins = np.cumsum(lengths) - lengths
    return Rows(
        table=chosen,
        starts=begins[heads],
        heads=heads,
        row=np.repeat(np.arange(len(mine)), lengths),
    )


def _logs(topics: Rows, groups: Rows) -> tuple[Ints, int]:
    """The number of the log of each partition of the topics' rows, then of the groups'."""
    keys = [
        (rows.ints("topic_no")[rows.row] << 32) + rows.flat("partition").astype(np.int64)
        for rows in (topics, groups)
    ]
    found, log = np.unique(np.concatenate(keys), return_inverse=True)
    return log, len(found)
