"""Record batches: built, patched, iterated, and read by somebody else's code."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder

from dataplane.wire.compression import Compression, compress, decompress
from dataplane.wire.errors import WireError
from dataplane.wire.record_batch import (
    BatchHeader,
    NewRecord,
    assign_offsets_in_place,
    build_batch,
    iter_batches,
    iter_records,
    next_batch_size,
    set_log_append_time,
    validate_crc,
)

RECORDS = st.lists(
    st.builds(
        NewRecord,
        st.none() | st.binary(max_size=20),
        st.none() | st.binary(max_size=200),
        st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3),
        st.integers(0, 2**48),
    ),
    min_size=1,
    max_size=5,
)


@given(RECORDS, st.sampled_from(Compression), st.integers(0, 2**62))
@settings(deadline=None)
def test_records_are_read_back(records: list[NewRecord], codec: Compression, offset: int) -> None:
    batch = build_batch(
        records,
        base_offset=offset,
        compression=codec,
        producer_id=7,
        producer_epoch=1,
        base_sequence=3,
    )
    assert validate_crc(batch)
    header = BatchHeader.parse(batch)
    assert header.size_bytes == len(batch) == next_batch_size(batch, 0)
    assert (header.record_count, header.codec, header.last_offset) == (
        len(records),
        codec,
        offset + len(records) - 1,
    )
    assert header.last_sequence == 3 + len(records) - 1
    assert header.max_timestamp_ms == max(r.timestamp_ms for r in records)
    read = list(iter_records(batch))
    assert [(r.key, r.value, list(r.headers), r.timestamp_ms) for r in read] == [
        (r.key, r.value, list(r.headers), r.timestamp_ms) for r in records
    ]
    assert [r.offset for r in read] == list(range(offset, offset + len(records)))


def test_another_implementation_reads_ours() -> None:
    for codec in (Compression.NONE, Compression.GZIP):
        batch = build_batch(
            [NewRecord(b"k", b"v", [("h", b"x")], 5), NewRecord(None, None)], compression=codec
        )
        theirs = MemoryRecords(bytes(batch)).next_batch()
        assert theirs.validate_crc()
        assert [(r.key, r.value, r.timestamp) for r in theirs] == [(b"k", b"v", 5), (None, None, 0)]


def test_we_read_another_implementation() -> None:
    for codec in (0, 1):
        builder = MemoryRecordsBuilder(2, codec, 10_000)
        builder.append(123, b"k", b"v" * 100, [("h", b"x")])
        builder.append(124, None, b"w")
        builder.close()
        batch = bytes(builder.buffer())
        assert validate_crc(batch)
        assert [(r.offset, r.timestamp_ms, r.key, r.value) for r in iter_records(batch)] == [
            (0, 123, b"k", b"v" * 100),
            (1, 124, None, b"w"),
        ]


def test_offset_and_epoch_are_patched_outside_the_crc() -> None:
    batch = build_batch([NewRecord(b"k", b"v")])
    framed = bytearray(b"###") + batch
    assign_offsets_in_place(framed, 3, 1000, 9)
    header = BatchHeader.parse(framed, 3)
    assert (header.base_offset, header.partition_leader_epoch) == (1000, 9)
    assert validate_crc(framed, 3)


def test_log_append_time_stamps_every_record() -> None:
    batch = build_batch([NewRecord(b"k", b"v", (), 5), NewRecord(b"k", b"v", (), 9)])
    set_log_append_time(batch, 0, 777)
    assert validate_crc(batch)
    assert BatchHeader.parse(batch).is_log_append_time
    assert [r.timestamp_ms for r in iter_records(batch)] == [777, 777]


def test_batches_are_iterated_up_to_a_partial_one() -> None:
    one, two = (
        build_batch([NewRecord(b"a", b"")]),
        build_batch([NewRecord(b"b", b"")], base_offset=1),
    )
    assert [pos for pos, _ in iter_batches(bytes(one + two + two[:-1]))] == [0, len(one)]
    assert list(iter_batches(bytes(one[:30]))) == []


@pytest.mark.parametrize("length", [-1, 0, 48, -(2**31)])
def test_an_impossible_length_is_refused(length: int) -> None:
    batch = build_batch([NewRecord(b"a", b"")])
    batch[8:12] = length.to_bytes(4, "big", signed=True)
    with pytest.raises(WireError):
        list(iter_batches(batch))
    assert not validate_crc(batch)


def test_every_flipped_bit_under_the_crc_is_noticed() -> None:
    batch = build_batch([NewRecord(b"key", b"value")])
    for position in range(21, len(batch)):
        batch[position] ^= 1
        assert not validate_crc(batch)
        batch[position] ^= 1


@given(st.binary(max_size=80), st.sampled_from(Compression))
@settings(deadline=None)
def test_damaged_records_raise_wire_errors_only(garbage: bytes, codec: Compression) -> None:
    batch = build_batch([NewRecord(b"key", b"value")], compression=codec)
    damaged = batch[:61] + garbage
    damaged[8:12] = (len(damaged) - 12).to_bytes(4, "big")
    try:
        read = list(iter_records(damaged))
    except WireError:
        return
    assert len(read) == 1, "as many as the header says"


@pytest.mark.parametrize("codec", list(Compression)[1:])
def test_a_bomb_stops_at_the_limit(codec: Compression) -> None:
    bomb = compress(codec, bytes(3_000_000))
    assert decompress(codec, bomb) == bytes(3_000_000)
    with pytest.raises(WireError):
        decompress(codec, bomb, limit=1_000_000)


def test_raw_snappy_is_read_too() -> None:
    import cramjam

    raw = bytes(cramjam.snappy.compress_raw(b"abc" * 100))
    assert decompress(Compression.SNAPPY, raw) == b"abc" * 100


def _damaged(record: bytes, *, base_timestamp_ms: int = 0) -> bytearray:
    """A batch of one record that is these bytes, behind its length."""
    batch = build_batch([NewRecord(b"k", b"v", (), base_timestamp_ms)])[:61]
    batch += bytes([2 * len(record)]) + record
    batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
    return batch


@pytest.mark.parametrize(
    ("record", "base_timestamp_ms"),
    [
        pytest.param(b"\0\2\0\1\1\0", 2**63 - 1, id="a time above 64 bits"),
        pytest.param(
            b"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\0\1\1\0", 0, id="a varint of 70 bits"
        ),
        pytest.param(b"\0\0\x80\x80\x80\x80\x10\1\1\0", 0, id="an offset delta above 32 bits"),
        pytest.param(b"\0\0\1\1\1\0", 0, id="an offset before the first"),
    ],
)
def test_numbers_that_no_record_has_are_refused(record: bytes, base_timestamp_ms: int) -> None:
    """Answers and indexes hold 64 bits: what a producer put in must not break a look-up."""
    plain = _damaged(b"\0\0\0\1\1\0", base_timestamp_ms=base_timestamp_ms)
    assert [r.timestamp_ms for r in iter_records(plain)] == [base_timestamp_ms]
    with pytest.raises(WireError):
        list(iter_records(_damaged(record, base_timestamp_ms=base_timestamp_ms)))
