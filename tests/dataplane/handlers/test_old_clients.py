"""Clients of the time before the record batch: Produce 0-2 and Fetch 0-3, converted both ways."""

from __future__ import annotations

import struct
import zlib

import pytest

from dataplane.broker.context import CloseConnection
from dataplane.handlers import old_fetch, old_produce
from dataplane.model.errors import ErrorCode
from dataplane.wire.compression import Compression
from dataplane.wire.message_sets import from_batches, to_batch
from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from dataplane.wire.record_batch import NewRecord, build_batch, iter_records
from tests.dataplane.handlers.one_broker import OneBroker, batch
from tests.dataplane.handlers.test_fetch import fetch
from tests.dataplane.handlers.test_produce import only, produce

PRODUCES, FETCHES = (0, 1, 2), (0, 1, 2, 3)
CODECS = [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4]
RECORDS = [
    NewRecord(b"k", b"v" * 100, (), 1_000),
    NewRecord(None, b"w", (), 1_001),
    NewRecord(b"z", None, (), 999),
]
BOUNDS = {"messages_max": 100_000, "expanded_bytes_max": 1 << 24}


@pytest.fixture
async def strict():
    """Topics that stamp, compact, take little, and are for newer clients alone."""
    one = OneBroker(
        **{
            "log.message.timestamp.type": "LogAppendTime",
            "log.cleanup.policy": "compact",
            "message.max.bytes": "200",
            "log.message.downconversion.enable": "false",
        }
    )
    yield one
    await one.stop()


def message_set(magic: int = 1, codec: Compression = Compression.NONE, records=RECORDS) -> bytes:
    packed = bytes(build_batch(records, compression=codec))
    return bytes(from_batches(packed, magic, from_offset=0, bytes_max=1 << 30))


def fetched(response):
    return response.responses[0].partitions[0]


def offsets(records: bytes | None) -> list[int]:
    found, at = [], 0
    records = bytes(records or b"")
    while at < len(records):
        offset, size = struct.unpack_from(">qi", records, at)
        found.append(offset)
        at += 12 + size
    return found


def contents(records: bytes) -> list[tuple[int, bytes | None, bytes | None]]:
    back, _claims = to_batch(bytes(records), **BOUNDS)
    return [(each.timestamp_ms, each.key, each.value) for each in iter_records(back)]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", PRODUCES)
async def test_a_message_set_is_stored_as_a_batch(broker: OneBroker, version, codec):
    broker.topic("t")
    magic = 1 if version == 2 else 0
    for base_offset in (0, 3):
        answer = only(await broker.ask(produce("t", message_set(magic, codec)), version))
        assert (answer.error_code, answer.base_offset) == (0, base_offset)
    stored = bytes(fetched(await broker.ask(fetch("t", 3), 11)).records)
    assert (stored[16], stored[22] & 7) == (2, codec)
    assert [
        (each.offset, each.timestamp_ms, each.key, each.value) for each in iter_records(stored)
    ] == [
        (3 + number, each.timestamp_ms if magic else -1, each.key, each.value)
        for number, each in enumerate(RECORDS)
    ]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", FETCHES)
async def test_batches_are_read_as_message_sets(broker: OneBroker, version, codec):
    broker.topic("t")
    await broker.ask(produce("t", bytes(build_batch(RECORDS, compression=codec))), 9)
    answer = fetched(await broker.ask(fetch("t", 1), version))
    assert (answer.error_code, answer.high_watermark) == (0, 3)
    magic = 1 if version >= 2 else 0
    assert bytes(answer.records)[16] == magic
    assert offsets(answer.records) == ([1, 2] if codec is Compression.NONE else [2])
    assert contents(answer.records) == [
        (each.timestamp_ms if magic else -1, each.key, each.value) for each in RECORDS[1:]
    ]


async def test_append_time_is_stamped_and_said():
    one = OneBroker(**{"log.message.timestamp.type": "LogAppendTime"})
    one.topic("t")
    answer = only(await one.ask(produce("t", message_set(0)), 2))
    now_ms = answer.log_append_time_ms
    assert now_ms > 0
    records = fetched(await one.ask(fetch("t"), 2)).records
    assert bytes(records)[17] & 8
    assert {time for time, _key, _value in contents(records)} == {now_ms}
    await one.stop()


async def test_an_old_client_is_held_to_the_topics_settings(strict: OneBroker):
    broker = strict
    broker.topic("c")
    assert only(await broker.ask(produce("c", message_set()), 2)).error_code == (
        ErrorCode.INVALID_RECORD
    )
    small = [NewRecord(b"k", bytes(10), (), 1)]
    assert only(await broker.ask(produce("c", message_set(records=small)), 2)).error_code == 0
    large = [NewRecord(b"k", bytes(300), (), 1)]
    for records in (large, large * 3):
        answer = only(await broker.ask(produce("c", message_set(records=records)), 2))
        assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


def stamped() -> bytes:
    """A message whose producer says that a broker stamped it."""
    body = struct.pack(">BBqii", 1, 8, 5, -1, -1)
    return struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (message_set()[:-1], ErrorCode.CORRUPT_MESSAGE),
        (message_set()[:30] + b"\xff" + message_set()[31:], ErrorCode.CORRUPT_MESSAGE),
        (message_set(1, Compression.GZIP) * 2, ErrorCode.CORRUPT_MESSAGE),
        (b"x", ErrorCode.CORRUPT_MESSAGE),
        (b"", ErrorCode.INVALID_RECORD),
        (stamped(), ErrorCode.INVALID_TIMESTAMP),
        (None, ErrorCode.INVALID_RECORD),
    ],
)
async def test_bad_message_sets_are_refused_and_store_nothing(broker: OneBroker, records, code):
    broker.topic("t")
    for version in PRODUCES:
        assert only(await broker.ask(produce("t", records), version)).error_code == code
    with pytest.raises(CloseConnection):
        await broker.ask(produce("t", records, acks=0), 1)
    assert broker.partition("t").log.log_end_offset == 0


async def test_more_messages_than_the_bound_are_refused(broker: OneBroker, monkeypatch):
    monkeypatch.setattr(old_produce, "MESSAGES_MAX", 2)
    broker.topic("t")
    for codec in CODECS:
        answer = only(await broker.ask(produce("t", message_set(1, codec)), 2))
        assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


async def test_batches_are_taken_in_old_versions_and_message_sets_in_no_new_one(broker: OneBroker):
    broker.topic("t")
    assert only(await broker.ask(produce("t", batch("a")), 2)).error_code == 0
    for version in (3, 9):
        answer = only(await broker.ask(produce("t", message_set()), version))
        assert answer.error_code == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("version", FETCHES)
async def test_zstd_and_topics_that_forbid_it_are_refused(broker, strict, version):
    packed = build_batch(RECORDS[:1], compression=Compression.ZSTD)
    for one, code in (
        (broker, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (strict, ErrorCode.UNSUPPORTED_VERSION),
    ):
        one.topic("t")
        assert only(await one.ask(produce("t", bytes(packed)), 9)).error_code == 0
        assert fetched(await one.ask(fetch("t"), version)).error_code == code
        assert fetched(await one.ask(fetch("t"), 4)).error_code == 0


async def test_errors_and_empty_answers_are_as_in_other_versions(broker: OneBroker):
    broker.topic("t")
    for version in FETCHES:
        assert fetched(await broker.ask(fetch("t"), version)).error_code == 0
        assert not fetched(await broker.ask(fetch("t"), version)).records
        assert fetched(await broker.ask(fetch("t", 1), version)).error_code == (
            ErrorCode.OFFSET_OUT_OF_RANGE
        )
        assert fetched(await broker.ask(fetch("nope"), version)).error_code == (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )


async def test_an_answer_converts_no_more_than_its_bound(broker: OneBroker, monkeypatch):
    monkeypatch.setattr(old_fetch, "BYTES_MAX", 1_000)
    for name in ("a", "b"):
        broker.topic(name)
        for _ in range(5):
            await broker.ask(produce(name, batch("x" * 400)), 9)
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=1,
        topics=[
            FetchTopic(
                topic=name,
                partitions=[
                    FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
                ],
            )
            for name in ("a", "b")
        ],
    )
    answer = await broker.ask(request, 1)
    rows = {topic.topic: offsets(topic.partitions[0].records) for topic in answer.responses}
    assert sum(len(found) for found in rows.values()) == 2
    assert all(found in ([], [0, 1]) for found in rows.values())


def test_whoever_names_partitions_in_one_order_is_not_answered_by_the_first_alone():
    assert old_fetch.turned([1, 2, 3], 0) == [1, 2, 3]
    assert old_fetch.turned([1, 2, 3], 4) == [2, 3, 1]
    assert old_fetch.turned([1, 2, 3], -1) == [3, 1, 2]
    assert old_fetch.turned([], 5) == []


async def test_partition_bytes_bound_what_is_sent(broker: OneBroker):
    broker.topic("t")
    await broker.ask(produce("t", batch(*("x" * 100 for _ in range(10)))), 9)
    answer = fetched(await broker.ask(fetch("t", partition_bytes=300), 1))
    assert offsets(answer.records) == [0, 1]
    assert offsets(fetched(await broker.ask(fetch("t", partition_bytes=1), 1)).records) == [0]


async def test_what_is_converted_is_counted_and_timed(broker: OneBroker):
    broker.topic("t")
    metrics = broker.metrics
    await broker.ask(produce("t", batch("new")), 9)
    assert metrics.produce_conversions.value == metrics.fetch_conversions.value == 0
    await broker.ask(produce("t", message_set()), 2)
    assert metrics.produce_conversions.value == len(RECORDS)
    await broker.ask(fetch("t"), 3)
    assert metrics.fetch_conversions.value == 1 + len(RECORDS)
    await broker.ask(fetch("t"), 4)
    assert metrics.fetch_conversions.value == 1 + len(RECORDS)
    timed = {api: sum(times.now().counts) for api, times in metrics.conversion_times.items()}
    assert timed == {"Produce": 1, "Fetch": 1}
