"""The fetcher's loop: next steps, what is left out, and that followers arrive whatever happens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.broker.replicas.follower_effects import carry_out
from dataplane.log.config import LogConfig
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.retry_warning import EXPECTED_MS_MAX
from dataplane.ports.fakes.clock import FakeClock
from dataplane.replication.effects import FetchFailed, PartitionFailed
from dataplane.replication.fetcher import (
    RETRY_MIN_MS,
    SWEEP_MS,
    FetchLeaderBounds,
    RetryLater,
    SendFetch,
)
from dataplane.replication.partition_fetch_state import DELAY_MIN_MS, FetchState
from dataplane.replication.quota import ReplicationQuota
from dataplane.wire.messages.fetch import PartitionData
from tests.dataplane.log.support import World, append, batch
from tests.dataplane.replication.follow_loop import (
    BACKOFF_MAX_MS,
    TOPIC_ID,
    WAIT_MAX_MS,
    Follower,
    Leader,
    Loop,
    core_of,
    respond,
)
from tests.dataplane.replication.test_partition_fetch_state import (
    content,
    diverging,
    records,
    refused,
    with_batches,
    with_records,
    write,
)

A, B = (TOPIC_ID, 0), (TOPIC_ID, 1)


def two(**keywords):
    """A core that follows two partitions, and their replicas."""
    followers = [Follower(with_batches(3), index=index) for index in (0, 1)]
    return core_of(*followers, **keywords), followers


def asked(step) -> list:
    assert type(step) is SendFetch
    return [key for key, _ in step.request.positions]


def of(index: int, answer: PartitionData) -> PartitionData:
    answer.partition_index = index
    return answer


# -- next steps


def test_nothing_to_follow_is_nothing_to_send():
    core = core_of()
    assert core.is_empty
    delays_ms = [core.next_step(0).delay_ms for _ in range(8)]
    assert delays_ms[:3] == [RETRY_MIN_MS, 2 * RETRY_MIN_MS, 4 * RETRY_MIN_MS]
    assert delays_ms[-1] == BACKOFF_MAX_MS


def test_wake_ends_a_growing_pause():
    core = core_of()
    assert not core.wake()
    core.next_step(0)
    assert core.wake()
    assert core.next_step(0) == RetryLater(RETRY_MIN_MS)


def test_an_unreachable_leader_is_asked_ever_more_rarely_and_warned_of_once():
    core, _ = two()
    now_ms, warnings = 0, []
    while now_ms < 2 * EXPECTED_MS_MAX:
        now_ms += core.on_unreachable("refused", now_ms).delay_ms
        (report,) = core.reports
        assert isinstance(report, FetchFailed)
        assert not report.is_refusal
        warnings.append(report.is_warning)
        core.reports.clear()
    assert warnings.count(True) == 1
    assert len(warnings) < 2 * EXPECTED_MS_MAX / BACKOFF_MAX_MS + 10
    step = core.next_step(now_ms)
    core.on_response(step.request, respond([]), now_ms)
    assert core.on_unreachable("refused", now_ms) == RetryLater(RETRY_MIN_MS)
    assert not core.reports[0].is_warning


@pytest.mark.parametrize(
    "fail",
    [
        lambda core, request: core.on_lost(request, 0),
        lambda core, request: core.on_unreadable(request),
        lambda core, request: core.on_response(
            request, respond([], error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND), 0
        ),
    ],
)
def test_a_fetch_that_fails_is_tried_again_later_and_in_full(fail):
    core, _ = two()
    full = core.next_step(0).request
    core.on_response(full, respond([], session_id=7), 0)
    step = core.next_step(0)
    assert asked(step) == []
    fail(core, step.request)
    assert core.next_step(0) == RetryLater(RETRY_MIN_MS)
    assert sorted(asked(core.next_step(0))) == [A, B]


def test_what_comes_of_an_overtaken_fetch_does_not_stop_the_chain():
    core, _ = two()
    core.on_response(core.next_step(0).request, respond([], session_id=7), 0)
    overtaken = core.next_step(0).request
    newest = core.next_step(0).request
    assert core.newest is newest
    core.on_response(overtaken, respond([], error=ErrorCode.INVALID_FETCH_SESSION_EPOCH), 0)
    assert core.reports == []
    core.on_lost(overtaken, 0)
    assert type(core.next_step(0)) is SendFetch


# -- one partition's answer


def test_an_answer_to_a_question_of_the_past_is_not_taken():
    core, (first, _) = two()
    request = core.next_step(0).request
    first.log.truncate_to(2)
    assert core.on_response(request, respond([of(0, records(first.log, 0))]), 0) == 0
    assert first.log.log_end_offset == 2
    assert sorted(asked(core.next_step(0))) == [A, B], "the leader will not say it again by itself"


def test_an_answer_for_a_partition_that_waits_out_a_delay_is_not_taken():
    """Of an overtaken fetch: as in Kafka, only what is ready for a fetch takes its answer."""
    core, (first, second) = two()
    core.on_response(core.next_step(0).request, respond([], session_id=7), 0)
    earlier, later = core.next_step(0).request, core.next_step(0).request
    core.on_response(earlier, respond([refused(ErrorCode.NOT_LEADER_OR_FOLLOWER)], session_id=7), 0)
    assert core.states[A].state is FetchState.FAILED
    answers = [of(0, records(first.log, 1)), of(1, records(second.log, 1))]
    core.on_response(later, respond(answers, session_id=7), 0)
    assert (first.log.log_end_offset, second.log.log_end_offset) == (6, 8)
    step = core.next_step(0)
    assert asked(step) == [B]
    core.on_response(step.request, respond([], session_id=8), DELAY_MIN_MS)
    assert asked(core.next_step(DELAY_MIN_MS)) == [A]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KafkaError(ErrorCode.CORRUPT_MESSAGE), "CORRUPT_MESSAGE"),
        (OSError("the disk is gone"), "the disk is gone"),
        (ZeroDivisionError("a bug"), "a bug"),
    ],
)
def test_a_log_that_refuses_fails_alone(error, reason):
    def refusing(partition, effects):
        if partition.index == 0:
            raise error
        return carry_out(partition, effects)

    core, (first, second) = two(carry_out=refusing)
    answers = [of(0, records(first.log, 1)), of(1, records(second.log, 1))]
    size = core.on_response(core.next_step(0).request, respond(answers), 0)
    assert size == len(answers[1].records)
    (report,) = core.reports
    assert isinstance(report, PartitionFailed)
    assert (report.reason, report.topic_partition.partition) == (reason, 0)
    assert report.cause is (None if isinstance(error, KafkaError) else error)
    assert core.failed_count == 1
    step = core.next_step(0)
    assert asked(step) == [B]
    assert step.wait_ms == DELAY_MIN_MS, "the leader has to answer when the delay is over"
    assert sorted(asked(core.next_step(DELAY_MIN_MS))) == [A, B]
    assert core.failed_count == 0


@pytest.mark.parametrize("is_circle", [False, True])
def test_what_came_with_an_answer_that_failed_is_sent_again(is_circle):
    """The leader has said its watermark, and would not say it again by itself."""
    fails = [] if is_circle else [OSError("the disk does not answer")]

    def refusing(partition, effects):
        if fails:
            raise fails.pop()
        return carry_out(partition, effects)

    follower = Follower(with_batches(3))
    core = core_of(follower, carry_out=refusing)
    core.on_response(core.next_step(0).request, respond([], session_id=7), 0)
    request = core.next_step(0).request
    answer = diverging(0, 6) if is_circle else records(follower.log, 1, high_watermark=4)
    core.on_response(request, respond([answer], session_id=7), 0)
    assert core.reports[-1].is_circle == is_circle
    assert isinstance(core.next_step(0), RetryLater), "there is nothing else to ask for"
    step = core.next_step(2 * DELAY_MIN_MS)
    assert asked(step) == [A]
    assert step.request.is_full


@pytest.mark.parametrize("is_followed_again", [False, True])
def test_a_log_may_take_its_partition_away_as_it_fails(is_followed_again):
    """Its log directory fails with it, and whatever lies there is not followed any more."""

    def failing(partition, effects):
        core.remove(partition.key)
        if is_followed_again:
            core.add(partition)
        raise OSError("the disk is gone")

    core, (first, _) = two(carry_out=failing)
    answer = of(0, records(first.log, 1))
    core.on_response(core.next_step(0).request, respond([answer]), 0)
    assert core.failed_count == 0
    assert sorted(asked(core.next_step(0))) == ([A, B] if is_followed_again else [B])


def test_a_log_that_refuses_to_be_truncated_fails():
    def refusing(partition, effects):
        raise OSError("the disk is gone")

    core, _ = two(carry_out=refusing)
    core.on_response(core.next_step(0).request, respond([diverging(0, 4)]), 0)
    assert core.states[A].state is FetchState.FAILED
    core.on_response(core.next_step(0).request, respond([]), DELAY_MIN_MS)
    core.next_step(DELAY_MIN_MS)
    assert core.states[A].state is FetchState.FETCHING


def test_after_a_truncation_the_leader_has_to_say_everything_again():
    core, (first, _) = two()
    core.on_response(core.next_step(0).request, respond([], session_id=7), 0)
    core.on_response(core.next_step(0).request, respond([diverging(0, 4)], session_id=7), 0)
    assert first.log.log_end_offset == 4
    assert sorted(asked(core.next_step(0))) == [A, B]


# -- out of range


def out_of_range(core):
    """Partition 0 is refused for its offset; the step that follows."""
    answer = refused(ErrorCode.OFFSET_OUT_OF_RANGE)
    core.on_response(core.next_step(0).request, respond([answer]), 0)
    step = core.next_step(0)
    assert isinstance(step, FetchLeaderBounds)
    assert step.state is core.states[A]
    return step


def test_bounds_are_asked_for_before_the_next_fetch():
    core, (first, _) = two()
    step = out_of_range(core)
    assert core.bounds_to_fetch() == step
    core.on_leader_bounds(step.state, (50, 60), 0)
    assert first.log.log_end_offset == 50
    assert dict(core.next_step(0).request.positions)[A].offset == 50


def test_a_leader_that_does_not_say_its_bounds_is_asked_again_later():
    core, _ = two()
    core.on_leader_bounds(out_of_range(core).state, None, 0)
    assert core.states[A].state is FetchState.FAILED
    assert not core.reports[0].is_warning
    assert asked(core.next_step(0)) == [B]


def test_a_log_that_refuses_what_the_bounds_demand_fails():
    def refusing(partition, effects):
        raise OSError("the disk is gone")

    core, _ = two(carry_out=refusing)
    core.on_leader_bounds(out_of_range(core).state, (50, 60), 0)
    assert core.states[A].state is FetchState.FAILED
    assert asked(core.next_step(0)) == [B]


@pytest.mark.parametrize("is_followed_again", [False, True])
def test_bounds_for_one_that_is_followed_no_more_change_nothing(is_followed_again):
    core, (first, _) = two()
    step = out_of_range(core)
    core.remove(A)
    if is_followed_again:
        core.add(first)
    core.on_leader_bounds(step.state, (50, 60), 0)
    assert first.log.log_end_offset == 6
    assert sorted(asked(core.next_step(0))) == ([A, B] if is_followed_again else [B])


def test_followed_in_a_new_epoch_nothing_of_the_old_one_is_waited_for():
    core, (first, second) = two()
    out_of_range(core)
    core.add(Follower(first.log, leader_epoch=10))
    core.states[B].on_failed("a reason", 0)
    core.add(Follower(second.log, leader_epoch=10, index=1))
    step = core.next_step(0)
    assert {each.leader_epoch for _, each in step.request.positions} == {10}
    assert core.failed_count == 0


# -- what is looked at


def test_a_log_start_that_moved_by_itself_is_named_within_the_sweep():
    core, (first, _) = two()
    core.on_response(core.next_step(0).request, respond([], session_id=7), 0)
    first.log.update_high_watermark(4)
    first.log.delete_records_before(2)
    assert asked(core.next_step(SWEEP_MS - 1)) == []
    assert asked(core.next_step(SWEEP_MS)) == [A]


def test_throttled_partitions_that_lag_are_left_out_while_the_quota_is_used_up():
    quota = ReplicationQuota(FakeClock(), samples=11, sample_ms=1_000)
    core, (first, _) = two(quota=quota)
    quota.throttle("t", frozenset({0}))
    quota.bound_bytes_per_s = 1
    answers = [of(0, records(first.log, 1, high_watermark=90))]
    size = core.on_response(core.next_step(0).request, respond(answers), 0)
    assert quota.bytes_total == size > 0
    assert asked(core.next_step(0)) == [B]
    quota.bound_bytes_per_s = 1 << 30
    assert sorted(asked(core.next_step(0))) == [A, B]


# -- whatever happens

WRITES = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3)), max_size=3)
PARTITIONS = st.lists(st.tuples(WRITES, WRITES, WRITES), min_size=1, max_size=3)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["step", "step", "step", "lose", "refuse", "allow", "disk", "write", "retain", "epoch"]
        ),
        st.integers(0, 2),
    ),
    max_size=60,
)
REFUSALS = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.OFFSET_OUT_OF_RANGE,
)


DAMAGED = memoryview(bytes(batch(2)[:-1]) + b"?")


class Cluster:
    """A leader and a follower of some partitions whose histories part, and a disk that may fail."""

    def __init__(self, histories) -> None:
        self.config = LogConfig(segment_bytes=300, index_interval_bytes=100)
        self.followers, logs, self.floors = [], [], []
        for index, (common, on_leader, on_follower) in enumerate(histories):
            leader, log = World(self.config).open(), World(self.config).open()
            for epoch, batches in sorted(common):
                write(leader, epoch * 3, batches, b"common")
                write(log, epoch * 3, batches, b"common")
            self.floors.append(leader.log_end_offset)
            last = max((epoch * 3 for epoch, _ in common), default=-1)
            for epoch, batches in sorted(on_leader):
                write(leader, last + 1 + epoch * 2, batches, b"leader")
            for epoch, batches in sorted(on_follower):
                write(log, last + 2 + epoch * 2, batches, b"follower")
            leader.assign_epoch_start(100, leader.log_end_offset)
            log.update_high_watermark(self.floors[-1])
            leader.update_high_watermark(leader.log_end_offset)
            logs.append(leader)
            self.followers.append(Follower(log, leader_epoch=100, index=index))
        self.fails_next: set[int] = set()
        self.failed_at_ms: dict = {}
        core = core_of(*self.followers, carry_out=self.carry_out)
        self.loop = Loop(core, Leader(logs))

    def carry_out(self, partition: Follower, effects) -> int:
        assert self.loop.core.states[partition.key].state in {
            FetchState.FETCHING,
            FetchState.TRUNCATING,
        }
        if partition.index in self.fails_next:
            self.fails_next.discard(partition.index)
            raise OSError("the disk does not answer")
        size = carry_out(partition, effects)
        floor = max(self.floors[partition.index], partition.log.log_start_offset)
        assert partition.log.log_end_offset >= floor, "a committed record is gone"
        return size

    def happen(self, event: str, which: int) -> None:
        index = which % len(self.followers)
        leader = self.loop.leader
        match event:
            case "step":
                self.step()
            case "lose":
                self.step(is_lost=True)
            case "refuse":
                leader.refusals[index] = REFUSALS[which]
            case "allow":
                leader.refusals.clear()
            case "disk":
                self.fails_next.add(index)
            case "write":
                append(leader.logs[index], 2, epoch=100)
                leader.logs[index].update_high_watermark(leader.logs[index].log_end_offset)
            case "retain":
                log = leader.logs[index]
                log.roll()
                log.delete_records_before(log.high_watermark)
                log.apply_retention(0)
            case "epoch":
                follower = self.followers[index]
                follower.leader_epoch += 1
                self.failed_at_ms.pop(follower.key, None)
                self.loop.core.add(follower)

    def step(self, *, is_lost: bool = False) -> None:
        loop, before_ms = self.loop, self.loop.now_ms
        step = loop.step(is_lost=is_lost)
        if type(step) is SendFetch:
            for key, _ in step.request.positions:
                since_ms = before_ms - self.failed_at_ms.pop(key, before_ms - DELAY_MIN_MS)
                assert since_ms >= DELAY_MIN_MS, "asked again before the delay was over"
        for report in loop.core.reports:
            if isinstance(report, PartitionFailed):
                self.failed_at_ms[TOPIC_ID, report.topic_partition.partition] = loop.now_ms
        loop.core.reports.clear()

    def is_settled(self) -> bool:
        return all(
            follower.log.log_end_offset == leader.log_end_offset
            and follower.log.high_watermark == leader.high_watermark
            and follower.log.log_start_offset == leader.log_start_offset
            for follower, leader in zip(self.followers, self.loop.leader.logs, strict=True)
        )


@settings(max_examples=150, deadline=None)
@given(histories=PARTITIONS, events=EVENTS)
def test_followers_end_with_the_leaders_history_whatever_happens(histories, events):
    cluster = Cluster(histories)
    for event, which in events:
        cluster.happen(event, which)
    cluster.loop.leader.refusals.clear()
    cluster.fails_next.clear()
    cluster.loop.run_until(cluster.is_settled)
    for follower, leader in zip(cluster.followers, cluster.loop.leader.logs, strict=True):
        assert content(follower.log) == content(leader)
        assert with_records(follower.log) == with_records(leader)


@settings(max_examples=100, deadline=None)
@given(
    histories=PARTITIONS,
    answers=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.one_of(
                st.builds(refused, st.sampled_from(sorted(ErrorCode))),
                st.builds(diverging, st.integers(0, 120), st.integers(-1, 40)),
                st.builds(
                    PartitionData,
                    partition_index=st.just(0),
                    high_watermark=st.integers(-1, 60),
                    log_start_offset=st.integers(-1, 60),
                    records=st.sampled_from([DAMAGED, DAMAGED[:40], DAMAGED[:5]]),
                ),
            ),
        ),
        max_size=30,
    ),
)
def test_an_answer_that_changes_nothing_is_followed_by_a_delay_whatever_it_is(histories, answers):
    """And no answer ends the loop."""
    cluster = Cluster(histories)
    loop = cluster.loop
    cluster.floors = [0] * len(cluster.followers)
    for index, answer in answers:
        step = loop.core.next_step(loop.now_ms)
        while type(step) is not SendFetch:
            if isinstance(step, FetchLeaderBounds):
                loop.core.on_leader_bounds(step.state, (70, 80), loop.now_ms)
            else:
                loop.now_ms += step.delay_ms
            step = loop.core.next_step(loop.now_ms)
        assert 0 < step.wait_ms <= WAIT_MAX_MS
        follower = cluster.followers[index % len(cluster.followers)]
        before = follower.log.log_end_offset, follower.log.latest_epoch
        loop.core.on_response(step.request, respond([of(follower.index, answer)]), loop.now_ms)
        state = loop.core.states[follower.key]
        after = follower.log.log_end_offset, follower.log.latest_epoch
        is_good = not (answer.error_code or answer.records or answer.diverging_epoch.epoch >= 0)
        if follower.key in asked(step) and not is_good:
            assert state.state is not FetchState.FETCHING or after != before
        for each in loop.core.states.values():
            assert each.state is not FetchState.TRUNCATING
