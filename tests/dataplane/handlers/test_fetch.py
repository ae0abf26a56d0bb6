"""Fetch: what is seen by whom, when a parked request answers, what a replica's fetch says."""

import functools
import struct
import uuid

import pytest

from dataplane.broker.delayed.deferred import Deferred
from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from dataplane.wire.record_batch import NewRecord, build_batch, iter_batches, iter_records
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch, read_answer, settled
from tests.dataplane.log.cleaner.cleaning import clean, put
from tests.waiting import turns

VERSIONS = range(4, 18)


def fetch(
    topic,
    offset: int = 0,
    *,
    replica: int = -1,
    wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1 << 20,
    partition_bytes: int = 1 << 20,
    last_epoch: int = -1,
    leader_epoch: int = -1,
    indexes: tuple[int, ...] = (0,),
    session: tuple[int, int] = (0, -1),
    isolation: int = 0,
):
    """By name for a str, by id for a UUID."""
    names = {"topic": topic} if isinstance(topic, str) else {"topic_id": topic}
    partitions = [
        FetchPartition(
            partition=index,
            fetch_offset=offset,
            partition_max_bytes=partition_bytes,
            last_fetched_epoch=last_epoch,
            current_leader_epoch=leader_epoch,
        )
        for index in indexes
    ]
    return FetchRequest(
        replica_id=replica,
        replica_state=ReplicaState(replica_id=replica),
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation,
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic(partitions=partitions, **names)],
    )


def values(answer) -> list[str]:
    records = bytes(answer.records or b"")
    return [
        record.value.decode()
        for position, _header in iter_batches(records)
        for record in iter_records(records, position)
    ]


def only(response):
    return response.responses[0].partitions[0]


def append(
    broker: OneBroker, *batches: bytes, topic: str = "t", index: int = 0, origin: str = "client"
) -> None:
    for records in batches:
        broker.partition(topic, index).append_now(bytearray(records), 1, origin=origin)


@pytest.mark.parametrize("version", VERSIONS)
async def test_records_are_read_in_every_version(broker: OneBroker, version: int) -> None:
    topic_id = broker.topic("t")
    append(broker, batch("a", "b"), batch("c"))
    response = await broker.ask(fetch(topic_id if version >= 13 else "t"), version)
    assert values(only(response)) == ["a", "b", "c"]
    assert only(response).high_watermark == 3
    assert only(response).last_stable_offset == 3


async def test_a_consumer_sees_what_is_committed_a_replica_everything(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    append(broker, batch("a"), batch("b"))
    broker.partition("t").on_follower_fetch(PEER, 1)
    assert values(only(await broker.ask(fetch("t"), 11))) == ["a"]
    assert values(only(await broker.ask(fetch("t", replica=PEER), 11))) == ["a", "b"]
    assert values(only(await broker.ask(fetch("t", isolation=1), 11))) == ["a"]


async def test_a_replicas_fetch_acknowledges_what_lies_before_it(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    append(broker, batch("a", "b"))
    assert broker.partition("t").high_watermark == 0
    response = await broker.ask(fetch("t", 2, replica=PEER), 11)
    assert broker.partition("t").high_watermark == 2
    assert only(response).high_watermark == 2


async def test_a_parked_fetch_answers_at_the_append(broker: OneBroker) -> None:
    broker.topic("t")
    request = fetch("t", wait_ms=60_000)
    answer = broker.submit(request, 11)
    assert isinstance(answer, Deferred)
    append(broker, batch("a"), batch("b"))
    response = read_answer(request, 11, await settled(answer))
    assert values(only(response)) == ["a", "b"], "one answer for one step of the loop"


async def test_a_parked_fetch_waits_for_min_bytes(broker: OneBroker) -> None:
    broker.topic("t")
    size = len(batch("a"))
    request = fetch("t", wait_ms=60_000, min_bytes=2 * size)
    answer = broker.submit(request, 11)
    append(broker, batch("a"))
    await turns()
    assert not answer.done
    append(broker, batch("b"))
    assert values(only(read_answer(request, 11, await settled(answer)))) == ["a", "b"]


async def test_a_parked_fetch_answers_empty_at_its_deadline(broker: OneBroker) -> None:
    broker.topic("t")
    response = await broker.ask(fetch("t", wait_ms=20), 11)
    assert only(response).error_code == 0
    assert not only(response).records
    assert not broker.partition("t").watchers, "nobody is left waiting"


async def test_a_parked_fetch_whose_client_left_is_forgotten(broker: OneBroker) -> None:
    broker.topic("t")
    parked = broker.submit(fetch("t", wait_ms=2**31 - 1), 11)
    assert isinstance(parked, Deferred)
    partition = broker.partition("t")
    assert partition.watchers == 1
    parked.abandon()
    assert partition.watchers == 0
    append(broker, batch("late"))


async def test_a_parked_fetch_learns_of_a_new_leader(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    request = fetch("t", wait_ms=60_000, replica=PEER)
    answer = broker.submit(request, 12)
    assert not answer.done
    broker.topic("t", replicas=(ME, PEER), leader=PEER, leader_epoch=1)
    response = read_answer(request, 12, await settled(answer))
    assert only(response).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert only(response).current_leader.leader_id == PEER


async def test_one_batch_is_sent_even_above_every_limit(broker: OneBroker) -> None:
    broker.topic("t", partitions=2)
    append(broker, batch("x" * 500), batch("y"))
    append(broker, batch("z"), index=1)
    response = await broker.ask(fetch("t", max_bytes=10, partition_bytes=10, indexes=(0, 1)), 11)
    first, second = response.responses[0].partitions
    assert values(first) == ["x" * 500]
    assert values(second) == []


@pytest.mark.parametrize("offset", [-1, 3])
async def test_an_offset_outside_the_log_is_out_of_range(broker: OneBroker, offset: int) -> None:
    broker.topic("t")
    append(broker, batch("a", "b"))
    answer = only(await broker.ask(fetch("t", offset, wait_ms=60_000), 11))
    assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


async def test_epochs_fence(broker: OneBroker) -> None:
    broker.topic("t", leader_epoch=5)
    old = only(await broker.ask(fetch("t", leader_epoch=4, wait_ms=60_000), 12))
    new = only(await broker.ask(fetch("t", leader_epoch=6, wait_ms=60_000), 12))
    assert old.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert new.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


async def test_a_diverging_history_is_reported(broker: OneBroker) -> None:
    broker.topic("t")
    append(broker, batch("a", "b"))
    broker.topic("t", leader_epoch=4)
    append(broker, batch("c"))
    request = fetch("t", 3, last_epoch=2, replica=PEER, wait_ms=60_000)
    answer = only(await broker.ask(request, 12))
    assert (answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset) == (0, 2)
    assert not answer.records


async def test_unknown_topics_have_their_own_errors(broker: OneBroker) -> None:
    by_name = only(await broker.ask(fetch("missing", wait_ms=60_000), 12))
    assert by_name.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    by_id = only(await broker.ask(fetch(uuid.uuid4(), wait_ms=60_000), 13))
    assert by_id.error_code == ErrorCode.UNKNOWN_TOPIC_ID


async def test_unknown_sessions_are_refused(broker: OneBroker) -> None:
    broker.topic("t")
    unknown = await broker.ask(fetch("t", session=(42, 1)), 12)
    assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


# --- min_bytes, where limits or a segment's end let less through than there is ---

PLENTY = 1 << 19


@pytest.mark.parametrize("replica", [-1, PEER])
@pytest.mark.parametrize("in_session", [False, True])
async def test_a_fetch_that_ends_with_an_older_segment_does_not_wait(
    broker: OneBroker, replica: int, in_session: bool
) -> None:
    broker.topic("t", replicas=(ME, PEER))
    session = (0, 0) if in_session else (0, -1)
    append(broker, batch("a"))
    broker.partition("t").log.roll()
    append(broker, batch("b"))
    broker.partition("t").on_follower_fetch(PEER, 2)
    request = fetch("t", replica=replica, wait_ms=60_000, min_bytes=PLENTY, session=session)
    answer = await broker.ask(request, 11)
    assert values(only(answer)) == ["a"]
    if in_session:
        request = fetch(
            "t", 1, replica=replica, wait_ms=20, min_bytes=PLENTY, session=(answer.session_id, 1)
        )
        assert values(only(await broker.ask(request, 11))) == ["b"]


@pytest.mark.parametrize("isolation", [0, 1])
async def test_a_fetch_waits_while_its_bound_lies_in_the_segment_that_it_reads(
    broker: OneBroker, isolation: int
) -> None:
    broker.topic("t", replicas=(ME, PEER))
    partition = broker.partition("t")
    append(broker, batch("a"))
    partition.log.roll()
    request = fetch("t", wait_ms=60_000, min_bytes=PLENTY, isolation=isolation)
    partition.on_follower_fetch(PEER, 1)
    answer = broker.submit(request, 11)
    await turns()
    assert not answer.done, "the next segment is empty"
    append(broker, batch("b"))
    await turns()
    assert not answer.done, "what the next segment has is not committed"
    partition.on_follower_fetch(PEER, 2)
    assert values(only(read_answer(request, 11, await settled(answer)))) == ["a"]


@pytest.mark.parametrize("limit", ["max_bytes", "partition_bytes"])
@pytest.mark.parametrize("committed", [4, 5])
async def test_a_limit_that_lets_no_more_through_ends_the_wait(
    broker: OneBroker, limit: str, committed: int
) -> None:
    broker.topic("t", replicas=(ME, PEER))
    append(broker, *(batch(str(number)) for number in range(5)))
    broker.partition("t").on_follower_fetch(PEER, committed)
    size = len(batch("0"))
    limits = {limit: 3 * size + size // 2}
    answer = await broker.ask(
        fetch("t", wait_ms=60_000, min_bytes=3 * size + size // 2, **limits), 11
    )
    assert values(only(answer)) == ["0", "1", "2"], "whole batches: half a batch less than asked"
    short = {limit: committed * size + 1}
    waiting = broker.submit(fetch("t", wait_ms=60_000, min_bytes=committed * size + 1, **short), 11)
    assert isinstance(waiting, Deferred), "so little is there, whatever is allowed"
    waiting.abandon()


async def test_more_bytes_wanted_than_allowed_is_as_many_as_allowed(broker: OneBroker) -> None:
    broker.topic("t")
    append(broker, *(batch(str(number)) for number in range(5)))
    size = len(batch("0"))
    answer = await broker.ask(
        fetch("t", wait_ms=60_000, min_bytes=9 * size, max_bytes=2 * size), 11
    )
    assert values(only(answer)) == ["0", "1"]


async def test_a_partition_that_had_to_stand_back_ends_the_wait(broker: OneBroker) -> None:
    broker.topic("t", partitions=2)
    append(broker, batch("a" * 300))
    append(broker, batch("b" * 300), index=1)
    size = len(batch("a" * 300))
    request = fetch("t", wait_ms=60_000, min_bytes=size + 100, max_bytes=size + 100, indexes=(0, 1))
    first, second = (await broker.ask(request, 11)).responses[0].partitions
    assert (values(first), values(second)) == (["a" * 300], [])


# --- compacted ---


async def test_a_consumer_gets_a_record_where_a_replica_gets_every_batch(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    log = broker.partition("t").log
    for number in range(3):
        put(log, ("k", "old"), producer_id=number, producer_epoch=0, base_sequence=0)
    put(log, ("k", "a"))
    clean(broker, log)  # each producer's sequence stays, in an empty batch
    limits = {"max_bytes": 1, "partition_bytes": 1}
    assert values(only(await broker.ask(fetch("t", **limits), 11))) == ["a"]
    replica = only(await broker.ask(fetch("t", replica=PEER, **limits), 11))
    (header,) = (header for _, header in iter_batches(bytes(replica.records)))
    assert (header.base_offset, header.record_count) == (0, 0)
    for offset in range(3):
        answer = only(await broker.ask(fetch("t", offset, isolation=1, **limits), 11))
        assert values(answer) == ["a"]
    log.high_watermark = 3
    at_bound = only(await broker.ask(fetch("t", **limits), 11))
    assert bytes(at_bound.records) == bytes(replica.records), "positions by batches move on"


@pytest.mark.parametrize("version", VERSIONS)
async def test_who_reads_committed_learns_which_transactions_were_aborted(
    broker: OneBroker, version: int
) -> None:
    topic = broker.topic("t")
    inside = {"producer_epoch": 0, "is_transactional": True, "base_sequence": 0}
    for value, producer_id in (("a", 5), ("b", 6)):
        append(broker, batch(value, producer_id=producer_id, **inside), origin="transaction")
    end(broker, 5, commits=False)
    wanted = functools.partial(fetch, topic if version >= 13 else "t")
    waits = only(await broker.ask(wanted(isolation=1), version))
    assert (values(waits), waits.last_stable_offset, waits.high_watermark) == (["a"], 1, 3)
    assert [(row.producer_id, row.first_offset) for row in waits.aborted_transactions] == [(5, 0)]
    end(broker, 6, commits=True)
    ended = only(await broker.ask(wanted(isolation=1), version))
    assert [(row.producer_id, row.first_offset) for row in ended.aborted_transactions] == [(5, 0)]
    assert ended.last_stable_offset == 4
    behind = only(await broker.ask(wanted(offset=3, isolation=1), version))
    assert behind.aborted_transactions == []
    everything = only(await broker.ask(wanted(), version))
    assert everything.aborted_transactions is None


def end(broker: OneBroker, producer_id: int, *, commits: bool) -> None:
    marker = NewRecord(struct.pack(">hh", 0, int(commits)), struct.pack(">hi", 0, 1), (), 1_000)
    data = build_batch(
        [marker], producer_id=producer_id, producer_epoch=0, is_transactional=True, is_control=True
    )
    broker.partition("t").append_now(data, 1, origin="coordinator")


@pytest.mark.parametrize("version", VERSIONS)
async def test_topics_of_zstd_are_refused_to_clients_that_cannot_read_it(version: int):
    broker = OneBroker(**{"compression.type": "zstd"})
    topic = broker.topic("t")
    broker.partition("t").append_now(bytearray(batch("a")), 1)
    answer = only(await broker.ask(fetch(topic if version >= 13 else "t"), version))
    expected = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE if version < 10 else 0
    assert (answer.error_code, bool(answer.records)) == (expected, version >= 10)
    await broker.stop()
