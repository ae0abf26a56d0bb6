"""One followed partition: its states, its truncations (KIP-101, KIP-279), its delays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.broker.replicas.follower_effects import carry_out
from dataplane.log.config import LogConfig
from dataplane.log.partition_log import PartitionLog
from dataplane.model.errors import ErrorCode
from dataplane.model.retry_warning import EXPECTED_MS_MAX
from dataplane.model.transitions import IllegalTransitionError
from dataplane.replication.effects import (
    AppendToLog,
    PartitionFailed,
    RaiseLogStart,
    Truncated,
    TruncateFully,
    TruncateTo,
    UpdateHighWatermark,
)
from dataplane.replication.partition_fetch_state import (
    DELAY_MIN_MS,
    EXPECTED_REFUSALS,
    TRANSITIONS,
    FetchEvent,
    FetchState,
    PartitionFetchState,
)
from dataplane.wire.messages.fetch import EpochEndOffset, PartitionData
from tests.dataplane.log.support import World, append, batch
from tests.dataplane.replication.follow_loop import BACKOFF_MAX_MS, Follower, follow

NOW_MS = 50_000


def state_of(
    log: PartitionLog | None = None, *, leader_epoch: int = 9, backoff_max_ms=BACKOFF_MAX_MS
):
    """A fetch state and the list of what it reports."""
    reports: list = []
    follower = Follower(log if log is not None else World().open(), leader_epoch)
    return PartitionFetchState(follower, backoff_max_ms=backoff_max_ms, reports=reports), reports


def take(state: PartitionFetchState, answer: PartitionData, now_ms: int = NOW_MS) -> int:
    """An answer and its effects, as the fetcher takes them; bytes appended."""
    effects = state.on_answer(answer, now_ms)
    if not effects:
        return 0
    size = carry_out(state.partition, effects)
    state.on_applied(now_ms)
    return size


def diverging(epoch: int, end_offset: int) -> PartitionData:
    return PartitionData(
        partition_index=0, diverging_epoch=EpochEndOffset(epoch=epoch, end_offset=end_offset)
    )


def refused(error: ErrorCode) -> PartitionData:
    return PartitionData(partition_index=0, error_code=error, high_watermark=-1)


def records(log: PartitionLog, epoch: int, *, high_watermark: int = 0) -> PartitionData:
    """Two records where the log ends."""
    data = bytearray(batch(2, base_offset=log.log_end_offset))
    data[12:16] = epoch.to_bytes(4, "big")
    return PartitionData(partition_index=0, high_watermark=high_watermark, records=memoryview(data))


def content(log: PartitionLog) -> bytes:
    out = b""
    at = log.log_start_offset
    while at < log.log_end_offset:
        data = log.read(at, 1, log.log_end_offset).read()
        out += data
        at += 2
    return out


def with_records(log: PartitionLog) -> list[tuple[int, int]]:
    """The epochs that hold records, with their start."""
    return [entry for entry in log.epoch_entries if entry[1] < log.log_end_offset]


def write(log: PartitionLog, epoch: int, batches: int, text: bytes) -> None:
    for _ in range(batches):
        append(log, 2, epoch=epoch, value=text)


WRITES = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), max_size=5)


@settings(max_examples=100, deadline=None)
@given(
    common=WRITES,
    on_leader=WRITES,
    on_follower=WRITES,
    led_without_records=st.booleans(),
    segment_bytes=st.integers(150, 900),
)
def test_histories_that_part_become_one(
    common, on_leader, on_follower, led_without_records, segment_bytes
):
    config = LogConfig(segment_bytes=segment_bytes, index_interval_bytes=100)
    leader, log = World(config).open(), World(config).open()
    for epoch, batches in sorted(common):
        write(leader, epoch * 3, batches, b"common")
        write(log, epoch * 3, batches, b"common")
    committed = leader.log_end_offset
    last = max((epoch * 3 for epoch, _ in common), default=-1)
    # One leader an epoch: neither history can have an epoch that the other wrote.
    for epoch, batches in sorted(on_leader):
        write(leader, last + 1 + epoch * 2, batches, b"leader")
    for epoch, batches in sorted(on_follower):
        write(log, last + 2 + epoch * 2, batches, b"follower")
    leader.assign_epoch_start(last + 100, leader.log_end_offset)
    if led_without_records:  # it led for a while and nobody wrote
        log.assign_epoch_start(last + 50, log.log_end_offset)
    log.update_high_watermark(committed)
    leader.update_high_watermark(leader.log_end_offset)
    follow(leader, log)
    assert content(log) == content(leader)
    assert log.log_end_offset == leader.log_end_offset
    assert log.high_watermark == leader.high_watermark
    # An epoch that holds no records may be known to one alone; the first record there replaces it.
    assert with_records(log) == with_records(leader)


def test_follower_before_the_leaders_start_starts_over_there():
    leader, log = World().open(), World().open()
    write(leader, 0, 5, b"x")
    leader.roll()
    write(leader, 1, 2, b"y")
    write(log, 0, 1, b"x")
    leader.update_high_watermark(14)
    leader.delete_records_before(10)
    leader.apply_retention(0)
    follow(leader, log)
    assert (log.log_start_offset, log.log_end_offset) == (10, 14)


def test_log_start_of_the_leader_is_followed():
    leader, log = World().open(), World().open()
    write(leader, 0, 5, b"x")
    follow(leader, log)
    leader.update_high_watermark(10)
    leader.delete_records_before(4)
    follow(leader, log)
    assert log.log_start_offset == 4


def test_the_watermark_is_the_leaders_but_within_our_own_log():
    """It is learned from answers, so one round later than the leader knows it."""
    log = World().open()
    write(log, 0, 3, b"x")
    state, _ = state_of(log)
    for sent, known in ((2, 2), (100, 6)):
        take(state, PartitionData(partition_index=0, high_watermark=sent))
        assert log.high_watermark == known
    assert state.lag == 94


@pytest.mark.parametrize(
    ("leaders", "target"),
    [
        ((4, 100), 6),  # both know the epoch: the shorter end of it, here ours
        ((4, 5), 5),  # … here the leader's
        ((3, 4), 4),  # an epoch that we do not know: the end of our largest one below it
        ((5, 7), 6),  # the same, where we have it
        ((0, 100), 0),  # an epoch before all of ours: where they begin
        ((9, 100), 1),  # an epoch beyond all of ours: the watermark is common by definition
    ],
)
def test_where_the_leader_says_that_histories_part(leaders, target):
    log = World().open()
    write(log, 2, 2, b"x")
    write(log, 4, 1, b"x")
    write(log, 6, 1, b"x")
    log.update_high_watermark(1)
    state, _ = state_of(log)
    assert state.on_answer(diverging(*leaders), NOW_MS) == (TruncateTo(target),)
    assert state.state is FetchState.TRUNCATING


def test_effects_come_in_the_order_in_which_they_have_to_be_carried_out():
    log = World().open()
    state, _ = state_of(log)
    answer = records(log, 1, high_watermark=2)
    answer.log_start_offset = 1
    effects = state.on_answer(answer, NOW_MS)
    assert [type(each) for each in effects] == [AppendToLog, UpdateHighWatermark, RaiseLogStart]
    assert carry_out(state.partition, effects) == len(answer.records)
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (1, 2, 2)


# -- states


def fetching():
    return state_of(with_batches(3))


def with_batches(count: int) -> PartitionLog:
    log = World().open()
    write(log, 0, count, b"x")
    return log


def out_of_range():
    state, reports = fetching()
    assert state.on_answer(refused(ErrorCode.OFFSET_OUT_OF_RANGE), NOW_MS) == ()
    return state, reports


def truncating():
    state, reports = fetching()
    carry_out(state.partition, state.on_answer(diverging(0, 4), NOW_MS))
    return state, reports


def failed():
    state, reports = fetching()
    state.on_failed("a reason", NOW_MS)
    return state, reports


IN_STATE = {
    FetchState.FETCHING: fetching,
    FetchState.OUT_OF_RANGE: out_of_range,
    FetchState.TRUNCATING: truncating,
    FetchState.FAILED: failed,
}
HAPPEN = {
    FetchEvent.ANSWERED: lambda state: state.on_answer(PartitionData(partition_index=0), NOW_MS),
    FetchEvent.DIVERGED: lambda state: state.on_answer(diverging(0, 4), NOW_MS),
    FetchEvent.OUT_OF_RANGE: lambda state: state.on_answer(
        refused(ErrorCode.OFFSET_OUT_OF_RANGE), NOW_MS
    ),
    FetchEvent.LEADER_BOUNDS: lambda state: state.on_leader_bounds(0, 4, NOW_MS),
    FetchEvent.APPLIED: lambda state: state.on_applied(NOW_MS),
    FetchEvent.FAILED: lambda state: state.on_failed("a reason", NOW_MS),
    FetchEvent.DELAY_OVER: lambda state: state.try_again(NOW_MS + BACKOFF_MAX_MS),
}


@pytest.mark.parametrize("before", FetchState)
@pytest.mark.parametrize("event", FetchEvent)
def test_every_event_in_every_state_goes_where_the_table_says_or_is_refused(before, event):
    state, _ = IN_STATE[before]()
    assert state.state is before
    after = TRANSITIONS.get((before, event))
    if after is None:
        with pytest.raises(IllegalTransitionError):
            HAPPEN[event](state)
        assert state.state is before
    else:
        HAPPEN[event](state)
        assert state.state is after


def test_every_state_is_left_again():
    """By some legal move, and from each of them there is a way back to fetching."""
    for before in FetchState:
        reached = {before}
        for _ in FetchState:
            reached |= {after for (at, _), after in TRANSITIONS.items() if at in reached}
        assert FetchState.FETCHING in reached


def test_bounds_that_our_log_lies_within_fail():
    state, reports = out_of_range()
    assert state.on_leader_bounds(0, 100, NOW_MS) == ()
    assert state.state is FetchState.FAILED
    (report,) = reports
    assert report.is_circle


@pytest.mark.parametrize(
    ("bounds", "effect"), [((0, 4), TruncateTo(4)), ((50, 100), TruncateFully(50))]
)
def test_bounds_that_our_log_lies_outside_of_truncate_it(bounds, effect):
    state, reports = out_of_range()
    effects = state.on_leader_bounds(*bounds, NOW_MS)
    assert effects == (effect,)
    carry_out(state.partition, effects)
    state.on_applied(NOW_MS)
    assert state.state is FetchState.FETCHING
    assert state.log.log_end_offset == effect.offset
    (report,) = reports
    assert isinstance(report, Truncated)
    assert (report.before[0], report.after[0]) == (6, effect.offset)


# -- circles


def test_histories_that_part_in_several_epochs_are_truncated_without_a_delay():
    """Each truncation reaches lower than the one before: that is progress."""
    log = World().open()
    for epoch in range(4):
        write(log, epoch, 1, b"x")
    state, reports = state_of(log)
    for end in (6, 4, 2):
        take(state, diverging(end // 2 - 1, end))
        assert log.log_end_offset == end
        assert state.state is FetchState.FETCHING
    assert all(isinstance(report, Truncated) for report in reports)
    take(state, diverging(0, 2))
    assert state.state is FetchState.FAILED
    assert reports[-1].is_circle
    assert state.try_again(NOW_MS + BACKOFF_MAX_MS) == 0
    assert take(state, records(log, 9)) > 0
    assert log.log_end_offset == 4


def test_appending_between_truncations_does_not_hide_a_circle():
    state, reports = state_of(with_batches(3))
    now_ms, delays_ms = NOW_MS, []
    for _ in range(8):
        while state.state is FetchState.FETCHING:
            before = state.log.log_end_offset
            take(state, diverging(0, 2) if before > 2 else records(state.log, 0), now_ms)
        left_ms = state.try_again(now_ms)
        assert left_ms
        delays_ms.append(left_ms)
        now_ms += left_ms
        assert state.try_again(now_ms) == 0
    assert delays_ms == sorted(delays_ms)
    assert delays_ms[-1] == BACKOFF_MAX_MS
    circles = [report for report in reports if isinstance(report, PartitionFailed)]
    assert [report.is_warning for report in circles] == [True] + [False] * 7


def test_records_without_a_whole_batch_lead_nowhere():
    """Else the leader would be asked for them without a pause."""
    state, reports = state_of()
    answer = records(state.log, 1, high_watermark=2)
    answer.records = answer.records[:-1]
    take(state, answer)
    assert state.state is FetchState.FAILED
    assert reports[0].is_circle
    assert not state.is_in_sync
    state.try_again(NOW_MS + BACKOFF_MAX_MS)
    take(state, PartitionData(partition_index=0, high_watermark=0))
    assert state.state is FetchState.FETCHING, "no records came, so none are missed"
    assert take(state, records(state.log, 1, high_watermark=2)) > 0
    assert state.is_in_sync


# -- delays


def fail_and_wait(state: PartitionFetchState, now_ms: int) -> int:
    """Fail, and wait out the delay, which is returned."""
    state.on_failed("a reason", now_ms)
    left_ms = state.try_again(now_ms)
    assert state.try_again(now_ms + left_ms - 1) == 1
    assert state.try_again(now_ms + left_ms) == 0
    return left_ms


def test_the_delay_grows_to_its_bound_and_is_warned_of_once():
    state, reports = state_of()
    delays_ms = [fail_and_wait(state, NOW_MS) for _ in range(12)]
    assert delays_ms[:3] == [DELAY_MIN_MS, 2 * DELAY_MIN_MS, 4 * DELAY_MIN_MS]
    assert delays_ms[-1] == BACKOFF_MAX_MS
    assert [report.is_warning for report in reports].count(True) == 1
    take(state, records(state.log, 1))
    assert fail_and_wait(state, NOW_MS) == DELAY_MIN_MS


def test_a_bound_below_the_least_delay_is_the_least_delay():
    state, _ = state_of(backoff_max_ms=0)
    assert [fail_and_wait(state, NOW_MS) for _ in range(3)] == [DELAY_MIN_MS] * 3


@pytest.mark.parametrize("error", sorted(EXPECTED_REFUSALS))
def test_a_refusal_is_asked_again_and_reported_by_its_own_name(error):
    """Fenced ones too: the leader may have heard of its end, or its beginning, first."""
    state, reports = state_of()
    assert state.on_answer(refused(error), NOW_MS) == ()
    assert state.state is FetchState.FAILED
    (report,) = reports
    assert (report.reason, report.is_warning, report.is_circle) == (error.name, False, False)
    assert state.try_again(NOW_MS + DELAY_MIN_MS) == 0


def test_a_good_answer_ends_the_count_of_expected_refusals():
    state, reports = state_of()

    def refuse(after_ms: int) -> bool:
        state.on_answer(refused(ErrorCode.NOT_LEADER_OR_FOLLOWER), NOW_MS + after_ms)
        state.try_again(NOW_MS + after_ms + BACKOFF_MAX_MS)
        return reports[-1].is_warning

    bound_ms = EXPECTED_MS_MAX
    at_ms = (0, bound_ms, bound_ms + 1, 2 * bound_ms)
    assert [refuse(each) for each in at_ms] == [False, False, True, False]
    take(state, records(state.log, 1))
    at_ms = (3 * bound_ms, 4 * bound_ms, 4 * bound_ms + 1)
    assert [refuse(each) for each in at_ms] == [False, False, True]


def test_what_nobody_expects_is_warned_of_when_the_longest_delay_is_reached():
    state, reports = state_of(backoff_max_ms=4 * DELAY_MIN_MS)
    for _ in range(4):
        take(state, refused(ErrorCode.UNKNOWN_SERVER_ERROR))
        state.try_again(NOW_MS + BACKOFF_MAX_MS)
    assert [report.is_warning for report in reports] == [False, True, False, False]


# -- in sync


def test_who_is_in_sync_is_known_by_answers_with_records():
    log = World().open()
    state, _ = state_of(log)
    assert not state.is_in_sync
    take(state, records(log, 1, high_watermark=4))
    assert not state.is_in_sync
    take(state, PartitionData(partition_index=0, high_watermark=2))
    assert not state.is_in_sync, "held back by the leader there are no records either"
    take(state, records(log, 1, high_watermark=4))
    assert state.is_in_sync
    take(state, PartitionData(partition_index=0, high_watermark=9))
    assert state.is_in_sync


def test_whom_the_controller_counts_in_the_isr_begins_in_sync():
    log = World().open()
    follower = Follower(log, is_in_isr=True)
    state = PartitionFetchState(follower, backoff_max_ms=BACKOFF_MAX_MS, reports=[])
    assert state.is_in_sync
    take(state, records(log, 1, high_watermark=4))
    assert not state.is_in_sync
