"""Partitions of longer ranges: rows in which Spark left a number each, unpacked. Pure.

What cannot be read as a number is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from controlplane.analytics.throughput.rates import Rates
from spark_analytics.contracts.gold import SHARD_PARTITIONS

FIELDS = ("records_in", "bytes_in", "covered_ms", "start_offset", "end_offset", "bytes_last")


class Packed(Protocol):
    """A row of `GoldPartitionRollup`: texts by the names in `FIELDS`, and whose they are."""

    @property
    def partition(self) -> str: ...


class PartitionPeriod(NamedTuple):
    """One partition in one period; None is unknown."""

    records_in: int | None
    bytes_in: int | None
    covered_ms: int | None
    start_offset: int | None
    end_offset: int | None
    bytes_last: int | None


def shard_of(partition: int) -> int:
    return partition // SHARD_PARTITIONS


def numbers(text: str) -> list[int | None]:
    return [_number(word) for word in text.split(",")]


def _number(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdecimal() else None


def periods_of(row: Packed, wanted: int | None = None) -> Iterator[tuple[int, PartitionPeriod]]:
    """(partition, what is known of it) of those in the row, or of the one that is wanted."""
    partitions = numbers(row.partition)
    columns: Mapping[str, Sequence[int | None]] = {
        name: numbers(getattr(row, name)) for name in FIELDS
    }
    for at, partition in enumerate(partitions):
        if partition is not None and wanted in (None, partition):
            values: list[Any] = [
                column[at] if at < len(column) else None for column in columns.values()
            ]
            yield partition, PartitionPeriod(*values)


def rates_in(period: PartitionPeriod, period_s: int) -> Rates:
    """Of what was seen of the period; what read it is not kept by partition."""
    covered_s = (period.covered_ms or 0) / 1000
    if covered_s <= 0:
        return Rates()
    counts = (period.records_in, period.bytes_in)
    records, size = (None if count is None else count / covered_s for count in counts)
    return Rates(records_in=records, bytes_in=size, known=min(1.0, covered_s / period_s))
