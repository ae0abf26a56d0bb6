"""Any sequence of requests, time, failed writes, lost markers and crashes keeps the promises.

Promises: the records of an id are a chain of legal moves; what is decided stays decided; an epoch
never goes back, and a producer id is left only when its epochs are used up; markers say what the
log says; what a producer was answered is in the log; another coordinator serves the same.
"""

import dataclasses

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from dataplane.model.errors import ErrorCode as E
from dataplane.transactions.records import decode_image, decode_key, record_of
from dataplane.transactions.states import PREPARED, TransactionState, check_move
from dataplane.transactions.transaction import EPOCH_MAX, TransactionImage
from tests.dataplane.transactions.driver import ID, T0, T1, Driver

S = TransactionState
producers = st.integers(0, 7)
refusals = st.sampled_from([E.NOT_ENOUGH_REPLICAS, E.REQUEST_TIMED_OUT])


class TransactionLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver(id_expiration_ms=500_000)
        self.inits = {}  # ticket → whether it named its producer
        self.ends = {}  # ticket → (decision, producer)
        self.known = []  # (producer id, epoch), as producers remember them
        self.checked = 0  # records of the log that were looked at
        self.last = None  # the image of the last of them
        self.decisions = []  # (producer id, epoch, decision), one for each transaction
        self.markers_seen = 0

    @initialize(epoch=st.sampled_from([0, EPOCH_MAX - 4, EPOCH_MAX - 2, EPOCH_MAX - 1]))
    def an_id_with_a_past(self, epoch):
        image = TransactionImage(
            transactional_id=ID,
            producer_id=1,
            producer_epoch=epoch,
            timeout_ms=60_000,
            state=S.EMPTY,
            updated_ms=self.driver.clock.realtime_ms(),
        )
        self.driver.log.append(record_of(image))
        self.driver.reload()
        self.known.append((1, epoch))
        self.driver.hold_writes = self.driver.hold_markers = True
        self.read_log()

    def collect(self):
        """Producers read their answers; the log is looked at before them."""
        self.read_log()
        for ticket in [ticket for ticket in self.inits if ticket in self.driver.answers]:
            del self.inits[ticket]
            result = self.driver.answers[ticket]
            if result.error is E.NONE:
                assert (result.producer_id, result.producer_epoch) not in [
                    pair for pair in self.known if pair != self.known[-1]
                ]
                self.known.append((result.producer_id, result.producer_epoch))
        for ticket in [ticket for ticket in self.ends if ticket in self.driver.answers]:
            is_commit, producer = self.ends.pop(ticket)
            if self.driver.answers[ticket] is E.NONE:
                assert (*producer, is_commit) in self.decisions

    def read_log(self):
        for record in self.driver.log[self.checked :]:
            self.checked += 1
            assert decode_key(record.key) == ID
            if record.value is None:
                check_move(ID, self.last.state, S.DEAD)
                self.last = None
                continue
            image = decode_image(ID, record.value)
            if self.last is not None:
                self.check_step(self.last, image)
            self.last = image

    def check_step(self, before, after):
        is_fenced = after.state is S.PREPARE_ABORT and before.producer_epoch != after.producer_epoch
        check_move(ID, before.state, S.PREPARE_EPOCH_FENCE if is_fenced else after.state)
        if after.producer_id == before.producer_id:
            bump = after.producer_epoch - before.producer_epoch
            assert bump in ((0, 1) if is_fenced or after.state is S.EMPTY else (0,))
        else:
            assert (after.state, after.producer_epoch) == (S.EMPTY, 0)
            assert before.producer_epoch >= EPOCH_MAX - 1
        if after.state in PREPARED:
            assert after.partitions == before.partitions
            decision = after.state is S.PREPARE_COMMIT
            self.decisions.append((before.producer_id, before.producer_epoch, decision))

    def producer(self, number):
        return self.known[-1 - number % len(self.known)]

    @rule()
    def begin(self):
        self.inits[self.driver.ask_init()] = False
        self.collect()

    @rule(number=producers)
    def recover(self, number):
        self.inits[self.driver.ask_init(*self.producer(number))] = True
        self.collect()

    @rule(number=producers, partition=st.sampled_from([T0, T1]))
    def add(self, number, partition):
        self.driver.ask_add(*self.producer(number), partition)
        self.collect()

    @rule(number=producers, is_commit=st.booleans())
    def end(self, number, is_commit):
        producer = self.producer(number)
        self.ends[self.driver.ask_end(*producer, commit=is_commit)] = (is_commit, producer)
        self.collect()

    @rule()
    def add_commit_and_end(self):
        """The usual course, so that long histories come about."""
        self.driver.commit_writes()
        self.add(0, T0)
        self.driver.commit_writes()
        self.end(0, True)

    @precondition(lambda self: self.driver.pending or self.driver.late)
    @rule()
    def one_write_commits(self):
        self.driver.commit_one()
        self.collect()

    @rule()
    def writes_commit(self):
        self.driver.commit_writes()
        self.collect()

    @precondition(lambda self: self.driver.pending)
    @rule(error=refusals)
    def writes_fail(self, error):
        self.driver.fail_writes(error)
        self.collect()

    @rule()
    def markers_arrive(self):
        self.driver.write_markers()
        self.collect()

    @precondition(lambda self: self.driver.written)
    @rule()
    def old_markers_arrive_again(self):
        for markers in self.driver.written[-3:]:
            self.driver.take(self.driver.shard.markers_written(markers))
        self.collect()

    @rule(kept=st.integers(0, 3))
    def the_coordinator_crashes(self, kept):
        self.driver.reload(lose=kept)
        # Nobody answers those any more: what they asked for may be in the log or not.
        self.inits.clear()
        self.ends.clear()
        self.collect()

    @rule(ms=st.sampled_from([1, 600, 61_000, 600_000]))
    def time_passes(self, ms):
        self.driver.clock.advance(ms)
        self.driver.take(self.driver.shard.tick())
        self.driver.take(self.driver.shard.abort_timed_out())
        self.driver.take(self.driver.shard.expire())
        self.collect()

    @invariant()
    def markers_say_what_the_log_says(self):
        for markers in self.driver.sending:
            assert (self.last.producer_id, self.last.producer_epoch) == (
                markers.producer_id,
                markers.producer_epoch,
            )
            assert self.last.state in PREPARED
            assert markers.is_commit == (self.last.state is S.PREPARE_COMMIT)
            assert markers.partitions == self.last.partitions

    @invariant()
    def at_most_one_write_is_under_way(self):
        assert len(self.driver.pending) + len(self.driver.late) <= 1
        found = self.driver.shard.core.find(ID)
        is_pending = found is not None and found.pending is not None
        assert is_pending == bool(self.driver.pending or self.driver.late)

    @invariant()
    def what_is_decided_is_being_carried_out(self):
        """Nothing stays Prepared for ever: markers, a write or a retry is under way."""
        image = self.driver.image
        if image is not None and image.state in PREPARED:
            assert (
                self.driver.sending
                or self.driver.pending
                or self.driver.late
                or self.driver.shard.next_deadline_ms() is not None
            )

    @invariant()
    def the_log_says_the_same(self):
        image = self.driver.image
        assert (image is None) == (self.last is None)
        if image is not None:
            assert dataclasses.replace(
                image, last_producer_id=-1, last_producer_epoch=-1
            ) == dataclasses.replace(self.last, last_producer_id=-1)


TransactionLife.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestTransactionLife = TransactionLife.TestCase
