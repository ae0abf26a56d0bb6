"""OffsetCommits of one connection: begun behind each other, one append, answered once committed."""

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.model.ids import TopicPartition
from dataplane.quotas.entities import Entity
from dataplane.quotas.overrides import Change
from dataplane.wire.apis import ApiKey
from dataplane.wire.headers import encode_request_frame
from dataplane.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from dataplane.wire.messages.produce import ProduceRequest
from dataplane.wire.record_batch import iter_batches
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, read_answer, settled
from tests.waiting import turns, until

VERSION = 8


def commit(offset: int) -> OffsetCommitRequest:
    place = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_leader_epoch=-1
    )
    return OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[OffsetCommitRequestTopic(name="t", partitions=[place])],
    )


def frame_of(message: object, version: int) -> memoryview:
    return memoryview(encode_request_frame(message, version, 99, "test"))[4:]


@pytest.fixture
async def coordinator():
    made = OneBroker()
    made.topic("t")
    made.topic(OFFSETS_TOPIC, replicas=(ME, PEER))
    groups = made.handlers.group_coordinator
    await groups.start()
    await until(lambda: bool(groups.load_times_ms()))
    yield made
    await groups.stop()
    await made.stop()


async def test_commits_behind_each_other_share_an_append_and_the_last_one_counts(
    coordinator: OneBroker,
) -> None:
    groups = coordinator.handlers.group_coordinator
    place = TopicPartition("t", 0)
    answers = [coordinator.submit(commit(offset), VERSION) for offset in (3, 1, 2)]
    await turns()
    log = coordinator.partition(OFFSETS_TOPIC)
    assert log.log.log_end_offset == 3
    batches = list(iter_batches(log.log.read(0, 1 << 20, 3).read()))
    assert [header.record_count for _position, header in batches] == [3], "one append for all"
    assert not any(answer.done for answer in answers), "its follower has not got them"
    assert groups.fetch_offsets("g", [place])[place].offset == -1
    log.on_follower_fetch(PEER, 3)
    for answer in answers:
        response = read_answer(commit(0), VERSION, await settled(answer))
        assert response.topics[0].partitions[0].error_code == 0
    assert groups.fetch_offsets("g", [place])[place].offset == 2


async def test_only_another_commit_begins_behind_one(coordinator: OneBroker) -> None:
    answer = coordinator.submit(commit(1), VERSION)
    assert answer.pipelined == ApiKey.OFFSET_COMMIT
    may_begin = coordinator.dispatcher.may_overtake_waiting
    assert may_begin(frame_of(commit(2), VERSION), answer.pipelined)
    assert not may_begin(frame_of(ProduceRequest(acks=1, timeout_ms=1), 9), answer.pipelined)
    assert not may_begin(frame_of(commit(2), VERSION), ApiKey.PRODUCE)
    assert not may_begin(frame_of(commit(2), VERSION), None)
    await turns()
    coordinator.partition(OFFSETS_TOPIC).on_follower_fetch(PEER, 1)
    await settled(answer)


async def test_a_metered_client_commits_one_at_a_time(coordinator: OneBroker) -> None:
    """It may have to wait behind each answer, as its quota says."""
    await ensure_layout(coordinator.coordinator)
    await coordinator.configs.start()
    generous = [Change("request_percentage", 1_000_000.0)]
    quotas = coordinator.handlers.client_quotas
    await quotas.alter(Entity(client_id="test"), generous, validate_only=False)
    answer = coordinator.submit(commit(1), VERSION)
    assert answer.pipelined is None
    await turns()
    coordinator.partition(OFFSETS_TOPIC).on_follower_fetch(PEER, 1)
    await settled(answer)
    await coordinator.configs.stop()
