"""Fetch sessions (KIP-227): what an incremental fetcher is sent, and whose session stays."""

from __future__ import annotations

import dataclasses
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.replication import fetch_sessions
from dataplane.replication.fetch_sessions import EVICTION_MS, FetchManager, next_epoch
from dataplane.wire.fetch_codec import FetchedPartition
from dataplane.wire.fetch_request import FetchedFrom, FetchParts

CONSUMER, FOLLOWER = -1, 2
BY_NAME, BY_ID = 12, 17


class World:
    """Sessions, a clock, and what every partition would be answered with now."""

    def __init__(self, slots: int = 2) -> None:
        self.clock = FakeClock()
        self.sessions = FetchManager(slots=slots, clock=self.clock, entropy=FakeEntropy())
        self.answers: dict[tuple[object, int], FetchedPartition] = {}

    def ask(
        self, session=(0, 0), *, topics=(), forgotten=(), replica=CONSUMER, version=BY_NAME
    ) -> tuple[int, dict]:
        """The session's id and what is sent, by (topic, index)."""
        fetched = self.open(session, topics, forgotten, replica, version)
        session_id, answered = fetched.settle(self.read(fetched))
        return session_id, {
            (topic, each.partition): each for topic, some in answered for each in some
        }

    def open(self, session, topics=(), forgotten=(), replica=CONSUMER, version=BY_NAME):
        asked = [(topic, [FetchedFrom(i, 0, 1) for i in indexes]) for topic, indexes in topics]
        return self.sessions.open(
            FetchParts(replica, -1, 0, 1, 1, 0, *session, asked, list(forgotten), "", None), version
        )

    def read(self, fetched):
        return [
            (topic, [self.answer(topic, wanted.partition) for wanted in partitions])
            for topic, partitions in fetched.asked
        ]

    def answer(self, topic, index) -> FetchedPartition:
        return self.answers.get((topic, index), FetchedPartition(index, 0, 5, 5, 0))

    def create(self, partitions: int, *, replica=CONSUMER) -> int:
        return self.ask(topics=[("t", range(partitions))], replica=replica)[0]

    def has(self, session_id: int) -> bool:
        return self.sessions.cache.get(session_id) is not None


def refused(code: ErrorCode, world: World, *args, **options) -> None:
    with pytest.raises(KafkaError) as caught:
        world.ask(*args, **options)
    assert caught.value.code == code


# -- the sequence of requests


def test_a_session_is_opened_sent_all_and_then_only_news():
    world = World()
    session_id, answered = world.ask(topics=[("t", (0, 1)), ("u", (0,))])
    assert session_id > 0
    assert set(answered) == {("t", 0), ("t", 1), ("u", 0)}
    assert world.ask((session_id, 1)) == (session_id, {})
    world.answers["t", 1] = FetchedPartition(1, 0, 9, 9, 0)
    assert set(world.ask((session_id, 2))[1]) == {("t", 1)}
    assert world.ask((session_id, 3))[1] == {}


@pytest.mark.parametrize(
    "news",
    [
        {"high_watermark": 6},
        {"log_start_offset": 1},
        {"records": b"x"},
        {"preferred_read_replica": 3},
        {"diverging_epoch": (1, 2)},
        {"error_code": 6},
    ],
)
def test_what_is_news(news):
    world = World()
    session_id, _ = world.ask(topics=[("t", (0, 1))])
    world.answers["t", 1] = world.answer("t", 1)._replace(**news)
    assert set(world.ask((session_id, 1))[1]) == {("t", 1)}


def test_an_error_is_sent_each_time_and_so_is_its_end():
    world = World()
    session_id, _ = world.ask(topics=[("t", (0,))])
    world.answers["t", 0] = FetchedPartition(0, 6)
    for epoch in (1, 2):
        assert world.ask((session_id, epoch))[1]["t", 0].error_code == 6
    del world.answers["t", 0]
    assert set(world.ask((session_id, 3))[1]) == {("t", 0)}
    assert world.ask((session_id, 4))[1] == {}


def test_partitions_are_added_changed_and_forgotten():
    world = World()
    session_id, _ = world.ask(topics=[("t", (0, 1))])
    assert set(world.ask((session_id, 1), topics=[("t", (2,))])[1]) == {("t", 2)}
    fetched = world.open((session_id, 2), [("t", (0,))], [("t", [1])])
    assert [(topic, [w.partition for w in some]) for topic, some in fetched.asked] == [
        ("t", [0, 2])
    ]
    fetched.settle(world.read(fetched))
    assert world.sessions.cache.partitions == 2


def test_forgetting_the_last_partition_ends_the_session():
    world = World()
    session_id, _ = world.ask(topics=[("t", (0,))])
    assert world.ask((session_id, 1), forgotten=[("t", [0])]) == (0, {})
    assert not world.has(session_id)
    assert world.sessions.cache.partitions == 0


def test_what_was_sent_moves_to_the_end_so_that_all_get_their_turn():
    world = World()
    session_id, _ = world.ask(topics=[("t", (0, 1, 2))])
    world.answers["t", 0] = FetchedPartition(0, 0, 9, 9, 0, records=b"x")
    world.ask((session_id, 1))
    fetched = world.open((session_id, 2))
    assert [w.partition for _, some in fetched.asked for w in some] == [1, 2, 0]


def test_wrong_ids_epochs_and_kinds_are_refused():
    world = World()
    refused(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, world, (42, 1))
    session_id, _ = world.ask(topics=[("t", (0,))])
    for epoch in (2, 7, -2):
        refused(ErrorCode.INVALID_FETCH_SESSION_EPOCH, world, (session_id, epoch))
    refused(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, world, (session_id, 1), version=BY_ID)
    world.ask((session_id, 1))
    refused(ErrorCode.INVALID_FETCH_SESSION_EPOCH, world, (session_id, 1))
    topic_id = uuid.uuid4()
    by_id, _ = world.ask(topics=[(topic_id, (0,))], version=BY_ID)
    refused(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, world, (by_id, 1), version=BY_NAME)


def test_of_two_requests_at_once_the_earlier_is_refused():
    world = World()
    session_id, _ = world.ask(topics=[("t", (0,))])
    first = world.open((session_id, 1))
    second = world.open((session_id, 2))
    with pytest.raises(KafkaError) as caught:
        first.settle(world.read(first))
    assert caught.value.code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert second.settle(world.read(second)) == (session_id, [])


def test_a_full_request_ends_the_session_it_names():
    world = World()
    first, _ = world.ask(topics=[("t", (0,))])
    second, _ = world.ask((first, 0), topics=[("t", (0,))])
    assert (world.has(first), world.has(second)) == (False, True)
    assert world.ask((second, -1), topics=[("t", (0,))])[0] == 0
    assert len(world.sessions.cache) == 0


def test_epochs_go_round_without_nought():
    assert [next_epoch(epoch) for epoch in (0, 1, 2**31 - 1, -1)] == [1, 2, 1, -1]


# -- whose session stays


def test_without_slots_there_are_no_sessions():
    assert World(slots=0).create(1) == 0


def test_a_full_cache_declines_what_is_no_better():
    world = World()
    kept = [world.create(5), world.create(5)]
    assert world.create(50) == 0, "both are young"
    world.clock.advance(EVICTION_MS + 1)
    for session_id in kept:
        world.ask((session_id, 1))
    assert world.create(5) == 0, "no larger"
    assert world.create(6) > 0
    assert [world.has(each) for each in kept].count(False) == 1
    assert world.sessions.cache.evictions == 1


def test_the_longest_unused_goes_first():
    world = World()
    first, second = world.create(9), world.create(9)
    world.clock.advance(EVICTION_MS)
    world.ask((first, 1))
    assert world.create(1) == 0
    world.clock.advance(1)
    assert world.create(1) > 0
    assert (world.has(first), world.has(second)) == (True, False)


def test_followers_drive_out_consumers_at_once_and_never_the_other_way():
    world = World()
    small, large = world.create(2), world.create(9)
    follower = world.create(1, replica=FOLLOWER)
    assert (world.has(small), world.has(large), world.has(follower)) == (False, True, True)
    another = world.create(1, replica=FOLLOWER)
    assert another > 0
    assert world.create(1, replica=FOLLOWER) == 0, "followers' are young"
    world.clock.advance(EVICTION_MS + 1)
    for session_id in (follower, another):
        world.ask((session_id, 1), replica=FOLLOWER)
    assert world.create(100) == 0
    assert world.create(2, replica=FOLLOWER) > 0


def test_all_sessions_together_remember_so_many_partitions(monkeypatch):
    monkeypatch.setattr(fetch_sessions, "PARTITIONS_MAX", 10)
    world = World(slots=9)
    session_id = world.create(8)
    assert world.create(3) == 0
    assert world.create(2) > 0
    refused(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, world, (session_id, 1), topics=[("u", (0,))])
    assert world.sessions.cache.partitions == 2


# -- what holds whatever happens


@dataclasses.dataclass
class Client:
    """Keeps a session as clients do, and what it was sent."""

    session: tuple[int, int] = (0, 0)
    known: dict = dataclasses.field(default_factory=dict)
    wanted: set = dataclasses.field(default_factory=set)


steps = st.lists(
    st.tuples(
        st.sampled_from(["ask", "write", "fail", "heal", "add", "drop", "crowd"]),
        st.integers(0, 4),
    ),
    max_size=60,
)


@given(steps)
def test_a_session_sends_what_full_fetches_would_send(steps):
    """After every answer the client knows the watermark and errors of all that it wants."""
    world, client = World(slots=1), Client(wanted={0})
    sent: set[int] = set()
    seen: set[int] = set()
    for step, index in steps:
        if step == "write":
            before = world.answer("t", index)
            world.answers["t", index] = before._replace(high_watermark=before.high_watermark + 1)
        elif step == "fail":
            world.answers["t", index] = FetchedPartition(index, 6)
        elif step == "heal":
            world.answers["t", index] = FetchedPartition(index, 0, 7, 7, 0)
        elif step == "add":
            client.wanted.add(index)
        elif step == "drop":
            client.wanted.discard(index)
        elif step == "crowd":
            world.clock.advance(EVICTION_MS + 1)
            seen.add(world.create(9))
        else:
            sent = exchange(world, client, sent)
            seen.add(client.session[0])
    cache = world.sessions.cache
    left = [session for session in map(cache.get, seen) if session is not None]
    assert len(left) == len(cache)
    assert cache.partitions == sum(len(session.partitions) for session in left)


def exchange(world: World, client: Client, sent: set[int]) -> set[int]:
    _, epoch = client.session
    is_full = epoch == 0
    new = client.wanted if is_full else client.wanted - sent
    gone = [] if is_full else [("t", sorted(sent - client.wanted))]
    try:
        got, answered = world.ask(client.session, topics=[("t", sorted(new))], forgotten=gone)
    except KafkaError:
        client.session = (0, 0)
        client.known.clear()
        return set()
    client.known.update(answered)
    client.session = (got, next_epoch(epoch)) if got else (0, 0)
    for index in client.wanted:
        known, now = client.known["t", index], world.answer("t", index)
        assert known.error_code == now.error_code
        assert known.high_watermark == now.high_watermark
    return set(client.wanted) if got else set()
