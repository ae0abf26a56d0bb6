"""The coordinator's host: loading, unloading, waiting for replicas, running out of patience."""

import asyncio
import dataclasses

import pytest

from dataplane.cluster.image import ClusterImage
from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.groups.offsets import Offsets
from dataplane.groups.requests import (
    CommitRequest,
    JoinRequest,
    OffsetToCommit,
    Protocol,
    SyncRequest,
)
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.wire.apis import ApiKey
from tests.dataplane.groups.driver import subscription
from tests.dataplane.groups.hosted import Hosted, committed

WHERE = TopicPartition("t", 0)


@pytest.fixture
async def started():
    made = []

    async def start(**settings) -> Hosted:
        made.append(await Hosted(**settings).start())
        await settle()
        return made[-1]

    yield start
    for hosted in made:
        await hosted.stop()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def commit(offset: int, group: str = "g", **offsets) -> CommitRequest:
    return CommitRequest(
        group_id=group,
        member_id="",
        group_instance_id=None,
        generation=-1,
        offsets={WHERE: OffsetToCommit(offset=offset, **offsets)},
    )


async def beat(hosted: Hosted, member_id: str = "", epoch: int = 0, **fields):
    """A heartbeat of a member of the new protocol."""
    return await hosted.call(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        0,
        group_id="g",
        member_id=member_id,
        member_epoch=epoch,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
        **fields,
    )


def join(group: str = "g", session_ms: int = 10_000) -> JoinRequest:
    return JoinRequest(
        group_id=group,
        member_id="",
        group_instance_id=None,
        client_id="c",
        client_host="/h",
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=(Protocol("range", b""),),
        require_known_member_id=False,
    )


def offset_of(hosted: Hosted, group: str = "g") -> int:
    return hosted.group_coordinator.fetch_offsets(group, [WHERE])[WHERE].offset


async def test_a_commit_is_answered_once_the_replicas_have_it(started):
    hosted = await started(replicas=(1, 2))
    asked = asyncio.create_task(committed(hosted.group_coordinator, commit(7)))
    await settle()
    assert not asked.done()
    assert offset_of(hosted) == -1
    hosted.replicate()
    assert await asked == {WHERE: ErrorCode.NONE}
    assert offset_of(hosted) == 7


async def test_commits_of_one_step_share_a_batch(started):
    hosted = await started(partition_count=1)
    await asyncio.gather(
        *(committed(hosted.group_coordinator, commit(n, f"g{n}")) for n in range(50))
    )
    log = hosted.replica_manager.get(TopicPartition(OFFSETS_TOPIC, 0)).log
    assert log.log_end_offset == 50
    slice_ = log.read(0, 1 << 20, log.log_end_offset)
    assert slice_.read().count(b"\0\x01\0\x02g7") == 1
    from dataplane.wire.record_batch import iter_batches

    assert len(list(iter_batches(slice_.read()))) == 1


async def test_a_timed_out_commit_is_unknown_and_served_once_it_is_committed(started):
    hosted = await started(replicas=(1, 2), offsets_commit_timeout_ms="20")
    assert await committed(hosted.group_coordinator, commit(7)) == {
        WHERE: ErrorCode.REQUEST_TIMED_OUT
    }
    assert offset_of(hosted) == -1
    hosted.replicate()
    assert offset_of(hosted) == 7


async def test_losing_leadership_sends_everybody_elsewhere(started):
    hosted = await started(replicas=(1, 2), group_initial_rebalance_delay_ms="3000")
    home = hosted.group_coordinator.partition_of("g")
    waiting = [
        asyncio.create_task(committed(hosted.group_coordinator, commit(7))),
        asyncio.create_task(hosted.group_coordinator.join(join())),
    ]
    await settle()
    hosted.follow(home)
    assert await waiting[0] == {WHERE: ErrorCode.NOT_COORDINATOR}
    with pytest.raises(KafkaError) as refused:
        offset_of(hosted)
    assert refused.value.code is ErrorCode.NOT_COORDINATOR
    answer = await asyncio.gather(waiting[1], return_exceptions=True)
    assert getattr(answer[0], "error", None) is ErrorCode.NOT_COORDINATOR


async def test_what_was_committed_is_read_back_by_the_next_leader(started):
    hosted = await started()
    await committed(hosted.group_coordinator, commit(7))
    home = hosted.group_coordinator.partition_of("g")
    hosted.follow(home)
    hosted.lead(home)
    with pytest.raises(KafkaError) as refused:
        offset_of(hosted)
    assert refused.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert hosted.group_coordinator.list_groups()[0] is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    await settle()
    assert offset_of(hosted) == 7


async def test_a_new_epoch_of_the_same_leader_keeps_the_groups(started):
    hosted = await started()
    member = (await hosted.group_coordinator.join(join())).member_id
    hosted.lead(hosted.group_coordinator.partition_of("g"))
    assert hosted.group_coordinator.heartbeat("g", member, None, 1) is ErrorCode.NONE


async def test_a_damaged_record_does_not_stop_the_loading(started):
    hosted = await started(partition_count=1)
    await committed(hosted.group_coordinator, commit(7))
    home = TopicPartition(OFFSETS_TOPIC, 0)
    from dataplane.wire.record_batch import NewRecord, build_batch

    bad = [NewRecord(b"\0\x01\0\x01g", b"?"), NewRecord(b"\0\x63", b""), NewRecord(b"", b"")]
    hosted.replica_manager.get(home).append_now(build_batch(bad), 1)
    hosted.follow(home)
    hosted.lead(home)
    await settle()
    assert offset_of(hosted) == 7


async def test_offsets_of_deleted_topics_go(started):
    hosted = await started()
    await committed(hosted.group_coordinator, commit(7))
    image = hosted.metadata_cache.image
    topics = {name: topic for name, topic in image.topics.items() if name != "t"}
    hosted.metadata_cache.replace(ClusterImage(topics=topics, version=2))
    await settle()
    assert offset_of(hosted) == -1


async def test_an_oversized_commit_is_refused_by_the_log(started):
    hosted = await started(offset_metadata_max_bytes="3000000")
    answer = await committed(hosted.group_coordinator, commit(1, metadata="x" * 30_000))
    assert answer == {WHERE: ErrorCode.NONE}
    many = CommitRequest(
        group_id="g",
        member_id="",
        group_instance_id=None,
        generation=-1,
        offsets={
            TopicPartition("t", n): OffsetToCommit(offset=1, metadata="x" * 30_000)
            for n in range(60)
        },
    )
    assert set((await committed(hosted.group_coordinator, many)).values()) == {
        ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    }


async def test_group_ids(started):
    hosted = await started()
    with pytest.raises(KafkaError) as refused:
        await hosted.group_coordinator.join(join(""))
    assert refused.value.code is ErrorCode.INVALID_GROUP_ID
    assert await committed(hosted.group_coordinator, commit(3, "")) == {WHERE: ErrorCode.NONE}
    assert offset_of(hosted, "") == 3


async def test_after_stop_nothing_is_coordinated(started):
    hosted = await started()
    await hosted.group_coordinator.stop()
    with pytest.raises(KafkaError) as refused:
        await committed(hosted.group_coordinator, commit(1))
    assert refused.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert hosted.group_coordinator.list_groups() == (ErrorCode.COORDINATOR_NOT_AVAILABLE, [])


async def test_a_classic_member_that_does_not_join_again_in_time_goes_at_that_time(started):
    """A heartbeat told it to: no other request may come that has the coordinator look again."""
    hosted = await started()
    await beat(hosted)
    protocols = (Protocol("range", subscription("t")),)
    request = dataclasses.replace(join(), rebalance_timeout_ms=20, protocols=protocols)
    joined = await hosted.group_coordinator.join(request)
    synced = await hosted.group_coordinator.sync(
        SyncRequest(
            group_id="g",
            member_id=joined.member_id,
            group_instance_id=None,
            generation=joined.generation,
            protocol_type=None,
            protocol_name=None,
            assignments={},
        )
    )
    assert (joined.error, synced.error) == (ErrorCode.NONE, ErrorCode.NONE)
    await beat(hosted)  # another member: everybody has to join again
    await asyncio.sleep(0.05)  # the timer for its SyncGroup has run out
    member = ("g", joined.member_id, None, joined.generation)
    assert hosted.group_coordinator.heartbeat(*member) is ErrorCode.REBALANCE_IN_PROGRESS
    hosted.clock.advance(20)
    async with asyncio.timeout(2):
        while len(hosted.group_coordinator.describe_consumer_group("g").members) > 2:
            await asyncio.sleep(0.005)
    assert hosted.group_coordinator.heartbeat(*member) is ErrorCode.UNKNOWN_MEMBER_ID


async def test_offsets_go_on_expiring_after_a_round_of_one_shard_has_failed(started, monkeypatch):
    hosted = await started(offsets_retention_check_interval_ms="5", offsets_retention_minutes="1")
    await committed(hosted.group_coordinator, commit(1))
    expire, rounds = Offsets.expire, []

    def fail_at_first(offsets):
        rounds.append(offsets)
        if len(rounds) == 1:
            raise RuntimeError("a bug")
        return expire(offsets)

    monkeypatch.setattr(Offsets, "expire", fail_at_first)
    hosted.clock.advance(60_000)
    async with asyncio.timeout(2):
        while hosted.group_coordinator.fetch_offsets("g", [WHERE])[WHERE].offset >= 0:
            await asyncio.sleep(0.005)


async def test_offsets_that_are_stored_late_have_a_group_that_can_be_found(started):
    """Nobody waited any more, and the empty group had been forgotten: it is there again."""
    settings = {"offsets_commit_timeout_ms": "10", "offsets_retention_check_interval_ms": "5"}
    hosted = await started(replicas=(1, 2), **settings)
    answers = await committed(hosted.group_coordinator, commit(1))
    assert answers == {WHERE: ErrorCode.REQUEST_TIMED_OUT}
    async with asyncio.timeout(2):
        while hosted.group_coordinator.list_groups()[1]:
            await asyncio.sleep(0.005)
    hosted.replicate()
    assert hosted.group_coordinator.fetch_offsets("g", [WHERE])[WHERE].offset == 1
    _, listed = hosted.group_coordinator.list_groups()
    assert [each.group_id for each in listed] == ["g"]
    deleting = asyncio.create_task(hosted.group_coordinator.delete_group("g"))
    await settle()
    hosted.replicate()
    assert await deleting is ErrorCode.NONE
