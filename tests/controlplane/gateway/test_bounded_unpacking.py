"""What a batch unpacks to has an end, whoever wrote it."""

import gzip
import zlib

import cramjam
import pytest
from kafka import codec
from kafka.errors import CorruptRecordError
from kafka.record import default_records

from controlplane.gateway import bounded_unpacking
from controlplane.gateway.bounded_unpacking import (
    TooLargeError,
    gunzip,
    unpack_lz4,
    unpack_snappy,
    unpack_zstd,
)
from dataplane.wire.compression import Compression, compress

UNPACKERS = [
    (Compression.LZ4, unpack_lz4),
    (Compression.SNAPPY, unpack_snappy),
    (Compression.ZSTD, unpack_zstd),
]


@pytest.mark.parametrize("value", [b"", b"x", b"records " * 10_000])
def test_what_was_packed_comes_back_in_several_members_too(value):
    assert gunzip(gzip.compress(value)) == value
    assert gunzip(memoryview(gzip.compress(value) + gzip.compress(b"more"))) == value + b"more"


def test_a_bomb_is_refused_before_it_is_whole(monkeypatch):
    monkeypatch.setattr(bounded_unpacking, "UNPACKED_MAX_BYTES", 1_000)
    assert len(gunzip(gzip.compress(b"0" * 1_000))) == 1_000
    for payload in (
        gzip.compress(b"0" * 1_001),
        gzip.compress(b"0" * 900) + gzip.compress(b"0" * 900),
    ):
        with pytest.raises(TooLargeError):
            gunzip(payload)


@pytest.mark.parametrize(
    "payload", [b"no gzip", gzip.compress(b"x" * 100)[:-9]], ids=["none", "cut"]
)
def test_what_is_none_is_refused(payload):
    with pytest.raises(zlib.error):
        gunzip(payload)


@pytest.mark.parametrize("value", [b"x", b"records " * 100_000])
@pytest.mark.parametrize(("packed_by", "unpack"), UNPACKERS)
def test_the_other_codecs_come_back_too(packed_by, unpack, value):
    assert unpack(memoryview(compress(packed_by, value))) == value


def test_snappy_without_frames_is_one_block():
    assert unpack_snappy(bytes(cramjam.snappy.compress_raw(b"x" * 100))) == b"x" * 100


@pytest.mark.parametrize(("packed_by", "unpack"), UNPACKERS)
def test_a_bomb_of_another_codec_is_refused(packed_by, unpack, monkeypatch):
    monkeypatch.setattr(bounded_unpacking, "UNPACKED_MAX_BYTES", 100_000)
    assert len(unpack(compress(packed_by, b"0" * 100_000))) == 100_000
    with pytest.raises(TooLargeError):
        unpack(compress(packed_by, b"0" * 100_001))


@pytest.mark.parametrize(("packed_by", "unpack"), UNPACKERS)
def test_what_is_damaged_is_refused(packed_by, unpack):
    for payload in (b"\xff none of it", compress(packed_by, b"x" * 100_000)[:-9]):
        with pytest.raises(CorruptRecordError):
            unpack(payload)


def test_the_library_unpacks_by_it():
    bounded_unpacking.bound_unpacking()
    assert default_records.gzip_decode is gunzip
    assert default_records.lz4_decode is unpack_lz4
    assert default_records.snappy_decode is unpack_snappy
    assert default_records.zstd_decode is unpack_zstd
    assert (codec.has_lz4(), codec.has_snappy(), codec.has_zstd()) == (True, True, True)
