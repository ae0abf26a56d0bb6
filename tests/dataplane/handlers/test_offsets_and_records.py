"""ListOffsets, OffsetForLeaderEpoch, DeleteRecords, DescribeLogDirs on one log."""

import asyncio
import dataclasses

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.broker.networking.frame_buffer import FrameError
from dataplane.model.errors import ErrorCode
from dataplane.wire.headers import encode_request_frame
from dataplane.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from dataplane.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from dataplane.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch, read_answer, settled
from tests.waiting import turns


def list_offsets(topic: str, timestamp: int, *, isolation: int = 0, replica: int = -1):
    wanted = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    return ListOffsetsRequest(
        replica_id=replica,
        isolation_level=isolation,
        topics=[ListOffsetsTopic(name=topic, partitions=[wanted])],
    )


async def offset_of(broker: OneBroker, timestamp: int, version: int = 9, **options):
    response = await broker.ask(list_offsets("t", timestamp, **options), version)
    return response.topics[0].partitions[0]


@pytest.mark.parametrize("version", range(1, 10))
async def test_the_ends_of_a_log(broker: OneBroker, version: int) -> None:
    broker.topic("t", replicas=(ME, PEER))
    partition = broker.partition("t")
    for text in ("a", "b", "c"):
        partition.append_now(bytearray(batch(text)), 1)
    partition.on_follower_fetch(PEER, 2)
    assert (await offset_of(broker, -1, version)).offset == 2, "consumers see the high watermark"
    assert (await offset_of(broker, -1, version, replica=PEER)).offset == 3
    assert (await offset_of(broker, -2, version)).offset == 0


async def before(broker: OneBroker, timestamp: int, count: int = 10) -> list[int]:
    """What version 0 answers."""
    request = list_offsets("t", timestamp)
    request.topics[0].partitions[0].max_num_offsets = count
    found = (await broker.ask(request, 0)).topics[0].partitions[0]
    assert found.error_code == 0
    return found.old_style_offsets


async def test_version_0_names_where_segments_begin() -> None:
    broker = OneBroker(**{"log.segment.bytes": "100"})
    broker.topic("t", replicas=(ME, PEER))
    partition = broker.partition("t")
    assert await before(broker, -1) == await before(broker, -2) == [0]
    for time in (1_000, 2_000, 3_000):  # of each segment's only record
        records = build_batch([NewRecord(None, bytes(60), (), time)])
        partition.append_now(bytearray(records), 1)
    partition.on_follower_fetch(PEER, 3)
    assert await before(broker, -1) == [3, 2, 1, 0]
    assert await before(broker, -1, 2) == [3, 2]
    assert await before(broker, -1, 0) == await before(broker, -1, -7) == []
    assert await before(broker, -2) == [0]
    assert await before(broker, 2_500) == [1, 0]
    assert await before(broker, 2_500, 1) == [1]
    assert await before(broker, 999) == []
    await broker.stop()


async def test_version_0_says_nothing_of_what_is_not_committed(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    broker.partition("t").append_now(bytearray(batch("a")), 1)
    assert await before(broker, -1) == [0]
    broker.partition("t").on_follower_fetch(PEER, 1)
    assert await before(broker, -1) == [1, 0]


async def test_by_timestamp(broker: OneBroker) -> None:
    broker.topic("t")
    broker.partition("t").append_now(bytearray(batch("a", "b", "c")), 1)  # 1000, 1001, 1002 ms
    found = await offset_of(broker, 1001)
    assert (found.offset, found.timestamp) == (1, 1001)
    missing = await offset_of(broker, 2000)
    assert (missing.offset, missing.timestamp, missing.error_code) == (-1, -1, 0)
    largest = await offset_of(broker, -3)
    assert (largest.offset, largest.timestamp) == (2, 1002)


async def test_what_is_not_committed_is_not_found_by_time(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    broker.partition("t").append_now(bytearray(batch("a")), 1)
    assert (await offset_of(broker, 1000)).offset == -1


async def test_epoch_ends(broker: OneBroker) -> None:
    broker.topic("t")
    broker.partition("t").append_now(bytearray(batch("a", "b")), 1)
    broker.topic("t", leader_epoch=3)
    broker.partition("t").append_now(bytearray(batch("c")), 1)
    for asked, expected in ((0, (0, 2)), (2, (0, 2)), (3, (3, 3)), (9, (-1, -1))):
        wanted = OffsetForLeaderPartition(partition=0, leader_epoch=asked)
        request = OffsetForLeaderEpochRequest(
            replica_id=-1, topics=[OffsetForLeaderTopic(topic="t", partitions=[wanted])]
        )
        answer = (await broker.ask(request, 4)).topics[0].partitions[0]
        assert (answer.leader_epoch, answer.end_offset) == expected, asked


@pytest.mark.parametrize(("offset", "low"), [(1, 1), (-1, 3), (3, 3)])
async def test_records_are_deleted_up_to_an_offset(
    broker: OneBroker, offset: int, low: int
) -> None:
    broker.topic("t")
    broker.partition("t").append_now(bytearray(batch("a", "b", "c")), 1)
    answer = await delete(broker, offset)
    assert (answer.error_code, answer.low_watermark) == (0, low)
    assert (await offset_of(broker, -2)).offset == low


async def test_nothing_above_the_high_watermark_is_deleted(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    broker.partition("t").append_now(bytearray(batch("a")), 1)
    assert (await delete(broker, 1)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


async def test_deletion_waits_until_the_live_followers_have_followed(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER, 99))  # 99 is not in the cluster now
    partition = broker.partition("t")
    partition.append_now(bytearray(batch("a", "b", "c")), 1)
    partition.on_follower_fetch(PEER, 3, 0)
    partition.on_follower_fetch(99, 3, 0)
    asked = asyncio.create_task(delete(broker, 2))
    for start in (0, 1):
        await turns()
        partition.on_follower_fetch(PEER, 3, start)
    await turns()
    assert not asked.done()
    partition.on_follower_fetch(PEER, 3, 2)
    answer = await asked
    assert (answer.error_code, answer.low_watermark) == (0, 2)


def replicated(broker: OneBroker, *topics: str):
    """Topics of two records, replicated to a follower that has them and starts at 0."""
    for topic in topics:
        broker.topic(topic, replicas=(ME, PEER))
        partition = broker.partition(topic)
        partition.append_now(bytearray(batch("a", "b")), 1)
        partition.on_follower_fetch(PEER, 2, 0)
    return [broker.partition(topic) for topic in topics]


async def test_deletion_that_a_follower_does_not_follow_times_out(broker: OneBroker) -> None:
    (partition,) = replicated(broker, "t")
    answer = await delete(broker, 1, timeout_ms=20)
    assert (answer.error_code, answer.low_watermark) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    assert partition.log.log_start_offset == 1
    purgatory = broker.replica_manager.delete_records_purgatory
    assert (purgatory.expired, len(purgatory), len(partition.watch_log_starts())) == (1, 0, 0)


@pytest.mark.parametrize("timeout_ms", [0, -1])
async def test_deletion_that_may_not_wait_does_not(broker: OneBroker, timeout_ms: int) -> None:
    replicated(broker, "t")
    answer = await delete(broker, 1, timeout_ms=timeout_ms)
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT


async def test_only_what_is_open_at_the_deadline_has_timed_out(broker: OneBroker) -> None:
    followed, _open = replicated(broker, "t", "u")
    request = deletion(1, "t", "u", "unknown", timeout_ms=20)
    waiting = broker.submit(request, 2)
    followed.on_follower_fetch(PEER, 2, 1)
    response = read_answer(request, 2, await settled(waiting))
    answers = {topic.name: topic.partitions[0] for topic in response.topics}
    assert {name: (each.error_code, each.low_watermark) for name, each in answers.items()} == {
        "t": (ErrorCode.NONE, 1),
        "u": (ErrorCode.REQUEST_TIMED_OUT, -1),
        "unknown": (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1),
    }


async def test_deletion_of_several_partitions_is_answered_with_the_last_of_them(
    broker: OneBroker,
) -> None:
    first, second = replicated(broker, "t", "u")
    request = deletion(1, "t", "u", timeout_ms=60_000)
    waiting = broker.submit(request, 2)
    first.on_follower_fetch(PEER, 2, 1)
    assert not waiting.done
    second.on_follower_fetch(PEER, 2, 1)
    assert waiting.done, "by the news itself, not by the clock"
    response = read_answer(request, 2, waiting.value)
    assert [topic.partitions[0].low_watermark for topic in response.topics] == [1, 1]
    assert len(broker.replica_manager.delete_records_purgatory) == 0


async def test_deletion_whose_client_has_gone_leaves_nothing_behind(broker: OneBroker) -> None:
    partitions = replicated(broker, "t", "u")
    waiting = broker.submit(deletion(1, "t", "u", timeout_ms=60_000), 2)
    purgatory = broker.replica_manager.delete_records_purgatory
    assert [len(purgatory), *(len(each.watch_log_starts()) for each in partitions)] == [1, 1, 1]
    waiting.abandon()
    assert [len(purgatory), *(len(each.watch_log_starts()) for each in partitions)] == [0, 0, 0]
    assert purgatory.expired == 0


async def test_deletion_does_not_wait_for_a_follower_that_has_died(broker: OneBroker) -> None:
    (partition,) = replicated(broker, "t")
    request = deletion(1, "t", timeout_ms=60_000)
    waiting = broker.submit(request, 2)
    image = broker.metadata_cache.image
    alive = {n: each for n, each in image.brokers.items() if n != PEER}
    broker.metadata_cache.replace(dataclasses.replace(image, brokers=alive))
    partition.isr_committed((ME,), 1)
    assert read_answer(request, 2, waiting.value).topics[0].partitions[0].low_watermark == 1


async def test_deletion_ends_when_the_leadership_does(broker: OneBroker) -> None:
    (partition,) = replicated(broker, "t")
    asked = asyncio.create_task(delete(broker, 1))
    await turns()
    partition.resign()
    assert (await asked).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_a_malformed_deletion_is_refused_and_counted(broker: OneBroker) -> None:
    frame = encode_request_frame(deletion(1, "t", timeout_ms=1), 2, 99, "test")
    with pytest.raises(FrameError, match="malformed"):
        broker.dispatcher.submit(broker.connection, memoryview(frame)[4:-3])
    assert broker.metrics.malformed_requests.value == 1


async def test_a_compacted_topic_keeps_its_records(broker: OneBroker) -> None:
    await ensure_layout(broker.coordinator)
    await broker.configs.update("topics", "t", lambda _present: {"cleanup.policy": "compact"})
    broker.topic("t")
    assert (await delete(broker, 0)).error_code == ErrorCode.POLICY_VIOLATION


def deletion(offset: int, *topics: str, timeout_ms: int) -> DeleteRecordsRequest:
    wanted = DeleteRecordsPartition(partition_index=0, offset=offset)
    return DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=[wanted]) for topic in topics],
        timeout_ms=timeout_ms,
    )


async def delete(broker: OneBroker, offset: int, *, timeout_ms: int = 5_000):
    request = deletion(offset, "t", timeout_ms=timeout_ms)
    return (await broker.ask(request, 2)).topics[0].partitions[0]


async def test_log_directories_show_sizes(broker: OneBroker) -> None:
    broker.topic("t")
    broker.topic("u")
    records = batch("a")
    broker.partition("t").append_now(bytearray(records), 1)
    response = await broker.ask(DescribeLogDirsRequest(topics=None), 4)
    assert [result.log_dir for result in response.results] == ["/data"]
    sizes = {t.name: t.partitions[0].partition_size for t in response.results[0].topics}
    assert sizes == {"t": len(records), "u": 0}
