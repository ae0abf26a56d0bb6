"""The fetcher's loop: next steps, what becomes of answers, and what is left out."""

from __future__ import annotations

import pytest

from dataplane.broker.replicas.follower_effects import carry_out
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
from tests.dataplane.replication.follow_loop import (
    BACKOFF_MAX_MS,
    TOPIC_ID,
    Follower,
    asked,
    core_of,
    of,
    respond,
)
from tests.dataplane.replication.test_partition_fetch_state import (
    diverging,
    records,
    refused,
    with_batches,
)

A, B = (TOPIC_ID, 0), (TOPIC_ID, 1)


def two(**keywords):
    """A core that follows two partitions, and their replicas."""
    followers = [Follower(with_batches(3), index=index) for index in (0, 1)]
    return core_of(*followers, **keywords), followers


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


def test_who_is_in_the_isr_is_not_held_back_under_another_leader():
    """It would keep the new leader's acknowledgements waiting until the quota has room again."""
    quota = ReplicationQuota(FakeClock(), samples=11, sample_ms=1_000)
    core, (first, second) = two(quota=quota)
    quota.throttle("t", None)
    quota.bound_bytes_per_s = 1
    quota.record(1 << 20)
    core.add(Follower(first.log, leader_epoch=10, is_in_isr=True))
    core.add(Follower(second.log, leader_epoch=10, index=1))
    assert asked(core.next_step(0)) == [A]
    answers = [of(0, records(first.log, 1, high_watermark=90))]
    core.on_response(core.newest, respond(answers, session_id=7), 0)
    assert isinstance(core.next_step(0), RetryLater), "it fell behind, and waits as others do"


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
