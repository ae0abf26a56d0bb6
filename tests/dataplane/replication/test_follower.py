"""Truncation by leader epochs (KIP-101, KIP-279): followers end with the leader's history."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.config import LogConfig
from dataplane.log.partition_log import PartitionLog
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.replication.effects import (
    AppendToLog,
    FetchLeaderBounds,
    RaiseLogStart,
    SendFetch,
    StopFollowing,
    TruncateFully,
    TruncateTo,
    UpdateHighWatermark,
)
from dataplane.replication.follower import FetchAnswer, FollowerCore
from tests.dataplane.log.support import World, append


def answer_of(leader: PartitionLog, ask: SendFetch) -> FetchAnswer:
    """What a leader's Fetch handler says (KIP-595's diverging epoch)."""
    bounds = {
        "asked_offset": ask.offset,
        "high_watermark": leader.high_watermark,
        "log_start_offset": leader.log_start_offset,
    }
    if ask.last_fetched_epoch >= 0:
        epoch, end = leader.end_offset_for_epoch(ask.last_fetched_epoch)
        if epoch < 0 or epoch < ask.last_fetched_epoch or end < ask.offset:
            return FetchAnswer(
                **bounds, diverging_epoch=max(epoch, 0), diverging_end_offset=max(end, 0)
            )
    try:
        data = leader.read(ask.offset, 300, leader.log_end_offset).read()
    except KafkaError as error:
        return FetchAnswer(asked_offset=ask.offset, error=error.code)
    return FetchAnswer(**bounds, records=memoryview(data))


def carry_out(log: PartitionLog, effect) -> None:
    match effect:
        case AppendToLog(records):
            log.append_as_follower(records)
        case TruncateTo(offset):
            log.truncate_to(offset)
        case TruncateFully(offset):
            log.truncate_fully_and_start_at(offset)
        case UpdateHighWatermark(offset):
            log.update_high_watermark(offset)
        case RaiseLogStart(offset):
            log.raise_log_start_offset(min(offset, log.log_end_offset))


def follow(leader: PartitionLog, log: PartitionLog, *, rounds: int = 200) -> None:
    core = FollowerCore(log, leader_epoch=9)
    effects = list(core.start())
    for _ in range(rounds):
        asks = [effect for effect in effects if isinstance(effect, SendFetch)]
        if asks:
            ask = asks[0]
            if ask.offset == leader.log_end_offset and answer_of(leader, ask).diverging_epoch < 0:
                for effect in core.on_fetch_response(answer_of(leader, ask)):
                    carry_out(log, effect)
                return
            effects = list(core.on_fetch_response(answer_of(leader, ask)))
            if any(isinstance(effect, FetchLeaderBounds) for effect in effects):
                continue
        elif any(isinstance(effect, FetchLeaderBounds) for effect in effects):
            effects = list(core.on_leader_bounds(leader.log_start_offset, leader.log_end_offset))
            if any(isinstance(effect, SendFetch) for effect in effects):
                continue
        for effect in effects:
            carry_out(log, effect)
        effects = list(core.on_applied())
    raise AssertionError("the follower does not arrive")


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
    led_in_vain=st.booleans(),
    segment_bytes=st.integers(150, 900),
)
def test_histories_that_part_become_one(common, on_leader, on_follower, led_in_vain, segment_bytes):
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
    if led_in_vain:  # it led for a while and nobody wrote
        log.assign_epoch_start(last + 50, log.log_end_offset)
    log.update_high_watermark(committed)
    leader.update_high_watermark(leader.log_end_offset)
    follow(leader, log)
    assert content(log) == content(leader)
    assert log.log_end_offset == leader.log_end_offset
    assert log.high_watermark == leader.high_watermark
    # An epoch that holds no records may be known to one alone; the first record there replaces it.
    assert with_records(log) == with_records(leader)


def test_follower_before_the_leaders_start_begins_anew_there():
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


def test_answer_to_a_question_of_the_past_is_ignored():
    log = World().open()
    write(log, 0, 3, b"x")
    core = FollowerCore(log, leader_epoch=2)
    core.start()
    log.truncate_to(2)
    assert core.on_fetch_response(FetchAnswer(asked_offset=6, records=memoryview(b"junk"))) == ()


def test_errors():
    log = World().open()
    core = FollowerCore(log, leader_epoch=2, backoff_ms=50)
    for error in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_LEADER_EPOCH):
        (effect,) = core.on_fetch_response(FetchAnswer(asked_offset=0, error=error))
        assert effect == SendFetch(0, -1, 2, 50)
    assert core.on_no_answer() == (SendFetch(0, -1, 2, 50),)
    fenced = FetchAnswer(asked_offset=0, error=ErrorCode.FENCED_LEADER_EPOCH)
    assert core.on_fetch_response(fenced) == (StopFollowing(ErrorCode.FENCED_LEADER_EPOCH),)
    assert core.on_applied() == core.on_no_answer() == core.on_fetch_response(fenced) == ()
    assert core.on_leader_epoch(1) == ()
    assert core.on_leader_epoch(3) == (SendFetch(0, -1, 3, 0),)


def test_the_watermark_is_the_leaders_but_within_our_own_log():
    """It is learned from answers, so one round later than the leader knows it."""
    log = World().open()
    write(log, 0, 3, b"x")
    core = FollowerCore(log, leader_epoch=2)
    for told, known in ((2, 2), (100, 6)):
        answer = FetchAnswer(asked_offset=6, high_watermark=told)
        for effect in core.on_fetch_response(answer):
            carry_out(log, effect)
        assert log.high_watermark == known


@pytest.mark.parametrize(
    ("told", "cut"),
    [
        ((4, 100), 6),  # both know the epoch: the shorter end of it, here ours
        ((4, 5), 5),  # … here the leader's
        ((3, 4), 4),  # an epoch that we do not know: the end of our largest one below it
        ((5, 7), 6),  # the same, where we have it
        ((0, 100), 0),  # an epoch before all of ours: where they begin
        ((9, 100), 1),  # an epoch beyond all of ours: the watermark is common by definition
    ],
)
def test_where_the_leader_says_that_histories_part(told, cut):
    log = World().open()
    write(log, 2, 2, b"x")
    write(log, 4, 1, b"x")
    write(log, 6, 1, b"x")
    log.update_high_watermark(1)
    core = FollowerCore(log, leader_epoch=9)
    epoch, end = told
    answer = FetchAnswer(asked_offset=8, diverging_epoch=epoch, diverging_end_offset=end)
    assert core.on_fetch_response(answer) == (TruncateTo(cut),)
