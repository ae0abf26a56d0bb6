"""Produces that arrive together: what may change, fail and come between and behind them."""

from __future__ import annotations

import dataclasses
import errno
import uuid

import pytest

from dataplane.handlers.produce_route import RUN_MAX
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.filesystem import MemoryFile
from dataplane.ports.filesystem import Buffer
from dataplane.security.acl import (
    AclEntry,
    AclOperation,
    Permission,
    ResourcePattern,
    ResourceType,
)
from dataplane.security.principal import ANONYMOUS
from dataplane.wire.codec import decode
from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from dataplane.wire.messages.metadata import MetadataRequest
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch
from tests.dataplane.handlers.one_connection import (
    OneConnection,
    correlation_ids,
    logged,
    outcomes,
    produce,
    request,
    routed,
    sized,
    to_t,
)


def nothing_is_staged(broker: OneBroker) -> None:
    """A log refuses any other work while a batch waits to be written."""
    assert broker.partition("t").log.apply_retention(0) == 0


IDEMPOTENT = {"producer_id": 7, "producer_epoch": 0}


async def test_a_long_run_is_answered_in_order(broker: OneBroker, monkeypatch) -> None:
    """More than one run, and more parts than one system call takes."""
    broker.topic("t")
    connection = routed(broker)
    connection.read(to_t(batch("x" * 40_000)))  # the buffer grows
    connection.take()
    count = 2 * RUN_MAX + 100
    writes = []
    append = MemoryFile.append

    def noted(self: MemoryFile, *parts: Buffer) -> None:
        if self.path.endswith(".log"):
            writes.append(len(parts))
        append(self, *parts)

    monkeypatch.setattr(MemoryFile, "append", noted)
    connection.read(b"".join(to_t(batch("c"), at=at) for at in range(count)))
    answers = connection.take()
    assert correlation_ids(answers) == list(range(count))
    assert [offset for _, offset in outcomes(answers)] == list(range(3, 3 + count))
    assert max(writes) > RUN_MAX
    assert sum(writes) == count


# -- what changes between two requests of a route


async def test_a_smaller_max_message_bytes_holds_at_once(broker: OneBroker) -> None:
    broker.topic("t")
    connection = routed(broker)
    log = broker.partition("t").log
    log.update_config(dataclasses.replace(log.config, max_message_bytes=100))
    connection.read(to_t(batch("x" * 200)) + to_t(batch("c")))
    assert outcomes(connection.take()) == [(ErrorCode.MESSAGE_TOO_LARGE, -1), (0, 2)]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (ResourceType.TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (ResourceType.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    ],
)
async def test_a_revoked_acl_holds_at_once(kind, code) -> None:
    broker = OneBroker(authorizer_class_name="kafka.security.authorizer.AclAuthorizer")
    broker.topic("t")
    write = frozenset({AclEntry(ANONYMOUS, "*", AclOperation.WRITE, Permission.ALLOW)})
    patterns = {
        ResourceType.TOPIC: ResourcePattern.literal(ResourceType.TOPIC, "t"),
        ResourceType.TRANSACTIONAL_ID: ResourcePattern.literal(
            ResourceType.TRANSACTIONAL_ID, "mine"
        ),
    }
    for pattern in patterns.values():
        broker.authorizer.index.replace(pattern, write)
    connection = OneConnection(broker)
    data = request(produce(("t", 0, batch("a")), txn="mine"), 9, 1)
    connection.read(data * 4)
    assert [code for code, _ in outcomes(connection.take())] == [0] * 4
    broker.authorizer.index.replace(patterns[kind], frozenset())
    connection.read(data * 2)
    assert outcomes(connection.take()) == [(code, -1)] * 2
    broker.authorizer.index.replace(patterns[kind], write)
    connection.read(data)
    assert outcomes(connection.take()) == [(0, 4)]
    await broker.stop()


async def test_a_lost_leadership_holds_at_once(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    connection = routed(broker)
    broker.topic("t", replicas=(ME, PEER), leader=PEER, leader_epoch=1)
    connection.read(to_t(batch("c")) * 2)
    assert outcomes(connection.take()) == [(ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)] * 2
    broker.topic("t", replicas=(ME, PEER), leader_epoch=2)
    connection.read(to_t(batch("c")) * 2)
    assert outcomes(connection.take()) == [(0, 2), (0, 3)]


async def test_a_topic_deleted_and_created_again(broker: OneBroker) -> None:
    broker.topic("t")
    connection = routed(broker)
    old = broker.partition("t")
    assert broker.replica_manager.stop_replica(TopicPartition("t", 0), -2, delete=True) == 0
    connection.read(to_t(batch("c")) * 2)
    codes = {code for code, _ in outcomes(connection.take())}
    assert 0 not in codes
    broker.ids["t"] = uuid.uuid4()
    broker.topic("t", leader_epoch=1)
    connection.read(to_t(batch("c")) * 2)
    assert outcomes(connection.take()) == [(0, 0), (0, 1)]
    assert broker.partition("t") is not old
    assert old.log.log_end_offset == 2


# -- writes that fail


@pytest.mark.parametrize("acks", [1, -1])
async def test_a_failed_write_refuses_its_group_alone(broker: OneBroker, acks: int) -> None:
    broker.topic("t")
    connection = routed(broker)
    for round_ in range(2):
        broker.fs.fail("append", ".log", number=errno.ENOSPC)
        connection.read(to_t(batch("lost"), acks=acks) * 3)
        assert outcomes(connection.take()) == [(ErrorCode.KAFKA_STORAGE_ERROR, -1)] * 3
        connection.read(to_t(batch("kept"), acks=acks) * 3)
        first = 2 + 3 * round_
        assert outcomes(connection.take()) == [(0, first), (0, first + 1), (0, first + 2)]
    assert len(logged(broker)) == 8
    assert not any(b"lost" in each for each in logged(broker))


@pytest.mark.parametrize("routes", [True, False])
async def test_a_new_producer_whose_first_write_fails_locks_nobody_out(
    broker: OneBroker, routes: bool
) -> None:
    broker.topic("t")
    connection = OneConnection(broker, routes=routes)
    connection.read(to_t(batch("a")) * 2)
    connection.take()
    broker.fs.fail("append", ".log", number=errno.ENOSPC)
    first = to_t(batch("b", base_sequence=0, **IDEMPOTENT))
    connection.read(first + to_t(batch("c", base_sequence=1, **IDEMPOTENT)))
    assert outcomes(connection.take()) == [(ErrorCode.KAFKA_STORAGE_ERROR, -1)] * 2
    connection.read(first)
    assert outcomes(connection.take()) == [(0, 2)]
    connection.read(to_t(batch("d")))
    assert outcomes(connection.take()) == [(0, 3)]


async def test_a_producer_in_a_run_fails_goes_on_and_sends_again(broker: OneBroker) -> None:
    broker.topic("t")
    connection = routed(broker)
    frames = [to_t(batch("x", base_sequence=n, **IDEMPOTENT)) for n in range(7)]
    connection.read(frames[0])
    broker.fs.fail("append", ".log", number=errno.ENOSPC)
    connection.read(b"".join(frames[1:4]))
    connection.read(b"".join([*frames[1:4], frames[2], frames[6], frames[4]]))
    refused = ErrorCode.KAFKA_STORAGE_ERROR
    assert outcomes(connection.take()) == [
        (0, 2),
        *[(refused, -1)] * 3,
        (0, 3),
        (0, 4),
        (0, 5),
        (0, 4),
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1),
        (0, 6),
    ]
    assert len(logged(broker)) == 7


async def test_a_group_over_a_roll(broker: OneBroker) -> None:
    broker.topic("t")
    connection = routed(broker)
    log = broker.partition("t").log
    log.update_config(dataclasses.replace(log.config, segment_bytes=300))
    broker.fs.fail("append", "00000000000000000003.log", number=errno.ENOSPC)
    connection.read(to_t(batch("x" * 20)) * 6)
    found = outcomes(connection.take())
    kept = [offset for code, offset in found if code == 0]
    assert kept == list(range(2, 2 + len(kept)))
    assert 0 < len(kept) < 6
    assert found[len(kept) :] == [(ErrorCode.KAFKA_STORAGE_ERROR, -1)] * (6 - len(kept))
    assert len(logged(broker)) == 2 + len(kept) == log.log_end_offset
    connection.read(to_t(batch("x")))
    assert outcomes(connection.take()) == [(0, log.log_end_offset - 1)]


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
async def test_one_partitions_failure_in_a_group(broker: OneBroker, number: int) -> None:
    """A full disk is one partition's; any other error takes the directory, and the others with it."""
    broker.logs.on_directory_failure(lambda _path, lost: broker.replica_manager.lose(lost))
    broker.topic("t")
    broker.topic("u", replicas=(ME, PEER))
    connection = routed(broker)
    broker.fs.fail("append", "t-0/", number=number)
    to_u = request(produce(("u", 0, batch("c")), acks=-1), 9, 3)
    connection.read(to_t(batch("c"), at=1) + to_t(batch("c"), at=2) + to_u)
    answers = connection.take()
    assert outcomes(answers[:2]) == [(ErrorCode.KAFKA_STORAGE_ERROR, -1)] * 2
    if number == errno.EIO:
        assert correlation_ids(answers) == [1, 2, 3], "nobody waits for a lost partition"
        assert outcomes(answers[2:]) == [(ErrorCode.KAFKA_STORAGE_ERROR, -1)]
        assert broker.partition("u").log.log_end_offset == 0
    else:
        assert correlation_ids(answers) == [1, 2]
        broker.partition("u").on_follower_fetch(PEER, 1)
        assert outcomes(await connection.settle()) == [(0, 0)]


async def test_no_one_waits_for_a_partition_that_was_lost_in_the_same_commit(
    broker: OneBroker,
) -> None:
    broker.logs.on_directory_failure(lambda _path, lost: broker.replica_manager.lose(lost))
    broker.topic("t")
    broker.topic("u", replicas=(ME, PEER))
    connection = routed(broker)
    broker.fs.fail("append", "t-0/", number=errno.EIO)
    to_u = request(produce(("u", 0, batch("c")), acks=-1), 9, 3)
    connection.read(to_u + to_t(batch("c"), at=4))
    answers = await connection.settle()
    assert correlation_ids(answers) == [3, 4]
    assert outcomes(answers) == [
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1),
        (ErrorCode.KAFKA_STORAGE_ERROR, -1),
    ]


# -- what comes with them


async def test_acks_of_every_kind_on_one_connection(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER))
    connection = routed(broker)
    kinds = (1, -1, 1, 1, 0, 1, -1, 0, 1)
    connection.read(b"".join(to_t(batch("c"), acks=a, at=at) for at, a in enumerate(kinds)))
    answers = connection.take()
    assert correlation_ids(answers) == [0], "what comes behind a waiting answer waits with it"
    broker.partition("t").on_follower_fetch(PEER, 4)
    answers += await connection.settle()
    assert correlation_ids(answers) == [0, 1, 2, 3, 5]
    broker.partition("t").on_follower_fetch(PEER, 11)
    answers += await connection.settle()
    assert correlation_ids(answers) == [0, 1, 2, 3, 5, 6, 8]
    assert outcomes(answers) == [(0, 2 + at) for at, acks in enumerate(kinds) if acks]


def fetch_t(at: int, correlation_id: int) -> bytes:
    message = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        topics=[
            FetchTopic(
                topic="t",
                partitions=[
                    FetchPartition(partition=0, fetch_offset=at, partition_max_bytes=1 << 20)
                ],
            )
        ],
    )
    return request(message, 11, correlation_id)


async def test_other_requests_see_what_came_before_them(broker: OneBroker) -> None:
    broker.topic("t")
    connection = routed(broker)
    metadata = request(MetadataRequest(topics=None), 9, 4)
    connection.read(
        to_t(batch("c"), at=1)
        + to_t(batch("d"), at=2)
        + fetch_t(2, 3)
        + to_t(batch("e"), at=5)
        + metadata
        + to_t(batch("f"), at=6)
    )
    answers = await connection.settle()
    assert correlation_ids(answers) == [1, 2, 3, 5, 4, 6]
    response, _ = decode(FetchResponse, 11, memoryview(answers[2]), 4)
    partition = response.responses[0].partitions[0]
    assert partition.high_watermark == 4
    assert bytes(partition.records) == b"".join(logged(broker)[2:4])


async def test_a_topic_named_twice_waits_for_both(broker: OneBroker) -> None:
    broker.topic("t", replicas=(ME, PEER), partitions=2)
    connection = OneConnection(broker)
    message = produce(("t", 0, batch("a")), ("t", 1, batch("b")), acks=-1)
    connection.read(request(message, 9, 1))
    broker.partition("t", 0).on_follower_fetch(PEER, 1)
    assert await connection.settle() == []
    broker.partition("t", 1).on_follower_fetch(PEER, 1)
    assert outcomes(await connection.settle()) == [(0, 0), (0, 0)]


async def test_a_handler_that_breaks_leaves_nothing_staged(broker: OneBroker, monkeypatch) -> None:
    broker.topic("t", partitions=2)
    connection = routed(broker)
    leader = broker.replica_manager.leader

    def broken(place):
        if place.partition == 1:
            raise ZeroDivisionError
        return leader(place)

    monkeypatch.setattr(broker.replica_manager, "leader", broken)
    message = produce(("t", 0, batch("c")), ("t", 1, batch("d")))
    connection.read(to_t(batch("b"), at=1) + request(message, 9, 2) + to_t(batch("e"), at=3))
    answers = connection.take()
    assert correlation_ids(answers) == [1, 2, 3]
    unknown = ErrorCode.UNKNOWN_SERVER_ERROR
    assert [code for code, _ in outcomes(answers)] == [0, unknown, unknown, 0]
    assert [offset for code, offset in outcomes(answers) if not code] == [2, 4]
    assert not broker.replica_manager.appends.partitions
    nothing_is_staged(broker)


async def test_good_frames_before_a_bad_one_are_answered(broker: OneBroker) -> None:
    broker.topic("t")
    connection = routed(broker)
    connection.read(to_t(batch("c"), at=1) * 2 + b"\xff\xff\xff\xff")
    assert outcomes(connection.take()) == [(0, 2), (0, 3)]
    assert connection.is_over


@pytest.mark.parametrize("behind", [b"\xff\xff\xff\xff", sized(b""), sized(b"\x7f\x7f" * 9)])
async def test_a_failed_acks_0_before_a_bad_frame_closes_quietly(
    broker: OneBroker, behind: bytes
) -> None:
    """Both say that the connection is over; nothing may come up to the event loop."""
    broker.topic("t")
    connection = routed(broker)
    failing = request(produce(("missing", 0, batch("c")), acks=0), 9, 2)
    connection.read(to_t(batch("c"), at=1) + failing + to_t(batch("d"), at=3) + behind)
    assert correlation_ids(connection.take()) == [1]
    assert connection.is_over
    assert not broker.replica_manager.appends.partitions
    nothing_is_staged(broker)


async def test_a_peer_that_leaves_in_the_middle(broker: OneBroker) -> None:
    """What arrived whole is appended; the half frame is nowhere."""
    broker.topic("t")
    connection = routed(broker)
    connection.read(to_t(batch("c")) * 2 + to_t(batch("lost"))[:-3])
    connection.protocol.connection_lost(None)
    assert broker.partition("t").log.log_end_offset == 4
    assert not broker.replica_manager.appends.partitions
