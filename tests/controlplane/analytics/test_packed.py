"""Partitions of longer ranges, unpacked."""

from types import SimpleNamespace

import pytest

from controlplane.analytics.throughput.packed import (
    FIELDS,
    PartitionPeriod,
    numbers,
    periods_of,
    rates_in,
    shard_of,
)
from spark_analytics.contracts.gold import NUMBER_CHARS, SHARD_PARTITIONS


def row(partition, **columns):
    return SimpleNamespace(partition=partition, **{**dict.fromkeys(FIELDS, ""), **columns})


def test_what_is_empty_is_unknown_and_no_zero():
    assert numbers("1,,0") == [1, None, 0]
    assert numbers("") == [None]
    assert numbers("-1,x,1e3,٣, 4") == [None] * 5


def test_a_partition_is_found_by_its_number_not_by_its_place():
    of = row("7,9", records_in="1,2", end_offset=",40", covered_ms="10,20")
    assert dict(periods_of(of)) == {
        7: PartitionPeriod(1, None, 10, None, None, None),
        9: PartitionPeriod(2, None, 20, None, 40, None),
    }
    assert [partition for partition, _ in periods_of(of, 9)] == [9]
    assert list(periods_of(of, 8)) == []


def test_a_rate_is_of_what_was_seen():
    seen = PartitionPeriod(120, 600, 60_000, 0, 120, 600)
    assert rates_in(seen, 3600)[:2] == (2.0, 10.0)
    assert rates_in(seen, 3600).known == pytest.approx(60 / 3600)
    assert rates_in(seen._replace(bytes_in=None), 3600)[:2] == (2.0, None)
    for nothing in (None, 0):
        assert rates_in(seen._replace(covered_ms=nothing), 3600)[:2] == (None, None)


def test_the_longest_row_fits_its_column():
    assert shard_of(SHARD_PARTITIONS - 1) == 0
    assert shard_of(SHARD_PARTITIONS) == 1
    longest = ",".join([str(2**63 - 1)] * SHARD_PARTITIONS)
    assert len(longest) <= SHARD_PARTITIONS * NUMBER_CHARS
