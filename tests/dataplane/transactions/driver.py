"""Drives one shard as its host does: commits writes, writes markers, collects answers."""

from __future__ import annotations

from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.clock import FakeClock
from dataplane.transactions.markers import Markers
from dataplane.transactions.outcome import Outcome, Write
from dataplane.transactions.requests import (
    EndRequest,
    InitRequest,
    InitResult,
    PartitionsRequest,
)
from dataplane.transactions.settings import TransactionSettings
from dataplane.transactions.shard import TransactionShard

ID = "transfers"
T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


class Driver:
    """`hold_writes` keeps writes uncommitted until `commit_writes` or `fail_writes`.

    `hold_markers` keeps markers unwritten until `write_markers`.
    """

    def __init__(self, **settings) -> None:
        self.settings = TransactionSettings(**settings)
        self.clock = FakeClock()
        self.shard = TransactionShard(self.settings, self.clock)
        self.log = []
        self.answers = {}
        self.pending: list[Write] = []
        self.late: list[Write] = []
        self.sending: list[Markers] = []
        self.written: list[Markers] = []
        self.hold_writes = self.hold_markers = False
        self._ticket = 0
        self._next_producer_id = 1000

    def take(self, outcome: Outcome) -> None:
        for ticket, result in outcome.replies:
            self.answers.setdefault(ticket, result)
        self.pending += outcome.writes
        self.sending += outcome.markers
        if not self.hold_writes:
            self.commit_writes()
        if not self.hold_markers:
            self.write_markers()

    def commit_writes(self) -> None:
        """What was reported as timed out was appended first, and is committed first."""
        while self.late or self.pending:
            self.commit_one()

    def commit_one(self) -> None:
        write = self.late.pop(0) if self.late else self.pending.pop(0)
        for record in write.records:
            self.log.append(record)
            self.shard.replay(record)
        self.take(write.on_done(ErrorCode.NONE))

    def fail_writes(self, error: ErrorCode) -> None:
        failed, self.pending = self.pending, []
        if error is ErrorCode.REQUEST_TIMED_OUT:
            self.late += failed
        for write in failed:
            self.take(write.on_done(error))

    def write_markers(self) -> None:
        while self.sending:
            markers = self.sending.pop(0)
            self.written.append(markers)
            self.take(self.shard.markers_written(markers))

    def reload(self, *, lose: int = 0) -> None:
        """Another coordinator reads the log; of what was not committed, all is lost.

        `lose` is how many of the writes that waited got into the log nevertheless, less than all.
        """
        kept = (self.late + self.pending)[:lose]
        self.log += [record for write in kept for record in write.records]
        self.pending, self.late, self.sending = [], [], []
        self.shard = TransactionShard(self.settings, self.clock)
        for record in self.log:
            self.shard.replay(record)
        self.take(self.shard.finish_loading())

    def ticket(self) -> int:
        self._ticket += 1
        return self._ticket

    @property
    def image(self):
        found = self.shard.core.find(ID)
        return found.image if found is not None else None

    @property
    def state(self) -> str:
        return self.shard.describe(ID).state

    # requests: each returns its ticket

    def ask_init(self, producer_id=-1, epoch=-1, *, timeout_ms=60_000, id=ID) -> int:  # noqa: A002
        request = InitRequest(
            transactional_id=id,
            timeout_ms=timeout_ms,
            producer_id=producer_id,
            producer_epoch=epoch,
        )
        ticket = self.ticket()
        self.take(self.shard.initializing.init(request, ticket))
        answer = self.answers.get(ticket)
        if answer is None or not answer.needs_producer_id:
            return ticket
        request = InitRequest(
            transactional_id=id,
            timeout_ms=timeout_ms,
            producer_id=producer_id,
            producer_epoch=epoch,
            fresh_producer_id=self._next_producer_id,
        )
        self._next_producer_id += 1
        ticket = self.ticket()
        self.take(self.shard.initializing.init(request, ticket))
        return ticket

    def ask_add(self, producer_id, epoch, *partitions, id=ID) -> int:  # noqa: A002
        ticket = self.ticket()
        request = PartitionsRequest(
            transactional_id=id,
            producer_id=producer_id,
            producer_epoch=epoch,
            partitions=frozenset(partitions or (T0,)),
        )
        self.take(self.shard.adding.add(request, ticket))
        return ticket

    def ask_end(self, producer_id, epoch, *, commit=True, id=ID) -> int:  # noqa: A002
        ticket = self.ticket()
        request = EndRequest(
            transactional_id=id,
            producer_id=producer_id,
            producer_epoch=epoch,
            is_commit=commit,
        )
        self.take(self.shard.ending.end(request, ticket))
        return ticket

    # requests that are answered at once

    def init(self, *args, **kwargs) -> InitResult:
        return self.answers[self.ask_init(*args, **kwargs)]

    def add(self, *args, **kwargs) -> ErrorCode:
        return self.answers[self.ask_add(*args, **kwargs)]

    def end(self, *args, **kwargs) -> ErrorCode:
        return self.answers[self.ask_end(*args, **kwargs)]

    def verify(self, producer_id, epoch, *partitions):
        request = PartitionsRequest(
            transactional_id=ID,
            producer_id=producer_id,
            producer_epoch=epoch,
            partitions=frozenset(partitions),
        )
        return self.shard.adding.verify(request)

    def producer(self) -> tuple[int, int]:
        """A producer id and epoch, taken over by a producer that has just begun."""
        result = self.init()
        assert result.error is ErrorCode.NONE
        return result.producer_id, result.producer_epoch
