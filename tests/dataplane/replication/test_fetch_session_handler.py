"""The follower's side of a fetch session, alone and against the leader's side (KIP-227)."""

from __future__ import annotations

import dataclasses
import uuid

from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.replication.fetch_session_handler import (
    FetchPosition,
    FetchRequestData,
    FetchSessionHandler,
)
from dataplane.replication.fetch_sessions import EVICTION_MS, FetchManager
from dataplane.wire.fetch_codec import FetchedPartition
from dataplane.wire.fetch_request import FetchedFrom, FetchParts

TOPIC = uuid.uuid5(uuid.NAMESPACE_DNS, "t")
A, B, C = (TOPIC, 0), (TOPIC, 1), (TOPIC, 2)
OK = ErrorCode.NONE


def at(offset: int, epoch: int = 1) -> FetchPosition:
    return FetchPosition(epoch, offset, epoch, 0)


def opened(*keys, session_id: int = 77) -> FetchSessionHandler:
    """A session whose leader has answered the first request."""
    session = FetchSessionHandler()
    for key in keys:
        session.want(key, at(0))
    request = session.next_request()
    assert request.is_full
    assert session.on_response(request, session_id, OK)
    return session


def said(request: FetchRequestData) -> tuple:
    return request.session_id, request.epoch, dict(request.positions), request.forgotten


def test_the_first_question_names_all_and_does_not_wait() -> None:
    session = FetchSessionHandler()
    assert session.next_request() is None
    session.want(A, at(0))
    session.want(B, at(5))
    request = session.next_request()
    assert said(request) == (0, 0, {A: at(0), B: at(5)}, [])
    assert not request.may_wait


def test_then_only_what_has_changed_is_named() -> None:
    session = opened(A, B)
    assert said(session.next_request()) == (77, 1, {}, [])
    session.want(A, at(3))
    session.want(B, at(0))
    assert said(session.next_request()) == (77, 2, {A: at(3)}, [])
    session.want(C, at(9))
    session.leave_out(A)
    assert said(session.next_request()) == (77, 3, {C: at(9)}, [A])
    session.want(A, at(3))
    request = session.next_request()
    assert said(request) == (77, 4, {A: at(3)}, [])
    assert request.may_wait
    assert len(session) == 3


def test_a_change_that_is_taken_back_is_none() -> None:
    session = opened(A)
    session.want(A, at(3))
    session.want(A, at(0))
    session.want(B, at(1))
    session.leave_out(B)
    assert said(session.next_request()) == (77, 1, {}, [])


def test_a_lost_answer_is_followed_by_a_full_request_and_ends_the_old_session() -> None:
    session = opened(A, B)
    lost = session.next_request()
    session.on_lost(lost)
    assert said(session.next_request()) == (77, 0, {A: at(0), B: at(0)}, [])


def test_what_a_refusal_means_for_the_next_question() -> None:
    for error, old_id in (
        (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0),
        (ErrorCode.INVALID_FETCH_SESSION_EPOCH, 77),
        (ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, 77),
    ):
        session = opened(A)
        assert not session.on_response(session.next_request(), 0, error)
        assert not session.is_open
        assert said(session.next_request()) == (old_id, 0, {A: at(0)}, [])


def test_the_refusal_of_an_overtaken_question_says_nothing() -> None:
    session = opened(A)
    overtaken, newest = session.next_request(), session.next_request()
    assert not session.on_response(overtaken, 0, ErrorCode.INVALID_FETCH_SESSION_EPOCH)
    assert session.on_response(newest, 77, OK)
    assert said(session.next_request()) == (77, 3, {}, [])


def test_where_sessions_are_declined_every_question_is_full_and_may_wait() -> None:
    session = opened(A, session_id=0)
    for _ in range(3):
        request = session.next_request()
        assert said(request) == (0, 0, {A: at(0)}, [])
        assert request.may_wait
        assert session.on_response(request, 0, OK)
        assert session.requested(request, A) == at(0)
    assert session.on_response(session.next_request(), 5, OK)
    assert session.next_request().session_id == 5


def test_the_answer_of_another_session_is_followed_by_a_full_request() -> None:
    session = opened(A)
    assert session.on_response(session.next_request(), 0, OK)
    assert session.next_request().is_full


def test_an_answer_to_an_earlier_question_of_the_same_partition_is_not_taken() -> None:
    session = opened(A, B)
    first = session.next_request()
    session.want(A, at(4))
    second = session.next_request()
    assert session.requested(first, B) == session.requested(second, B) == at(0)
    assert session.requested(second, A) == at(4)
    assert session.is_open
    assert session.requested(first, A) is None
    assert not session.is_open, "what it held will not be sent again"


def test_before_the_last_full_question_nothing_is_missed() -> None:
    session = opened(A)
    old = session.next_request()
    session.require_full()
    full = session.next_request()
    assert session.on_response(full, 78, OK)
    assert session.requested(old, A) is None
    session.on_lost(old)
    assert session.is_open


def test_a_new_follower_of_a_known_partition_hears_everything_again() -> None:
    session = opened(A, B)
    old = session.next_request()
    session.renew(C)
    assert session.is_open
    session.renew(A)
    assert session.requested(old, A) is None
    assert session.requested(old, B) == at(0)
    assert session.next_request().is_full


def test_partitions_left_out_are_not_heard_of() -> None:
    session = opened(A, B)
    session.leave_out(A)
    request = session.next_request()
    assert session.requested(request, A) is None
    assert session.is_open


# -- both sides together


@dataclasses.dataclass
class Sent:
    """A request under way, and its answer once the leader has made it."""

    request: FetchRequestData
    fetched: object = None
    answer: tuple | None = None


class Both:
    """A leader with real sessions, a follower, and a network that may lose and overtake."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.sessions = FetchManager(slots=1, clock=self.clock, entropy=FakeEntropy())
        self.session = FetchSessionHandler()
        self.watermarks = {A: 3, B: 3, C: 3}
        self.offsets = {A: 0, B: 0, C: 0}
        self.known: dict = {}
        self.sent: list[Sent] = []
        self.named = 0

    def ask(self) -> None:
        if len(self.sent) < 3:
            request = self.session.next_request()
            if request is not None:
                self.named += len(request.positions)
                self.sent.append(Sent(request))

    def arrive(self, sent: Sent) -> None:
        """The request reaches the leader, which may park it."""
        request = sent.request
        asked = [(key[0], [FetchedFrom(key[1], a.offset, 1)]) for key, a in request.positions]
        gone = [(key[0], [key[1]]) for key in request.forgotten]
        place = request.session_id, request.epoch
        try:
            sent.fetched = self.sessions.open(
                FetchParts(2, -1, 0, 1, 1, 0, *place, asked, gone, "", None), 17
            )
        except KafkaError as error:
            sent.answer = error.code, 0, ()

    def settle(self, sent: Sent) -> None:
        """The leader answers: a record where there is one, and its watermark."""
        answers = []
        offsets = {}
        for topic, partitions in sent.fetched.asked:
            answered = []
            for wanted in partitions:
                watermark = self.watermarks[topic, wanted.partition]
                records = b"r" if wanted.fetch_offset < watermark else None
                answered.append(
                    FetchedPartition(wanted.partition, 0, watermark, -1, 0, records=records)
                )
                offsets[topic, wanted.partition] = wanted.fetch_offset
            answers.append((topic, answered))
        try:
            session_id, settled = sent.fetched.settle(answers)
        except KafkaError as error:
            sent.answer = error.code, 0, ()
            return
        news = [((t, a.partition), offsets[t, a.partition], a) for t, some in settled for a in some]
        sent.answer = OK, session_id, news

    def hear(self, sent: Sent) -> None:
        """As the replica fetcher does."""
        self.sent.remove(sent)
        error, session_id, news = sent.answer
        if not self.session.on_response(sent.request, session_id, error):
            return
        for key, true_offset, answer in news:
            asked = self.session.requested(sent.request, key)
            if asked is None or key not in self.offsets:
                continue
            assert asked.offset == true_offset, "records would be taken for others"
            if asked.offset != self.offsets[key]:
                self.session.require_full()
                continue
            self.offsets[key] += answer.records is not None
            self.known[key] = answer.high_watermark
            self.session.want(key, at(self.offsets[key]))

    def lose(self, sent: Sent) -> None:
        self.sent.remove(sent)
        self.session.on_lost(sent.request)

    def work(self, which: int, move: str) -> None:
        """One step of one request under way."""
        if not self.sent:
            return
        sent = self.sent[which % len(self.sent)]
        if move == "lose":
            self.lose(sent)
        elif sent.fetched is None and sent.answer is None:
            self.arrive(sent)
        elif sent.answer is None:
            self.settle(sent)
        else:
            self.hear(sent)

    def follow(self, key) -> None:
        """The partition gets a follower, or another one, whose log may be shorter."""
        self.offsets[key] = max(0, self.offsets.get(key, 0) - 1)
        self.known.pop(key, None)
        self.session.renew(key)
        self.session.want(key, at(self.offsets[key]))

    def leave(self, key) -> None:
        self.offsets.pop(key, None)
        self.known.pop(key, None)
        self.session.leave_out(key)

    def truncate(self, key) -> None:
        """The log was truncated, by a diverging answer, say: it no longer knows the watermark."""
        if self.offsets.get(key, 0):
            self.offsets[key] -= 1
            self.known.pop(key, None)
            self.session.want(key, at(self.offsets[key]))
            self.session.require_full()

    def crowd(self) -> None:
        """Somebody else's session drives ours out."""
        self.clock.advance(EVICTION_MS + 1)
        wanted = [(TOPIC, [FetchedFrom(9, 0, 1)])]
        other = self.sessions.open(FetchParts(3, -1, 0, 1, 1, 0, 0, 0, wanted, [], "", None), 17)
        other.settle([(TOPIC, [FetchedPartition(9)])])


MOVES = st.lists(
    st.tuples(
        st.sampled_from(
            ["ask", "work", "work", "work", "lose", "write", "follow", "leave", "truncate", "crowd"]
        ),
        st.integers(0, 2),
    ),
    max_size=120,
)


@settings(max_examples=300, deadline=None)
@given(moves=MOVES)
def test_whatever_is_lost_or_overtaken_the_follower_learns_everything_in_the_end(moves) -> None:
    both = Both()
    for key in (A, B, C):
        both.follow(key)
    for move, which in moves:
        key = (A, B, C)[which]
        if move == "ask":
            both.ask()
        elif move in {"work", "lose"}:
            both.work(which, move)
        elif move == "write":
            both.watermarks[key] += 1
        elif move == "crowd":
            both.crowd()
        else:
            getattr(both, move)(key)
    while both.sent:
        both.work(0, "go on")
    for _ in range(2 * sum(both.watermarks.values()) + 5):
        both.clock.advance(EVICTION_MS + 1)  # whatever session is in the way makes space
        both.ask()
        while both.sent:
            both.work(0, "go on")
    for key in both.offsets:
        assert both.offsets[key] == both.watermarks[key]
        assert both.known[key] == both.watermarks[key]
    named = both.named
    for _ in range(3):
        both.ask()
        while both.sent:
            both.work(0, "go on")
    assert both.named == named, "an idle session names nothing"
