"""The loop of followers as production runs it, without sockets: `FetcherCore` and `carry_out`.

The leader keeps real logs and real fetch sessions; time is a number.
"""

from __future__ import annotations

import dataclasses
import uuid

from dataplane.broker.replicas.follower_effects import carry_out
from dataplane.log.partition_log import PartitionLog
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.replication.fetch_session_handler import FetchRequestData
from dataplane.replication.fetch_sessions import FetchManager
from dataplane.replication.fetcher import FetcherCore, FetchLeaderBounds, RetryLater, SendFetch
from dataplane.replication.quota import ReplicationQuota
from dataplane.wire.fetch_codec import FetchedPartition
from dataplane.wire.fetch_request import FetchedFrom, FetchParts
from dataplane.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)

TOPIC_ID = uuid.uuid5(uuid.NAMESPACE_DNS, "t")
VERSION = 17
BACKOFF_MAX_MS = 1_000
WAIT_MAX_MS = 500
STEPS_MAX = 2_000


@dataclasses.dataclass
class Follower:
    """What `carry_out` and the core need of a `Partition`."""

    log: PartitionLog
    leader_epoch: int = 9
    index: int = 0
    topic_id: uuid.UUID = TOPIC_ID
    is_in_isr: bool = False

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition("t", self.index)

    @property
    def key(self) -> tuple[uuid.UUID, int]:
        return self.topic_id, self.index

    def high_watermark_from_leader(self, offset: int) -> None:
        self.log.update_high_watermark(offset)


def core_of(
    *followers: Follower,
    carry_out=carry_out,
    backoff_max_ms=BACKOFF_MAX_MS,
    quota: ReplicationQuota | None = None,
):
    core: FetcherCore[Follower] = FetcherCore(
        carry_out=carry_out,
        quota=quota or ReplicationQuota(FakeClock(), samples=11, sample_ms=1_000),
        wait_max_ms=WAIT_MAX_MS,
        backoff_max_ms=backoff_max_ms,
    )
    for follower in followers:
        core.add(follower)
    return core


def respond(answers: list[PartitionData], *, session_id: int = 0, error: int = 0) -> FetchResponse:
    """With session 0 the leader declines sessions, so that every request names all."""
    topics = [FetchableTopicResponse(topic_id=TOPIC_ID, partitions=answers)] if answers else []
    return FetchResponse(error_code=error, session_id=session_id, responses=topics)


def is_idle(response: FetchResponse) -> bool:
    """Whether nothing in it is worth an answer before the deadline."""
    return not response.error_code and not any(
        each.records or each.error_code or each.diverging_epoch.epoch >= 0
        for topic in response.responses
        for each in topic.partitions
    )


class Leader:
    """Leads the partitions of `logs`, by index; sessions as a broker keeps them."""

    def __init__(self, logs: list[PartitionLog]) -> None:
        self.logs = logs
        self.refusals: dict[int, ErrorCode] = {}  # by index
        self.clock = FakeClock()
        self.sessions = FetchManager(slots=2, clock=self.clock, entropy=FakeEntropy())
        self.fetches = 0

    def answer(self, request: FetchRequestData) -> FetchResponse:
        self.fetches += 1
        asked = [
            (
                topic_id,
                [
                    FetchedFrom(
                        index,
                        a.offset,
                        300,
                        a.leader_epoch,
                        a.last_fetched_epoch,
                        a.log_start_offset,
                    )
                ],
            )
            for (topic_id, index), a in request.positions
        ]
        gone = [(topic_id, [index]) for topic_id, index in request.forgotten]
        place = request.session_id, request.epoch
        parts = FetchParts(2, -1, 0, 1, 1 << 20, 0, *place, asked, gone, "", None)
        try:
            fetched = self.sessions.open(parts, VERSION)
            answers = [
                (topic, [self._read(wanted) for wanted in partitions])
                for topic, partitions in fetched.asked
            ]
            session_id, news = fetched.settle(answers)
        except KafkaError as error:
            return respond([], error=error.code)
        return respond(
            [_data(each) for _topic, partitions in news for each in partitions],
            session_id=session_id,
        )

    def bounds(self, index: int) -> tuple[int, int]:
        return self.logs[index].log_start_offset, self.logs[index].log_end_offset

    def _read(self, wanted: FetchedFrom) -> FetchedPartition:
        """As the Fetch handler reads for replicas (KIP-595's diverging epoch)."""
        log = self.logs[wanted.partition]
        refusal = self.refusals.get(wanted.partition)
        if refusal is not None:
            return FetchedPartition(wanted.partition, refusal)
        diverging, records = None, None
        if wanted.last_fetched_epoch >= 0:
            epoch, end = log.end_offset_for_epoch(wanted.last_fetched_epoch)
            if epoch < 0 or end < 0:
                return FetchedPartition(wanted.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
            if epoch < wanted.last_fetched_epoch or end < wanted.fetch_offset:
                diverging = epoch, end
        if diverging is None:
            try:
                data = log.read(wanted.fetch_offset, wanted.max_bytes, log.log_end_offset).read()
            except KafkaError as error:
                return FetchedPartition(wanted.partition, error.code)
            records = data or None
        return FetchedPartition(
            wanted.partition,
            0,
            log.high_watermark,
            log_start_offset=log.log_start_offset,
            records=records,
            diverging_epoch=diverging,
        )


def _data(answer: FetchedPartition) -> PartitionData:
    data = PartitionData(
        partition_index=answer.partition,
        error_code=answer.error_code,
        high_watermark=answer.high_watermark,
        log_start_offset=answer.log_start_offset,
        records=None if answer.records is None else memoryview(answer.records),
    )
    if answer.diverging_epoch is not None:
        epoch, end_offset = answer.diverging_epoch
        data.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return data


@dataclasses.dataclass
class Loop:
    """The core and its leader; one request under way at a time."""

    core: FetcherCore[Follower]
    leader: Leader
    now_ms: int = 0

    def step(self, *, is_lost: bool = False) -> SendFetch | FetchLeaderBounds | RetryLater:
        """Take one step and hand its outcome to the core at once."""
        core = self.core
        step = core.next_step(self.now_ms)
        match step:
            case RetryLater(delay_ms):
                assert 0 < delay_ms <= BACKOFF_MAX_MS
                self.now_ms += delay_ms
            case FetchLeaderBounds(state):
                bounds = None if is_lost else self.leader.bounds(state.partition.index)
                core.on_leader_bounds(state, bounds, self.now_ms)
            case SendFetch(request, wait_ms):
                assert 0 < wait_ms <= WAIT_MAX_MS
                assert request is core.newest
                if is_lost:
                    core.on_lost(request, self.now_ms)
                    return step
                response = self.leader.answer(request)
                if request.may_wait and is_idle(response):
                    self.now_ms += wait_ms  # parked: a moved watermark alone ends no wait
                core.on_response(request, response, self.now_ms)
        return step

    def run_until(self, is_done) -> None:
        for _ in range(STEPS_MAX):
            if is_done():
                return
            self.step()
        raise AssertionError("the followers do not arrive")


def follow(leader: PartitionLog, log: PartitionLog) -> Loop:
    """Follow until the leader has nothing new to say."""
    loop = Loop(core_of(Follower(log)), Leader([leader]))
    quiet = 0
    for _ in range(STEPS_MAX):
        before = loop.now_ms
        step = loop.step()
        quiet = quiet + 1 if type(step) is SendFetch and loop.now_ms > before else 0
        if quiet == 2:
            return loop
    raise AssertionError("the follower does not arrive")


def asked(step) -> list:
    assert type(step) is SendFetch
    return [key for key, _ in step.request.positions]


def of(index: int, answer: PartitionData) -> PartitionData:
    answer.partition_index = index
    return answer
