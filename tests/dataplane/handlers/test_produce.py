"""Produce: who waits, who is refused, what a wrong batch gets."""

import asyncio
import functools
import importlib

import pytest
from kio.serial import entity_reader

from dataplane.broker.context import CloseConnection
from dataplane.broker.delayed.deferred import Deferred
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.wire.apis import ApiKey
from dataplane.wire.compression import Compression
from dataplane.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.dataplane.handlers.one_broker import (
    ME,
    PEER,
    THIRD,
    OneBroker,
    batch,
    read_answer,
    settled,
)
from tests.metrics_table import sample

VERSIONS = range(3, 12)


def produce(topic: str, records: bytes | None, *, acks: int = 1, index: int = 0, timeout_ms=1_000):
    data = [PartitionProduceData(index=index, records=records)]
    return ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[TopicProduceData(name=topic, partition_data=data)],
    )


def only(response):
    return response.responses[0].partition_responses[0]


@pytest.mark.parametrize("version", VERSIONS)
async def test_offsets_are_assigned_in_every_version(broker: OneBroker, version: int) -> None:
    broker.topic("t")
    first = only(await broker.ask(produce("t", batch("a", "b")), version))
    second = only(await broker.ask(produce("t", batch("c")), version))
    assert (first.error_code, first.base_offset) == (0, 0)
    assert (second.error_code, second.base_offset) == (0, 2)
    assert broker.partition("t").high_watermark == 3


async def test_acks_all_waits_for_every_in_sync_replica(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER, THIRD))
    request = produce("t", batch("a", "b"), acks=-1)
    answer = broker.submit(request, 9)
    assert isinstance(answer, Deferred)
    assert answer.pipelined == ApiKey.PRODUCE
    assert not answer.done
    partition = broker.partition("t")
    partition.on_follower_fetch(PEER, 2)
    assert not answer.done
    partition.on_follower_fetch(THIRD, 2)
    assert answer.done
    assert only(read_answer(request, 9, answer.value)).base_offset == 0


async def test_a_wait_that_runs_out_says_timed_out_and_keeps_the_record(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    answer = only(await broker.ask(produce("t", batch("a"), acks=-1, timeout_ms=20), 9))
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert broker.partition("t").log.log_end_offset == 1


async def test_losing_leadership_ends_the_wait_with_a_hint(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    request = produce("t", batch("a"), acks=-1)
    answer = broker.submit(request, 10)
    broker.topic("t", replicas=(ME, PEER), leader=PEER, leader_epoch=1)
    response = read_answer(request, 10, await settled(answer))
    assert only(response).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert only(response).current_leader.leader_id == PEER
    assert [node.node_id for node in response.node_endpoints] == [PEER]


async def test_the_hint_is_the_replicas_own_where_metadata_is_behind(broker: OneBroker) -> None:
    """LeaderAndIsr has come, UpdateMetadata has not: who waits is answered in between."""
    topic_id = broker.topic("t", replicas=(ME, PEER))
    request = produce("t", batch("a"), acks=-1)
    answer = broker.submit(request, 10)
    moved = PartitionState(
        index=0,
        leader=PEER,
        leader_epoch=1,
        partition_epoch=1,
        replicas=(ME, PEER),
        isr=(ME, PEER),
    )
    where = TopicPartition("t", 0)
    assert broker.replica_manager.apply_state(where, topic_id, moved, is_new=False) == 0
    response = read_answer(request, 10, await settled(answer))
    leader = only(response).current_leader
    assert (leader.leader_id, leader.leader_epoch) == (PEER, 1)
    assert [node.node_id for node in response.node_endpoints] == [PEER]
    broker.topic("t", replicas=(PEER, THIRD), leader=THIRD, leader_epoch=2)
    later = only(await broker.ask(request, 10)).current_leader
    assert (later.leader_id, later.leader_epoch) == (THIRD, 2), "the metadata is newer by now"


async def test_acks_all_below_the_minimum_isr_is_refused_before_the_append() -> None:
    broker = OneBroker(min_insync_replicas="2")
    broker.topic("t", replicas=(ME, PEER), isr=(ME,))
    answer = only(await broker.ask(produce("t", batch("a"), acks=-1), 9))
    assert answer.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert broker.partition("t").log.log_end_offset == 0
    assert only(await broker.ask(produce("t", batch("a"), acks=1), 9)).error_code == 0
    await broker.stop()


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (b"short", ErrorCode.CORRUPT_MESSAGE),
        (batch("a") + batch("b"), ErrorCode.INVALID_RECORD),
        (batch("a")[:-2] + b"\x7f\x00", ErrorCode.CORRUPT_MESSAGE),
    ],
)
async def test_a_wrong_batch_is_refused_by_code(
    broker: OneBroker, records: bytes | None, code: ErrorCode
) -> None:
    broker.topic("t")
    answer = only(await broker.ask(produce("t", records), 9))
    assert answer.error_code != 0
    if code is not ErrorCode.INVALID_RECORD or records is None or not records:
        assert answer.error_code == code
    assert broker.partition("t").log.log_end_offset == 0
    assert broker.metrics.refused_batches == {code.name: 1}
    read = functools.partial(sample, broker.metrics)
    assert read("penstock_refused_batches_total", {"error": code.name}) == 1


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_records_at_fault_are_named(version: int) -> None:
    """KIP-467, as another implementation of the protocol reads it."""
    broker = OneBroker(log_cleanup_policy="compact")
    broker.topic("t")
    keys = (b"k", None, b"k", None)
    records = bytes(build_batch([NewRecord(key, b"v", (), 1_000) for key in keys]))
    for acks in (1, -1):
        request = produce("t", records, acks=acks)
        parts = broker.submit(request, version)
        answer = only(read_answer(request, version, parts))
        assert (answer.error_code, answer.base_offset) == (ErrorCode.INVALID_RECORD, -1)
        if version < 8:
            assert answer.record_errors == []
            continue
        assert [error.batch_index for error in answer.record_errors] == [1, 3]
        assert "without key" in answer.record_errors[0].batch_index_error_message
        assert "One or more records have been rejected" in answer.error_message
        theirs = only(read_by_kio(b"".join(map(bytes, parts)), version))
        assert [error.batch_index for error in theirs.record_errors] == [1, 3]
        assert "without key" in theirs.record_errors[1].batch_index_error_message
        assert theirs.error_message == answer.error_message
    assert broker.partition("t").log.log_end_offset == 0
    await broker.stop()


def read_by_kio(frame: bytes, version: int):
    """The body after size, correlation id and, from version 9 on, the header's tagged fields."""
    module = importlib.import_module(f"kio.schema.produce.v{version}.response")
    start = 8 if version < 9 else 9
    body, read_bytes = entity_reader(module.ProduceResponse)(frame, start)
    assert start + read_bytes == len(frame)
    return body


async def test_acks_0_is_not_answered_and_closes_on_error(broker: OneBroker) -> None:
    broker.topic("t")
    assert broker.submit(produce("t", batch("a"), acks=0), 9) is None
    assert broker.partition("t").log.log_end_offset == 1
    with pytest.raises(CloseConnection):
        broker.submit(produce("missing", batch("a"), acks=0), 9)


async def test_what_is_refused_whole(broker: OneBroker) -> None:
    broker.topic("t")
    broker.topic("__consumer_offsets")
    wrong_acks = only(await broker.ask(produce("t", batch("a"), acks=2), 9))
    assert wrong_acks.error_code == ErrorCode.INVALID_REQUIRED_ACKS
    internal = only(await broker.ask(produce("__consumer_offsets", batch("a")), 9))
    assert internal.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    missing = only(await broker.ask(produce("missing", batch("a")), 9))
    assert missing.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_zstd_needs_version_7(broker: OneBroker) -> None:
    broker.topic("t")
    records = batch("a", compression=Compression.ZSTD)
    old = only(await broker.ask(produce("t", records), 6))
    assert old.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert only(await broker.ask(produce("t", records), 7)).error_code == 0


async def test_a_full_disk_is_a_storage_error(broker: OneBroker) -> None:
    broker.topic("t")
    broker.fs.fail("append", "t-0")
    answer = only(await broker.ask(produce("t", batch("a")), 9))
    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR


async def test_answers_of_one_connection_may_wait_together(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    requests = [produce("t", batch(str(n)), acks=-1) for n in range(3)]
    answers = [broker.submit(request, 9) for request in requests]
    broker.partition("t").on_follower_fetch(PEER, 2)
    assert [answer.done for answer in answers] == [True, True, False]
    broker.partition("t").on_follower_fetch(PEER, 3)
    await asyncio.sleep(0)
    offsets = [
        only(read_answer(r, 9, a.value)).base_offset for r, a in zip(requests, answers, strict=True)
    ]
    assert offsets == [0, 1, 2]
