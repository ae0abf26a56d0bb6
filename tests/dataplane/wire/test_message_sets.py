"""The formats of magic 0 and 1: up to a batch, down to a message set, and what is refused.

`message_sets.txt` was written by Kafka's own client (`java/MessageSetsOracle.java write`).
"""

from __future__ import annotations

import base64
import pathlib
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.legacy_records import LegacyRecordBatch

from dataplane.wire.batch_layout import NO_TIMESTAMP
from dataplane.wire.compression import Compression, decompress
from dataplane.wire.errors import WireError
from dataplane.wire.lz4_frames import with_right_checksum, with_wrong_checksum
from dataplane.wire.message_sets import TooManyMessagesError, ZstdError, from_batches, to_batch
from dataplane.wire.record_batch import (
    BatchHeader,
    NewRecord,
    build_batch,
    iter_records,
    set_log_append_time,
    validate_crc,
)

SETS = [
    line.split() for line in (pathlib.Path(__file__).parent / "message_sets.txt").open().readlines()
]
BOUNDS = {"messages_max": 1_000, "expanded_bytes_max": 1 << 20}
CODECS = [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4]
ALL = {"from_offset": 0, "bytes_max": 1 << 30}
RECORDS = st.lists(
    st.builds(
        NewRecord,
        key=st.none() | st.binary(max_size=20),
        value=st.none() | st.binary(max_size=300),
        headers=st.just(()),
        timestamp_ms=st.integers(-1, 2**60),
    ),
    min_size=1,
    max_size=20,
)


def contents(batch: bytes | bytearray) -> list[tuple[int, bytes | None, bytes | None]]:
    return [(each.timestamp_ms, each.key, each.value) for each in iter_records(batch)]


def message(value: bytes | None, *, magic: int = 1, attributes: int = 0, crc: int = 0) -> bytes:
    body = struct.pack(">BB", magic, attributes) + struct.pack(">q", 5) * magic
    body += struct.pack(">i", -1)
    body += struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body) ^ crc) + body


@pytest.mark.parametrize(("magic", "codec", "text"), SETS)
def test_what_kafkas_client_wrote_becomes_a_batch(magic: str, codec: str, text: str) -> None:
    batch, claims_append_time = to_batch(base64.b64decode(text), **BOUNDS)
    header = BatchHeader.parse(batch)
    assert (header.magic, header.record_count, header.last_offset_delta) == (2, 3, 2)
    assert Compression(header.codec).name.lower() == codec
    assert validate_crc(batch)
    assert not claims_append_time
    times = [1000, 1007, 999] if magic == "1" else [NO_TIMESTAMP] * 3
    assert contents(batch) == list(
        zip(times, [b"key", None, b"k"], [b"value" * 40, b"x", None], strict=True)
    )


@given(RECORDS, st.sampled_from(CODECS), st.sampled_from([0, 1]), st.integers(0, 2**40))
def test_down_and_up_again_keeps_every_record(records, codec, magic, base_offset) -> None:
    batch = build_batch(records, base_offset=base_offset, compression=codec)
    messages = from_batches(bytes(batch), magic, **ALL)
    back, _claims = to_batch(bytes(messages), **BOUNDS)
    assert BatchHeader.parse(back).codec == codec
    expected = [
        (record.timestamp_ms if magic else NO_TIMESTAMP, record.key, record.value)
        for record in records
    ]
    assert contents(back) == expected


@pytest.mark.parametrize("magic", [0, 1])
# That client has no libraries for the others here; Kafka's own has read them all.
@pytest.mark.parametrize("codec", CODECS[:2])
@given(records=RECORDS, base_offset=st.integers(0, 2**40))
def test_another_client_reads_what_goes_down(magic, codec, records, base_offset) -> None:
    batch = build_batch(records, base_offset=base_offset, compression=codec)
    messages = bytes(from_batches(bytes(batch), magic, **ALL))
    found = []
    while messages:
        size = struct.unpack_from(">i", messages, 8)[0] + 12
        assert LegacyRecordBatch(messages[:size], magic).validate_crc()
        found += list(LegacyRecordBatch(messages[:size], magic))
        messages = messages[size:]
    assert [(each.offset, each.key, each.value) for each in found] == [
        (base_offset + number, record.key, record.value) for number, record in enumerate(records)
    ]
    if magic:
        assert [each.timestamp for each in found] == [record.timestamp_ms for record in records]


def test_headers_control_batches_and_what_lies_before_are_left_out() -> None:
    first = build_batch([NewRecord(b"a", b"1", (("h", b"x"),)), NewRecord(b"b", b"2")])
    marker = build_batch([NewRecord(b"\0\0\0\1", b"")], base_offset=2, is_control=True)
    last = build_batch([NewRecord(b"c", b"3")], base_offset=3)
    data = bytes(first + marker + last)
    back, _claims = to_batch(from_batches(data, 1, from_offset=1, bytes_max=1 << 20), **BOUNDS)
    assert [record.key for record in iter_records(back)] == [b"b", b"c"]
    assert from_batches(bytes(marker), 1, **ALL) == b""


def test_the_first_message_comes_whatever_its_size_and_the_others_within_the_bound() -> None:
    data = bytes(build_batch([NewRecord(None, bytes(100)) for _ in range(5)]))
    assert len(from_batches(data, 1, from_offset=0, bytes_max=0)) == 134
    assert len(from_batches(data, 1, from_offset=0, bytes_max=134 * 3 + 1)) == 134 * 3


def test_log_append_time_is_said_in_format_1() -> None:
    batch = build_batch([NewRecord(None, b"a", (), 5), NewRecord(None, b"b", (), 6)])
    set_log_append_time(batch, 0, 77)
    messages = bytes(from_batches(bytes(batch), 1, **ALL))
    (first, second) = [
        next(iter(LegacyRecordBatch(messages[at : at + len(messages) // 2], 1)))
        for at in (0, len(messages) // 2)
    ]
    assert (first.timestamp, first.timestamp_type, second.timestamp) == (77, 1, 77)
    assert to_batch(messages, **BOUNDS).claims_append_time


def test_zstd_cannot_be_said() -> None:
    batch = build_batch([NewRecord(None, b"a")], compression=Compression.ZSTD)
    with pytest.raises(ZstdError):
        from_batches(bytes(batch), 1, **ALL)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (bytes(11), "cut off"),
        (message(b"x")[:-1], "claims a size"),
        (message(b"x") + b"\0", "cut off"),
        (message(b"x", crc=1), "CRC"),
        (message(b"x", magic=2), "magic 2"),
        (struct.pack(">qi", 0, 13) + bytes(30), "claims a size"),
        (struct.pack(">qi", 0, -1) + bytes(30), "claims a size"),
        (message(b"x", attributes=1) + message(b"y"), "shares its message set"),
        (message(b"x", attributes=1), "decompressed"),
        (message(b"x", attributes=3), "decompressed"),
        (message(b"x", attributes=3, magic=0), "lz4 frame"),
        (message(b"x", attributes=4), "zstd"),
        (message(b"x", attributes=7), "unknown compression codec"),
        (message(None, attributes=2), "decompressed"),
    ],
)
def test_damage_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(WireError, match=why):
        to_batch(data, **BOUNDS)


@given(st.binary(max_size=200), st.sampled_from([bytes.fromhex("00"), message(b"xyz")]))
def test_no_bytes_break_the_reader(data: bytes, before: bytes) -> None:
    for candidate in (data, before + data, before[:16] + data):
        try:
            converted = to_batch(candidate, **BOUNDS)
        except WireError:
            continue
        assert list(iter_records(converted.batch))


def test_too_many_messages_and_bombs_end_at_their_bound() -> None:
    with pytest.raises(TooManyMessagesError):
        to_batch(message(b"x") * 1_001, **BOUNDS)
    many = [NewRecord(None, None)] * 1_001
    for codec in CODECS:
        packed = from_batches(bytes(build_batch(many, compression=codec)), 1, **ALL)
        with pytest.raises(TooManyMessagesError):
            to_batch(bytes(packed), **BOUNDS)
    bomb = build_batch([NewRecord(None, bytes(1 << 21))], compression=Compression.GZIP)
    with pytest.raises(WireError):
        to_batch(bytes(from_batches(bytes(bomb), 1, **ALL)), **BOUNDS)


def test_the_checksum_of_format_0_is_taken_over_the_magic_number_too() -> None:
    frames = {magic: base64.b64decode(text) for magic, codec, text in SETS if codec == "lz4"}
    wrong = frames["0"][frames["0"].index(b"\x04\x22\x4d\x18") :]
    right = frames["1"][frames["1"].index(b"\x04\x22\x4d\x18") :]
    assert (wrong[:6], wrong[6]) == (right[:6], 0x1A)
    assert right[6] == 0x82
    assert with_right_checksum(wrong)[:7] == right[:7]
    assert with_wrong_checksum(right)[:7] == wrong[:7]
    # With the length of the content in its head, and a block that is stored as it is.
    frame = b"\x04\x22\x4d\x18\x68\x40" + struct.pack("<Q", 3) + b"\0"
    frame += struct.pack("<I", 3 | 1 << 31) + b"abc" + bytes(4)
    assert decompress(Compression.LZ4, with_right_checksum(with_wrong_checksum(frame))) == b"abc"
    with pytest.raises(WireError):
        decompress(Compression.LZ4, with_wrong_checksum(frame))
