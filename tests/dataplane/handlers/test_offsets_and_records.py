"""ListOffsets, OffsetForLeaderEpoch, DeleteRecords, DescribeLogDirs on one log."""

import asyncio

import pytest

from dataplane.model.errors import ErrorCode
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
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch


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
    for asked, told in ((0, (0, 2)), (2, (0, 2)), (3, (3, 3)), (9, (-1, -1))):
        wanted = OffsetForLeaderPartition(partition=0, leader_epoch=asked)
        request = OffsetForLeaderEpochRequest(
            replica_id=-1, topics=[OffsetForLeaderTopic(topic="t", partitions=[wanted])]
        )
        answer = (await broker.ask(request, 4)).topics[0].partitions[0]
        assert (answer.leader_epoch, answer.end_offset) == told, asked


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
        await asyncio.sleep(0.01)
        partition.on_follower_fetch(PEER, 3, start)
    await asyncio.sleep(0.01)
    assert not asked.done()
    partition.on_follower_fetch(PEER, 3, 2)
    answer = await asked
    assert (answer.error_code, answer.low_watermark) == (0, 2)


async def test_deletion_that_a_follower_does_not_follow_times_out(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    partition = broker.partition("t")
    partition.append_now(bytearray(batch("a", "b")), 1)
    partition.on_follower_fetch(PEER, 2, 0)
    answer = await delete(broker, 1, timeout_ms=20)
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert partition.log.log_start_offset == 1


async def test_deletion_ends_when_the_leadership_does(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    partition = broker.partition("t")
    partition.append_now(bytearray(batch("a", "b")), 1)
    partition.on_follower_fetch(PEER, 2, 0)
    asked = asyncio.create_task(delete(broker, 1))
    await asyncio.sleep(0.01)
    partition.resign()
    assert (await asked).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_a_compacted_topic_keeps_its_records(broker: OneBroker) -> None:
    broker.services.configs._take("topics", "t", {"cleanup.policy": "compact"})
    broker.topic("t")
    assert (await delete(broker, 0)).error_code == ErrorCode.POLICY_VIOLATION


async def delete(broker: OneBroker, offset: int, *, timeout_ms: int = 5_000):
    wanted = DeleteRecordsPartition(partition_index=0, offset=offset)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name="t", partitions=[wanted])], timeout_ms=timeout_ms
    )
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
