"""Fetches by a route: the bytes of the ordinary way, and nothing where that is needed."""

from __future__ import annotations

import dataclasses
import struct
import uuid

import pytest

from dataplane.broker.context import ConnectionInfo
from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.replicas.staged_appends import StagedAnswer
from dataplane.log.reading.read_memory import TAKEN_BYTES_MAX
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.security.principal import ANONYMOUS
from dataplane.wire.apis import ApiKey
from dataplane.wire.headers import encode_request_frame
from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from tests.dataplane.handlers.one_broker import (
    LISTENER,
    ME,
    PEER,
    OneBroker,
    batch,
    read_answer,
    settled,
)
from tests.dataplane.handlers.test_fetch import append, end, fetch, only, values
from tests.dataplane.handlers.test_nearby_reads import RACK_AWARE
from tests.dataplane.handlers.test_produce import produce
from tests.dataplane.log.cleaner.cleaning import clean

VERSIONS = range(7, 18)
CORRELATION_IDS = slice(4, 8)


class Client:
    """One connection to the broker."""

    def __init__(self, broker: OneBroker) -> None:
        self.broker = broker
        self.info = ConnectionInfo(LISTENER, LISTENER, "127.0.0.1", ANONYMOUS)
        self.connection = dataclasses.make_dataclass("Connection", ["info"])(self.info)

    def submit(self, frame: bytes):
        return self.broker.dispatcher.submit(self.connection, memoryview(frame))

    def send(self, request: FetchRequest, version: int):
        return self.submit(framed(request, version))

    def warm(self, topic, version: int, **options: object) -> None:
        """Fetch often enough to get a route."""
        for offset in (3, 3):
            self.send(fetch(topic, offset, **options), version)
        assert self.info.fetch_route is not None

    def by_route(self, request: FetchRequest, version: int):
        """What the route answers; the connection stays as it is."""
        return self.info.fetch_route.answer(memoryview(framed(request, version)))

    async def ask(self, request: FetchRequest, version: int):
        return read_answer(request, version, await settled(self.send(request, version)))


def framed(request: FetchRequest, version: int, correlation_id: int = 99) -> bytes:
    return bytes(encode_request_frame(request, version, correlation_id, "test")[4:])


def joined(parts: list) -> bytes:
    """The bytes of an answer, from memory where it was read already."""
    found = b""
    for part in parts:
        if not hasattr(part, "position"):
            found += bytes(part)
            continue
        data = part.held and part.held.get()
        assert data is None or bytes(data) == part.read()
        found += part.read()
    return found


@pytest.fixture
def client(broker: OneBroker) -> Client:
    return Client(broker)


def filled(broker: OneBroker) -> uuid.UUID:
    """Topic `t` of batches of many sizes, behind some of which nothing is decided yet."""
    topic_id = broker.topic("t", replicas=(ME, PEER))
    for number in range(40):
        append(broker, batch(*["v" * (number * 37 % 900)] * (1 + number % 3)))
    options = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0}
    append(broker, batch("open", is_transactional=True, **options), origin="transaction")
    append(broker, batch("z" * 9_000), batch("y"))
    end = broker.partition("t").log.log_end_offset
    broker.partition("t").on_follower_fetch(PEER, end - 1)
    log = broker.partition("t").log
    assert log.last_stable_offset < log.high_watermark < end
    return topic_id


@pytest.mark.parametrize("limit", [1, 400, 5_000, 1 << 20])
@pytest.mark.parametrize("isolation", [0, 1])
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_route_answers_as_the_ordinary_way(
    broker: OneBroker, client: Client, version: int, isolation: int, limit: int
) -> None:
    topic_id = filled(broker)
    topic = topic_id if version >= 13 else "t"
    options = {"isolation": isolation, "partition_bytes": limit}
    client.warm(topic, version, **options)
    log = broker.partition("t").log
    bound = log.last_stable_offset if isolation else log.high_watermark
    for offset in range(-1, log.log_end_offset + 2):
        request = fetch(topic, offset, **options)
        ordinary = joined(Client(broker).send(request, version))
        parts = client.by_route(request, version)
        assert (parts is not None) == (0 <= offset < bound)
        if parts is not None:
            assert joined(parts) == ordinary
        assert joined(client.send(request, version)) == ordinary


@pytest.mark.parametrize("version", VERSIONS)
async def test_behind_the_last_abort_a_route_reads_what_is_committed(
    broker: OneBroker, client: Client, version: int
) -> None:
    topic_id = broker.topic("t")
    topic = topic_id if version >= 13 else "t"
    append(broker, batch("a"), batch("b"))
    for producer_id in (5, 6):
        options = {"producer_id": producer_id, "producer_epoch": 0, "base_sequence": 0}
        inside = batch("in", "side", is_transactional=True, **options)
        append(broker, inside, origin="transaction")
    end(broker, 6, commits=True)
    end(broker, 5, commits=False)
    aborted_at = broker.partition("t").log.log_end_offset - 1
    append(broker, batch("c", "d"), batch("e"))
    client.warm(topic, version, isolation=1)
    for offset in range(aborted_at + 4):
        request = fetch(topic, offset, isolation=1)
        parts = client.by_route(request, version)
        assert (parts is not None) == (offset > aborted_at), "the aborted have to be named"
        ordinary = joined(Client(broker).send(request, version))
        assert parts is None or joined(parts) == ordinary
        assert joined(client.send(request, version)) == ordinary
    append(
        broker,
        batch("more", is_transactional=True, **options | {"base_sequence": 2}),
        origin="transaction",
    )
    end(broker, 6, commits=False)
    append(broker, batch("f"))
    assert client.by_route(fetch(topic, aborted_at + 1, isolation=1), version) is None
    last = broker.partition("t").log.log_end_offset - 1
    assert client.by_route(fetch(topic, last, isolation=1), version) is not None


@pytest.mark.parametrize("version", VERSIONS)
async def test_long_logs_are_read_alike_from_memory(
    broker: OneBroker, client: Client, version: int
) -> None:
    """Behind the tail, where what a limit cuts is read at once."""
    topic_id = broker.topic("t")
    append(broker, *(batch("v" * 1_000) for _ in range(700)))
    topic = topic_id if version >= 13 else "t"
    client.warm(topic, version, partition_bytes=10_000)
    held = 0
    for offset in range(0, 300, 7):
        request = fetch(topic, offset, partition_bytes=10_000)
        parts = client.by_route(request, version)
        held += sum(getattr(part, "held", None) is not None for part in parts)
        assert joined(parts) == joined(Client(broker).send(request, version))
    assert held > 0


@pytest.mark.parametrize("version", [7, 11, 12, 17])
async def test_correlation_ids_are_the_requests(
    broker: OneBroker, client: Client, version: int
) -> None:
    topic_id = filled(broker)
    topic = topic_id if version >= 13 else "t"
    client.warm(topic, version)
    for correlation_id in (0, 1, -1, 0x7FFFFFFF):
        frame = framed(fetch(topic, 9), version, correlation_id)
        parts = client.info.fetch_route.answer(memoryview(frame))
        assert joined(parts)[4:8] == struct.pack(">i", correlation_id)


@pytest.mark.parametrize("version", VERSIONS)
async def test_another_frame_is_not_of_the_route(
    broker: OneBroker, client: Client, version: int
) -> None:
    topic_id = filled(broker)
    topic = topic_id if version >= 13 else "t"
    client.warm(topic, version)
    frame, other = (framed(fetch(topic, offset), version) for offset in (9, 9 ^ -1))
    differing = {at for at in range(len(frame)) if frame[at] != other[at]}
    assert len(differing) == 8, "the offset"
    answer = client.info.fetch_route.answer
    assert answer(memoryview(frame)) is not None
    for at in range(len(frame)):
        assert answer(memoryview(frame[:at])) is None
        assert answer(memoryview(frame[:at] + b"\0" + frame[at:])) is None
        if at in differing or CORRELATION_IDS.start <= at < CORRELATION_IDS.stop:
            continue
        flipped = bytearray(frame)
        flipped[at] ^= 1
        assert answer(memoryview(flipped)) is None, at
    assert answer(memoryview(frame + b"\0")) is None


def test_an_offset_whose_bytes_come_twice_makes_no_route(broker: OneBroker, client: Client) -> None:
    """`max_wait_ms` and `min_bytes` beside each other look like an offset."""
    filled(broker)
    for offset in (3, 3, 3):
        client.send(fetch("t", offset, min_bytes=3), 11)
    assert client.info.fetch_route is None
    client.send(fetch("t", 4, min_bytes=3), 11)
    parts = client.by_route(fetch("t", 3, min_bytes=3), 11)
    assert joined(parts) == joined(Client(broker).send(fetch("t", 3, min_bytes=3), 11))


@pytest.mark.parametrize(
    "options",
    [
        {"replica": PEER},
        {"session": (0, 0)},
        {"session": (12, -1)},
        {"indexes": (0, 0)},
        {"last_epoch": 0},
        {"min_bytes": 600, "partition_bytes": 1_000},
    ],
)
def test_what_a_route_is_not_made_for(
    broker: OneBroker, client: Client, options: dict[str, object]
) -> None:
    filled(broker)
    for _ in range(3):
        client.send(fetch("t", 5, **options), 12)
        assert client.info.fetch_route is None


@pytest.mark.parametrize("version", [4, 5, 6])
def test_versions_before_sessions_have_no_route(
    broker: OneBroker, client: Client, version: int
) -> None:
    filled(broker)
    for _ in range(3):
        client.send(fetch("t", 5), version)
    assert client.info.fetch_route is None


async def test_a_session_is_never_answered_by_a_route(broker: OneBroker, client: Client) -> None:
    filled(broker)
    client.warm("t", 11)
    opened = await client.ask(fetch("t", 5, session=(0, 0)), 11)
    assert opened.session_id
    assert client.info.fetch_route is None
    empty = await client.ask(FetchRequest(session_id=opened.session_id, session_epoch=1), 11)
    assert empty.session_id == opened.session_id
    client.warm("t", 11)
    ended = await client.ask(fetch("t", 5, session=(opened.session_id, -1)), 11)
    assert ended.session_id == 0
    again = fetch("t", 5, session=(opened.session_id, 2))
    assert (await client.ask(again, 11)).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("empty_first", [False, True])
async def test_a_topic_without_partitions_beside_the_one_that_is_read(
    broker: OneBroker, client: Client, empty_first: bool
) -> None:
    filled(broker)
    request = fetch("t", 5)
    request.topics.insert(0 if empty_first else 1, FetchTopic(topic="u", partitions=[]))
    for _ in range(3):
        response = await client.ask(request, 11)
        assert response.error_code == 0
        assert [len(topic.partitions) for topic in response.responses] == [
            len(topic.partitions) for topic in request.topics
        ]
    assert client.info.fetch_route is None


def test_racks_and_forgotten_topics_belong_to_the_frame(broker: OneBroker, client: Client) -> None:
    filled(broker)
    client.warm("t", 11)
    other = fetch("t", 9)
    other.rack_id = "r"
    assert client.by_route(other, 11) is None
    other = fetch("t", 9)
    other.forgotten_topics_data = [ForgottenTopic(topic="t", partitions=[0])]
    assert client.by_route(other, 11) is None


async def test_with_read_replicas_nobody_has_a_route() -> None:
    broker = OneBroker(**{"replica.selector.class": RACK_AWARE})
    filled(broker)
    client = Client(broker)
    for _ in range(3):
        client.send(fetch("t", 5), 11)
    assert client.info.fetch_route is None
    await broker.stop()


def recreated(broker: OneBroker) -> tuple[uuid.UUID, uuid.UUID]:
    """Topic `t` is deleted and created once more with other content: its ids."""
    old = broker.ids.pop("t")
    broker.replica_manager.stop_replica(TopicPartition("t", 0), -2, delete=True)
    new = broker.ids["t"] = uuid.uuid4()
    broker.topic("t")
    image = broker.metadata_cache.image
    names = {topic_id: name for topic_id, name in image.names_by_id.items() if topic_id != old}
    broker.metadata_cache.replace(dataclasses.replace(image, names_by_id=names))
    append(broker, *(batch("new") for _ in range(20)))
    return old, new


@pytest.mark.parametrize("version", range(13, 18))
async def test_a_deleted_topics_id_does_not_read_the_topic_that_has_its_name(
    broker: OneBroker, client: Client, version: int
) -> None:
    topic_id = filled(broker)
    client.warm(topic_id, version)
    old, new = recreated(broker)
    assert old == topic_id
    assert client.by_route(fetch(old, 9), version) is None
    refused = only(await client.ask(fetch(old, 9), version))
    assert (refused.error_code, values(refused)) == (ErrorCode.UNKNOWN_TOPIC_ID, [])
    assert client.info.fetch_route is None
    client.warm(new, version)
    assert joined(client.by_route(fetch(new, 9), version)).count(b"new") == 11


async def test_a_name_reads_the_topic_that_has_it_and_gets_a_new_route(
    broker: OneBroker, client: Client
) -> None:
    filled(broker)
    client.warm("t", 12)
    recreated(broker)
    for _ in range(3):
        assert set(values(only(await client.ask(fetch("t", 9), 12)))) == {"new"}
    assert client.by_route(fetch("t", 9), 12) is not None


@pytest.mark.parametrize("replica", [-1, PEER])
async def test_an_id_that_the_replica_here_does_not_have_is_inconsistent(
    broker: OneBroker, client: Client, replica: int
) -> None:
    """The metadata know of the new topic, and the replica is still the old one's."""
    filled(broker)
    image = broker.metadata_cache.image
    new = uuid.uuid4()
    broker.metadata_cache.replace(dataclasses.replace(image, names_by_id={new: "t"}))
    for _ in range(3):
        refused = only(await client.ask(fetch(new, 9, replica=replica), 13))
        assert (refused.error_code, values(refused)) == (ErrorCode.INCONSISTENT_TOPIC_ID, [])


async def test_leaders_are_fenced_by_their_epoch(broker: OneBroker, client: Client) -> None:
    filled(broker)
    client.warm("t", 11, leader_epoch=0)
    broker.topic("t", replicas=(ME, PEER), leader_epoch=1)
    assert client.by_route(fetch("t", 9, leader_epoch=0), 11) is None
    fenced = await client.ask(fetch("t", 9, leader_epoch=0), 11)
    assert only(fenced).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert client.info.fetch_route is None
    known = await client.ask(fetch("t", 9, leader_epoch=1), 11)
    assert only(known).error_code == 0


@pytest.mark.parametrize("version", [10, 11])
async def test_who_leads_no_more_answers_no_more_by_a_route(
    broker: OneBroker, client: Client, version: int
) -> None:
    filled(broker)
    client.warm("t", version)
    broker.topic("t", leader=PEER, replicas=(ME, PEER), leader_epoch=1)
    for _ in range(3):
        assert not client.info.fetch_route or client.by_route(fetch("t", 9), version) is None
        answer = only(await client.ask(fetch("t", 9), version))
        wanted = ErrorCode.NOT_LEADER_OR_FOLLOWER if version == 10 else ErrorCode.NONE
        assert answer.error_code == wanted, "from version 11 on followers are read"


async def test_a_right_that_is_taken_away_counts_at_once(
    broker: OneBroker, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(broker)
    client.warm("t", 11)
    monkeypatch.setattr(broker.authorizer, "is_enabled", True)  # there is no ACL that allows it
    assert client.by_route(fetch("t", 9), 11) is None
    refused = only(await client.ask(fetch("t", 9), 11))
    assert refused.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert client.info.fetch_route is None


async def test_deleted_and_cut_off_records_are_out_of_range(
    broker: OneBroker, client: Client
) -> None:
    filled(broker)
    client.warm("t", 11)
    log = broker.partition("t").log
    log.delete_records_before(20)
    for offset in (9, log.log_end_offset + 1):
        assert client.by_route(fetch("t", offset), 11) is None
        answer = only(await client.ask(fetch("t", offset), 11))
        assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert only(await client.ask(fetch("t", 20), 11)).log_start_offset == 20


async def test_a_log_that_cannot_be_read_is_left_to_the_ordinary_way(
    broker: OneBroker, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(broker)
    client.warm("t", 11)

    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(type(broker.partition("t").log), "read", fail)
    answer = only(await client.ask(fetch("t", 9), 11))
    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR


async def test_less_than_min_bytes_waits_and_the_route_stays(
    broker: OneBroker, client: Client
) -> None:
    broker.topic("t")
    append(broker, *(batch("v") for _ in range(10)))
    options = {"wait_ms": 60_000, "min_bytes": 300}
    client.warm("t", 11, **options)
    route = client.info.fetch_route
    for offset in (9, 10):
        assert client.by_route(fetch("t", offset, **options), 11) is None
        request = fetch("t", offset, **options)
        answer = client.send(request, 11)
        assert isinstance(answer, Deferred)
        assert client.info.fetch_route is route, "it is not made once more for nothing"
        append(broker, *(batch("w") for _ in range(4)))
        assert values(only(read_answer(request, 11, await settled(answer))))[-4:] == ["w"] * 4


def test_a_produce_before_it_on_the_connection_is_seen(broker: OneBroker, client: Client) -> None:
    broker.topic("t")
    append(broker, *(batch("v") for _ in range(5)))
    client.warm("t", 11)
    staged = client.submit(framed(produce("t", batch("mine")), 9))
    assert isinstance(staged, StagedAnswer)
    assert b"mine" in joined(client.send(fetch("t", 5), 11))
    assert staged.finish()


def test_a_route_does_not_part_produces_that_come_together(
    broker: OneBroker, client: Client
) -> None:
    broker.topic("t", partitions=2)
    append(broker, *(batch("v") for _ in range(5)))
    client.warm("t", 11)
    answers = [client.submit(framed(produce("t", batch("p"), index=n % 2), 9)) for n in range(4)]
    assert len(broker.replica_manager.appends.partitions) == 2, "nothing has been written yet"
    assert all(answer.finish() for answer in answers if isinstance(answer, StagedAnswer))
    assert broker.partition("t").log.log_end_offset == 7


def test_a_route_counts_what_the_ordinary_way_counts(broker: OneBroker, client: Client) -> None:
    filled(broker)
    client.warm("t", 11)
    metrics = broker.metrics

    def counted(by: Client) -> tuple[int, int, int, int]:
        def now() -> tuple[int, int, int, int]:
            return (
                metrics.requests[ApiKey.FETCH],
                sum(metrics.requests.values()),
                metrics.bytes_out.value,
                metrics.refused_fetches.value,
            )

        before = now()
        by.send(fetch("t", 9), 11)
        return tuple(b - a for a, b in zip(before, now(), strict=True))

    assert client.by_route(fetch("t", 9), 11) is not None
    by_route = counted(client)
    assert by_route == counted(Client(broker))
    assert by_route[:2] == (1, 1)
    assert by_route[2] > 0


def test_what_one_request_reads_into_memory_stays_there_until_it_leaves(
    broker: OneBroker, client: Client
) -> None:
    count = 4
    broker.topic("t", partitions=count)
    for index in range(count):
        append(broker, *(batch("v" * 9_000) for _ in range(400)), index=index)
    memory = broker.replica_manager.read_memory
    for limit in (20 << 10, 300 << 10, 600 << 10, TAKEN_BYTES_MAX):
        memory.start_over()
        request = fetch("t", 0, partition_bytes=limit, max_bytes=50 << 20)
        request.topics[0].partitions = [
            FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=limit)
            for index in range(count)
        ]
        slices = [part for part in client.send(request, 11) if hasattr(part, "position")]
        assert len(slices) == count
        held = [part.held for part in slices if part.held is not None]
        assert len(held) == max(1, min(count, TAKEN_BYTES_MAX // limit))
        assert all(each.get() is not None for each in held), "nothing is read twice"


def test_a_route_made_before_a_cleaning_does_not_serve_after_it(
    broker: OneBroker, client: Client
) -> None:
    broker.topic("t")
    append(broker, *(batch("v") for _ in range(6)))
    client.warm("t", 11)
    assert client.by_route(fetch("t", 4), 11) is not None
    clean(broker, broker.partition("t").log)
    assert client.by_route(fetch("t", 4), 11) is None
