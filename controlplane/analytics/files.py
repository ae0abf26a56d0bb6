"""Rows of an answer as a file: CSV that no spreadsheet runs, Parquet with the contract's types."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from controlplane.common.spreadsheets import no_formula
from spark_analytics.contracts.gold import Column, ColumnType

if TYPE_CHECKING:
    import pyarrow as pa

JSON, CSV, PARQUET = FORMATS = "json", "csv", "parquet"
CONTENT_TYPES = {CSV: "text/csv; charset=utf-8", PARQUET: "application/vnd.apache.parquet"}


def as_csv(columns: Sequence[Column], batches: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    """A head with the names, then batch by batch; what is unknown is empty."""
    yield ",".join(f'"{column.name}"' for column in columns) + "\r\n"
    for batch in batches:
        text = io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        writer.writerows([_cell(row[column.name]) for column in columns] for row in batch)
        yield text.getvalue()


def _cell(value: Any) -> str:
    if not isinstance(value, str):
        return "" if value is None else str(value)
    return no_formula(value)


def as_parquet(columns: Sequence[Column], batches: Iterable[list[dict[str, Any]]]) -> bytes:
    """One file, a row group a batch."""
    # Heavy, and only this needs it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([_field(pa, column) for column in columns])
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, schema) as writer:
        for batch in batches:
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
    return sink.getvalue()


def _field(arrow: Any, column: Column) -> pa.Field:
    kinds = {
        ColumnType.STRING: arrow.string(),
        ColumnType.INT: arrow.int32(),
        ColumnType.LONG: arrow.int64(),
        ColumnType.DOUBLE: arrow.float64(),
    }
    return arrow.field(column.name, kinds[column.type], nullable=column.null)
