"""What a hostile batch becomes in memory has an end, in the library's own hands."""

import itertools
import subprocess
import sys
import textwrap

import pytest
from kafka import TopicPartition
from kafka.consumer import fetcher
from kafka.errors import CorruptRecordError
from kafka.record.memory_records import MemoryRecords

from controlplane.gateway import bounded_records, record_reader
from controlplane.gateway.bounded_records import TooManyRecordsError
from controlplane.gateway.record_port import HEADERS_MAX
from tests.controlplane.gateway.hostile_batches import (
    batch,
    legacy_message,
    legacy_set,
    record,
)

TP = TopicPartition("t", 0)
MIB = 1024 * 1024


def rows(data, *, offset=0, most=500):
    """As a consumer's poll gets them of an answer."""
    found = fetcher.Fetcher.PartitionRecords(offset, TP, MemoryRecords(data))
    return found.take(most)


def records(data, **how):
    return [record_reader._record(row) for row in rows(data, **how)]  # noqa: SLF001 - the unit


def header(name, value):
    return record_header(name) + record_header(value)


def record_header(raw):
    return b"\x01" if raw is None else bytes([2 * len(raw)]) + raw


@pytest.mark.parametrize("is_packed", [True, False])
def test_an_honest_batch_is_read_as_ever(is_packed):
    headers = header(b"a", b"1") + header(b"none", None) + header(b"", b"")
    data = batch(
        record(0, key=b"k", value=b"v", headers=headers, count=3) + record(4, value=b""),
        count=2,
        base=10,
        last=5,
        is_packed=is_packed,
    )
    first, second = records(data, offset=10)
    assert (first.offset, first.key, first.value, first.timestamp_ms) == (10, b"k", b"v", 0)
    assert first.headers == (("a", b"1"), ("none", None), ("", b""))
    assert first.headers_left_out == second.headers_left_out == 0
    assert (second.offset, second.key, second.value, second.headers) == (14, None, b"", ())


def test_headers_beyond_the_bound_are_counted_and_not_decoded():
    many = record(0, value=b"v", headers=b"\0\1" * 5_000, count=5_000) + record(1, value=b"next")
    first, second = records(batch(many, count=2))
    assert len(first.headers) == HEADERS_MAX
    assert first.headers_left_out == 5_000 - HEADERS_MAX
    assert second.value == b"next"


def test_what_lies_in_front_is_passed_over_without_being_decoded(monkeypatch):
    data = batch(b"".join(record(n, value=b"%d" % n) for n in range(1_000)), count=1_000, base=50)
    decoded = []

    class Counted(bounded_records.Headers):
        def __init__(self):
            super().__init__()
            decoded.append(self)

    monkeypatch.setattr(bounded_records, "Headers", Counted)
    found = rows(data, offset=1_040, most=5)
    assert [row.offset for row in found] == [1_040, 1_041, 1_042, 1_043, 1_044]
    assert len(decoded) == 5
    assert rows(data, offset=1_050) == []


@pytest.mark.parametrize(
    "data",
    [
        batch(record(0, count=2**31), count=1),
        batch(record(0, headers=b"\0\1", count=2), count=1),
        batch(record(0, headers=b"\0\1", count=-1), count=1),
        batch(record(0, headers=b"\x01\1", count=1), count=1),
        batch(record(0, headers=b"\0\x7e", count=1), count=1),
        batch(record(0, headers=b"\0\1\0\1", count=1), count=1),
        batch(record(0, length=0), count=1),
        batch(record(0, length=10_000), count=1),
        batch(record(0, length=-5), count=1),
        batch(record(1) + record(0), count=2),
        batch(record(0) + record(0), count=2),
        batch(record(7), count=1),
        batch(record(-1), count=1),
        batch(record(0), count=1, last=-2),
        batch(record(0), count=2),
        batch(record(0) + record(1), count=1),
    ],
    ids=itertools.count(),
)
def test_what_contradicts_itself_is_refused(data):
    found = fetcher.Fetcher.PartitionRecords(0, TP, MemoryRecords(data))

    def drain():
        while found:
            found.take(500)

    with pytest.raises(CorruptRecordError):
        drain()


def test_a_batch_of_too_many_records_is_refused_and_where_to_go_on_is_said(monkeypatch):
    monkeypatch.setattr(bounded_records, "BATCH_RECORDS_MAX", 10)
    monkeypatch.setattr(bounded_records, "LEGACY_RECORDS_MAX", 10)
    many = b"".join(record(n) for n in range(11))
    with pytest.raises(TooManyRecordsError, match=r"offset 7 .* begin at offset 18 "):
        rows(batch(many, count=11, base=7), offset=7)
    assert len(rows(batch(many[: -len(record(10))], count=10))) == 10
    legacy = b"".join(legacy_message(n) for n in range(11))
    with pytest.raises(TooManyRecordsError, match="begin at offset 11 "):
        rows(legacy_set(legacy, base=10))


def test_legacy_sets_go_round_in_no_circle():
    assert [row.offset for row in rows(legacy_set(legacy_message(0) + legacy_message(1), base=1))]
    for length in (-12, 0, 10_000):
        with pytest.raises(CorruptRecordError):
            rows(legacy_set(legacy_message(0, length=length)))
    with pytest.raises(CorruptRecordError):
        rows(legacy_set(b""))


HOSTILE = """
    import resource
    from controlplane.gateway import record_reader
    from tests.controlplane.gateway.hostile_batches import batch, record
    from tests.controlplane.gateway.test_bounded_records import records

    def peak_mib():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

    COUNT = 20_000_000
    data = batch(record(0, headers=bytes(2 * COUNT), count=COUNT), count=1)
    before = peak_mib()
    (found,) = records(data)
    assert found.headers_left_out == COUNT - len(found.headers)
    print(len(data), before, peak_mib())
"""


def test_millions_of_headers_take_no_more_memory_than_their_bytes():
    """40 MB of headers in a batch of some 40 kB; as objects they would be 4 GiB."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(HOSTILE)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    size, before_mib, peak_mib = map(int, done.stdout.split())
    assert size < MIB
    # Unpacked it is held about three times by the library, while it is copied.
    assert peak_mib - before_mib < 200
