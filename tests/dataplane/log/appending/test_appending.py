"""What a leader and a follower accept, refuse and change (kafka.md §2.1)."""

from __future__ import annotations

import errno
import struct

import pytest

from dataplane.log.appending import validation
from dataplane.log.config import LogConfig
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.compression import Compression
from dataplane.wire.record_batch import (
    BatchHeader,
    NewRecord,
    build_batch,
    iter_records,
    validate_crc,
)
from tests.dataplane.log.support import DIRECTORY, NOW_MS, World, append, batch, read_all


def code_of(call) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        call()
    return caught.value.code


def push(log, data, epoch: int = 0, **keywords):
    return log.append_as_leader(data, epoch, now_ms=NOW_MS, **keywords)


def stored(log, offset: int = 0) -> bytes:
    return log.read(offset, 1, log.log_end_offset).read()


def test_offsets_and_epoch_are_stamped_in_place_and_the_crc_stays():
    log = World().open()
    append(log, 3)
    data = batch(2)
    info = push(log, memoryview(data), epoch=7)
    assert (info.base_offset, info.last_offset, info.records) == (3, 4, 2)
    header = BatchHeader.parse(data)
    assert (header.base_offset, header.partition_leader_epoch) == (3, 7)
    assert validate_crc(data)
    assert stored(log, 3) == bytes(data)


def test_read_only_buffers_are_copied():
    log = World().open()
    append(log)
    data = bytes(batch())
    assert push(log, data).base_offset == 1
    assert push(log, memoryview(data)).base_offset == 2
    assert BatchHeader.parse(data).base_offset == 0


@pytest.mark.parametrize(
    ("mangle", "code"),
    [
        (lambda b: b[:40], ErrorCode.CORRUPT_MESSAGE),
        (lambda _: bytearray(), ErrorCode.CORRUPT_MESSAGE),
        (lambda b: b[:-1], ErrorCode.CORRUPT_MESSAGE),
        (lambda b: b + batch(), ErrorCode.INVALID_RECORD),
        (lambda b: b + b"\0", ErrorCode.INVALID_RECORD),
        (lambda b: b[:16] + b"\x01" + b[17:], ErrorCode.INVALID_RECORD),
        (lambda b: b[:-1] + bytes([b[-1] ^ 1]), ErrorCode.CORRUPT_MESSAGE),
        (lambda b: b[:8] + struct.pack(">i", -5) + b[12:], ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_bytes_that_are_not_exactly_one_batch_are_refused(mangle, code):
    log = World().open()
    assert code_of(lambda: push(log, mangle(batch(2)))) == code
    assert log.log_end_offset == 0
    assert log.size_bytes == 0


def reseal(data: bytearray) -> bytearray:
    from crc32c import crc32c

    struct.pack_into(">I", data, 17, crc32c(bytes(data[21:])))
    return data


@pytest.mark.parametrize(("delta", "count"), [(0, 2), (5, 2), (-1, 0), (-1, 2)])
def test_record_count_must_fit_the_offsets(delta, count):
    log = World().open()
    data = batch(2)
    struct.pack_into(">i", data, 23, delta)
    struct.pack_into(">i", data, 57, count)
    assert code_of(lambda: push(log, reseal(data))) == ErrorCode.INVALID_RECORD


def test_unknown_codec_and_producer_set_append_time_are_refused():
    log = World().open()
    for flags, code in ((5, "UNSUPPORTED_COMPRESSION_TYPE"), (8, "INVALID_TIMESTAMP")):
        data = batch()
        struct.pack_into(">h", data, 21, flags)
        assert code_of(lambda d=data: push(log, reseal(d))) == ErrorCode[code]


def test_message_too_large_counts_the_whole_batch():
    data = batch(value=b"x" * 100)
    exact = World(LogConfig(max_message_bytes=len(data))).open()
    assert push(exact, data).base_offset == 0
    small = World(LogConfig(max_message_bytes=len(data) - 1)).open()
    assert code_of(lambda: push(small, data)) == ErrorCode.MESSAGE_TOO_LARGE


def test_compacted_topic_needs_keys():
    log = World(LogConfig(compacts=True)).open()
    data = build_batch([NewRecord(None, b"v", (), NOW_MS)])
    assert code_of(lambda: push(log, data)) == ErrorCode.INVALID_RECORD
    assert append(log).base_offset == 0


def faults_of(log, records) -> KafkaError:
    with pytest.raises(KafkaError) as caught:
        push(log, build_batch([NewRecord(key, b"v", (), at_ms) for key, at_ms in records]))
    assert log.log_end_offset == 0
    return caught.value


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.ZSTD])
def test_every_bad_record_is_named_and_no_good_one(codec):
    """KIP-467: a client reports to the senders of the other records that theirs were not at fault."""
    config = LogConfig(compacts=True, timestamp_before_max_ms=1000, timestamp_after_max_ms=500)
    log = World(config).open()
    good, keyless, old, young, both, timeless = (
        (b"k", NOW_MS),
        (None, NOW_MS),
        (b"k", NOW_MS - 1001),
        (b"k", NOW_MS + 501),
        (None, 0),
        (b"k", -1),  # a producer that gives no time is not held to the bounds
    )
    refusal = faults_of(log, [good, keyless, good, keyless, timeless])
    assert refusal.code is ErrorCode.INVALID_RECORD
    no_key = "Compacted topic cannot accept message without key."
    assert refusal.record_errors == [(1, no_key), (3, no_key)]
    assert "One or more records have been rejected due to 2 record errors" in refusal.message
    records = [
        NewRecord(key, b"v", (), at_ms) for key, at_ms in (keyless, good, old, timeless, young)
    ]
    with pytest.raises(KafkaError) as caught:
        push(log, build_batch([*records, NewRecord(both[0], b"v", (), both[1])], compression=codec))
    assert caught.value.code is ErrorCode.INVALID_TIMESTAMP  # one is enough, as in Kafka
    assert caught.value.message == (
        "One or more records have been rejected due to invalid timestamp"
    )
    numbers, messages = zip(*caught.value.record_errors, strict=True)
    assert numbers == (0, 2, 4, 5)
    assert [message == no_key for message in messages] == [True, False, False, True]
    for message, at_ms, number in ((messages[1], old[1], 2), (messages[2], young[1], 4)):
        assert f"Timestamp {at_ms} of message with offset {number} is out of range" in message
        assert f"[{NOW_MS - 1000}, {NOW_MS + 500}]" in message
    push(log, build_batch([NewRecord(b"k", b"v", (), at_ms) for at_ms in (NOW_MS, -1)]))
    assert log.log_end_offset == 2


def test_what_concerns_the_batch_blames_no_record():
    log = World(LogConfig(compacts=True)).open()
    data = batch(2)
    data[-1] ^= 1
    with pytest.raises(KafkaError) as caught:
        push(log, data)
    assert caught.value.record_errors == ()


def test_the_list_of_bad_records_is_bounded():
    log = World(LogConfig(compacts=True)).open()
    most = validation.RECORD_ERRORS_MAX
    exact = faults_of(log, [(None, NOW_MS)] * most)
    assert [number for number, _ in exact.record_errors] == list(range(most))
    assert "listed are" not in exact.message
    beyond = faults_of(log, [(None, NOW_MS)] * (most + 7))
    assert len(beyond.record_errors) == most
    assert f"the first {most} of {most + 7} bad records" in beyond.message
    assert len(beyond.message) < 500


def test_timestamp_bounds():
    log = World(LogConfig(timestamp_before_max_ms=1000, timestamp_after_max_ms=500)).open()
    for at_ms in (NOW_MS - 1001, NOW_MS + 501):
        assert code_of(lambda t=at_ms: append(log, at_ms=t)) == ErrorCode.INVALID_TIMESTAMP
    for at_ms in (NOW_MS - 1000, NOW_MS + 500):
        append(log, at_ms=at_ms)


def test_log_append_time_is_stamped_into_the_batch():
    log = World(LogConfig(stamps_append_time=True)).open()
    info = append(log, 3, at_ms=5)
    assert info.log_append_time_ms == info.max_timestamp_ms == NOW_MS
    data = stored(log)
    assert validate_crc(data)
    assert [r.timestamp_ms for r in iter_records(data)] == [NOW_MS] * 3


def test_compression_type_of_the_producer_is_kept_or_replaced():
    for wanted, codec in (("producer", 3), ("zstd", 4), ("gzip", 1), ("uncompressed", 0)):
        log = World(LogConfig(compression_type=wanted)).open()
        append(log, 3, value=b"abc" * 50, compression=Compression.LZ4)
        data = stored(log)
        assert BatchHeader.parse(data).codec == codec
        assert validate_crc(data)
        assert [r.value for r in iter_records(data)] == [b"abc" * 50] * 3


@pytest.mark.parametrize(
    ("codec", "low", "high"), [("gzip", 1, 9), ("zstd", -9, 19), ("lz4", 9, 3), ("lz4", 1, 17)]
)
def test_compression_level_of_the_topic_is_obeyed(codec, low, high):
    value = b"".join(b"%d-%d;" % (n * n, n % 7) for n in range(4000))
    sizes = []
    for level in (low, high):
        settings = {"compression.type": codec, f"compression.{codec}.level": level}
        log = World(LogConfig.from_topic_config(settings)).open()
        append(log, 2, value=value)
        assert [r.value for r in iter_records(stored(log))] == [value] * 2
        sizes.append(log.size_bytes)
    assert sizes[0] > sizes[1]


def test_damaged_compressed_batch_is_refused_when_it_must_be_recompressed():
    log = World(LogConfig(compression_type="zstd")).open()
    data = batch(3, compression=Compression.LZ4)
    data[-5:] = b"\xff" * 5
    assert code_of(lambda: push(log, reseal(data))) == ErrorCode.CORRUPT_MESSAGE


# --- followers ---


def copy(log, start: int = 0) -> bytearray:
    return bytearray(log.read(start, 1 << 20, log.log_end_offset).read())


def test_follower_keeps_offsets_epochs_and_bytes():
    leader, follower = World().open(), World(LogConfig(index_interval_bytes=100)).open()
    for epoch in (0, 0, 2, 5):
        append(leader, 2, epoch=epoch)
    info = follower.append_as_follower(copy(leader) + batch()[:30])
    assert (info.base_offset, info.last_offset, info.records) == (0, 7, 8)
    assert copy(follower) == copy(leader)
    assert follower.epoch_entries == leader.epoch_entries == ((0, 0), (2, 4), (5, 6))
    assert follower.append_as_follower(b"").records == 0


def test_follower_refuses_damage_and_offsets_of_the_past_and_appends_nothing():
    leader, follower = World().open(), World().open()
    for _ in range(3):
        append(leader, 2)
    chunk = copy(leader)
    damaged = chunk.copy()
    damaged[-1] ^= 1
    assert code_of(lambda: follower.append_as_follower(damaged)) == ErrorCode.CORRUPT_MESSAGE
    assert follower.log_end_offset == follower.size_bytes == 0
    follower.append_as_follower(chunk)
    assert code_of(lambda: follower.append_as_follower(chunk)) == ErrorCode.OFFSET_OUT_OF_RANGE
    assert read_all(follower) == list(range(6))


def test_gaps_of_a_compacted_leader_are_kept_and_read_over():
    follower = World(LogConfig(index_interval_bytes=0)).open()
    for base in (0, 10, 20):
        follower.append_as_follower(batch(2, base_offset=base))
    assert follower.log_end_offset == 22
    assert read_all(follower) == [0, 1, 10, 11, 20, 21]
    assert read_all(follower, 5) == [10, 11, 20, 21]
    follower.roll()
    follower.append_as_follower(batch(2, base_offset=40))
    assert read_all(follower, 12) == [20, 21, 40, 41]


# --- trouble with the disk ---


def test_full_disk_refuses_and_heals():
    world = World()
    log = world.open()
    append(log)
    world.fs.capacity_bytes = (1 << 40) - 1
    used = world.fs.capacity_bytes - world.fs.free_bytes()
    world.fs.capacity_bytes = used + 10
    assert code_of(lambda: append(log)) == ErrorCode.KAFKA_STORAGE_ERROR
    assert read_all(log) == [0]
    world.fs.capacity_bytes = 1 << 50
    assert append(log).base_offset == 1
    assert read_all(log) == [0, 1]


@pytest.mark.parametrize("part", [".log", ".index", ".timeindex"])
def test_full_disk_in_the_middle_of_an_append_leaves_no_half_batch(part):
    world = World(LogConfig(index_interval_bytes=0, segment_bytes=1 << 20))
    log = world.open()
    refused = []
    world.fs.fail("append", part, number=errno.ENOSPC)
    for number in range(1200):  # index entries are written a page at a time
        try:
            append(log, at_ms=NOW_MS + number)
        except KafkaError as error:
            refused.append(error.code)
    assert refused == [ErrorCode.KAFKA_STORAGE_ERROR]
    assert read_all(log, max_bytes=5000) == list(range(1199))
    log.close()
    log = world.open(is_clean=True)
    assert log.log_end_offset == 1199


def test_disk_error_ends_the_log_and_names_the_directory():
    world = World()
    failures = []
    log = world.open(on_storage_error=lambda path, error: failures.append((path, error.errno)))
    append(log)
    world.fs.fail("append", ".log")
    assert code_of(lambda: append(log)) == ErrorCode.KAFKA_STORAGE_ERROR
    assert failures == [(DIRECTORY, errno.EIO)]
    assert code_of(lambda: append(log)) == ErrorCode.KAFKA_STORAGE_ERROR
    assert code_of(lambda: log.truncate_to(0)) == ErrorCode.KAFKA_STORAGE_ERROR


def test_failed_sync_ends_the_log_because_the_pages_may_be_lost():
    world = World(LogConfig(flush_messages=1))
    failures = []
    log = world.open(on_storage_error=lambda path, _error: failures.append(path))
    world.fs.fail("sync", ".log")
    append(log)
    assert failures == [DIRECTORY]
    assert log.recovery_point == 0
    assert code_of(lambda: append(log)) == ErrorCode.KAFKA_STORAGE_ERROR
