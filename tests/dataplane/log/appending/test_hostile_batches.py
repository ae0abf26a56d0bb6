"""What a producer, or a leader gone mad, may send: the right refusal, and a log that goes on."""

from __future__ import annotations

import struct
import tracemalloc

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.config import LogConfig
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.compression import Compression, compress
from dataplane.wire.crc import crc32c
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.dataplane.log.support import NOW_MS, World, append, batch, read_all

MIB = 1 << 20
CONFIGS = [
    LogConfig(),
    LogConfig(compacts=True),
    LogConfig(timestamp_before_max_ms=1000, timestamp_after_max_ms=1000),
    LogConfig(compression_type="zstd"),
    LogConfig(compression_type="uncompressed", stamps_append_time=True),
]
REFUSALS = {
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.INVALID_RECORD,
    ErrorCode.INVALID_TIMESTAMP,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.OFFSET_OUT_OF_RANGE,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


def sealed(data: bytearray) -> bytearray:
    """With a length and a CRC that fit what is there."""
    struct.pack_into(">i", data, 8, len(data) - 12)
    struct.pack_into(">I", data, 17, crc32c(bytes(data[21:])))
    return data


def with_body(codec: Compression, body: bytes, *, count: int = 1) -> bytearray:
    data = build_batch([NewRecord(b"k", b"v", (), NOW_MS)] * count)[:61] + body
    struct.pack_into(">h", data, 21, codec)
    return sealed(data)


def answer(call) -> ErrorCode:
    try:
        call()
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


@settings(max_examples=200, deadline=None)
@given(
    config=st.sampled_from(CONFIGS),
    codec=st.sampled_from(list(Compression)),
    changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
    cut=st.integers(0, 60),
    extra=st.binary(max_size=20),
    is_sealed=st.booleans(),
    as_follower=st.booleans(),
)
def test_a_batch_changed_anywhere_is_appended_whole_or_refused(  # noqa: PLR0917  # a dimension each
    config, codec, changes, cut, extra, is_sealed, as_follower
):
    world = World(config)
    log = world.open()
    append(log, 2)
    options = {"producer_id": 3, "producer_epoch": 0, "base_sequence": 0}
    data = batch(3, compression=codec, base_offset=2, leader_epoch=0, **options)
    del data[max(0, len(data) - cut) :]
    data += extra
    for at, value in changes:
        if at < len(data):
            data[at] = value
    if is_sealed and len(data) >= 61:
        sealed(data)
    size = log.size_bytes
    if as_follower:
        code = answer(lambda: log.append_as_follower(memoryview(bytes(data))))
    else:
        code = answer(lambda: log.append_as_leader(data, 0, now_ms=NOW_MS))
    assert code in REFUSALS | {ErrorCode.NONE}
    if code != ErrorCode.NONE:
        assert (log.size_bytes, log.log_end_offset) == (size, 2)
        assert append(log, 1).base_offset == 2
        assert read_all(log) == [0, 1, 2]
    end = log.log_end_offset
    log.close()
    kept = {"cleaned_until": log.cleaned_until}
    assert world.open(is_clean=True, **kept).log_end_offset == end
    world.fs.remove("/data/topic-0/leader-epoch-checkpoint")
    assert world.open(**kept).log_end_offset == end, "what was appended survives a scan"


@pytest.mark.parametrize("codec", list(Compression)[1:])
@pytest.mark.parametrize("config", CONFIGS[1:4])
def test_a_decompression_bomb_is_refused_within_bounded_memory(codec, config):
    bomb = with_body(codec, compress(codec, bytes(200 * MIB)) if codec != 1 else _gzip_bomb())
    assert len(bomb) < 12 * MIB
    log = World(LogConfig(**{**_fields(config), "max_message_bytes": 12 * MIB})).open()
    if config.compression_type == "zstd" and codec == Compression.ZSTD:
        return  # nothing looks inside
    tracemalloc.start()
    try:
        code = answer(lambda: log.append_as_leader(bomb, 0, now_ms=NOW_MS))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert code == ErrorCode.CORRUPT_MESSAGE
    assert peak < 300 * MIB
    assert log.log_end_offset == 0


def _gzip_bomb() -> bytes:
    return bytes(cramjam.gzip.compress(bytes(200 * MIB), level=1))


def _fields(config: LogConfig) -> dict:
    names = ("compacts", "timestamp_before_max_ms", "timestamp_after_max_ms", "compression_type")
    return {name: getattr(config, name) for name in names}


def test_a_batch_within_a_batch_is_no_record():
    inner = batch(2)
    log = World(LogConfig(compacts=True)).open()
    for codec in Compression:
        data = with_body(codec, compress(codec, inner))
        code = answer(lambda d=data: log.append_as_leader(d, 0, now_ms=NOW_MS))
        assert code == ErrorCode.CORRUPT_MESSAGE
    old = bytearray(batch(1))
    for magic in (0, 1, 3, 255):
        old[16] = magic
        code = answer(lambda: log.append_as_leader(old, 0, now_ms=NOW_MS))
        assert code == ErrorCode.INVALID_RECORD
    assert log.log_end_offset == 0


def test_a_batch_that_grows_when_it_is_recompressed_is_too_large():
    config = LogConfig(compression_type="uncompressed", max_message_bytes=1000)
    log = World(config).open()
    data = batch(1, value=bytes(5000), compression=Compression.ZSTD)
    assert len(data) < 200
    code = answer(lambda: log.append_as_leader(data, 0, now_ms=NOW_MS))
    assert code == ErrorCode.MESSAGE_TOO_LARGE
    assert log.log_end_offset == 0


def test_a_follower_writes_no_marker_that_it_cannot_read():
    log = World().open()
    append(log, 2)
    control, gzip = 0x20, 1
    marker = batch(1, base_offset=2, leader_epoch=0, producer_id=3, producer_epoch=0)
    struct.pack_into(">h", marker, 21, control | gzip)
    size = log.size_bytes
    code = answer(lambda: log.append_as_follower(memoryview(bytes(sealed(marker)))))
    assert code == ErrorCode.CORRUPT_MESSAGE
    assert (log.size_bytes, log.log_end_offset) == (size, 2)
