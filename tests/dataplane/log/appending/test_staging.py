"""Batches staged in groups: as if each had been appended alone, whatever writes fail."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.config import LogConfig
from dataplane.log.partition_log import AppendInfo, PartitionLog
from dataplane.log.segment.log_segment import LogSegment
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.batch_layout import LOG_OVERHEAD_BYTES
from dataplane.wire.record_batch import iter_batches
from tests.dataplane.log.support import DIRECTORY, NOW_MS, World, batch, offsets_in, read_all


@dataclasses.dataclass(frozen=True)
class Step:
    """One batch; `skew` of the sequence: 0 fits, -1 is the last one again, others leave a gap.

    `ends` a group behind it; `fault` lets the next write of a segment fail from here on.
    """

    count: int
    value_bytes: int
    at_ms: int
    producer: int
    skew: int
    new_epoch: bool
    leader_epoch_up: bool
    ends: bool
    fault: bool


STEPS = st.lists(
    st.builds(
        Step,
        count=st.integers(1, 4),
        value_bytes=st.sampled_from((0, 10, 150)),
        at_ms=st.sampled_from((0, 1, 50, 5_000)),
        producer=st.sampled_from((-1, -1, 1, 1, 1, 2)),
        skew=st.sampled_from((0, 0, 0, 0, 0, 0, -1, 1)),
        new_epoch=st.sampled_from((False,) * 9 + (True,)),
        leader_epoch_up=st.sampled_from((False,) * 9 + (True,)),
        ends=st.sampled_from((False, False, False, True)),
        fault=st.sampled_from((False,) * 5 + (True,)),
    ),
    max_size=40,
)
CONFIGS = st.builds(
    LogConfig,
    segment_bytes=st.sampled_from((300, 900, 1 << 30)),
    index_interval_bytes=st.sampled_from((0, 100, 4096)),
    segment_ms=st.sampled_from((1_000, 1 << 40)),
    stamps_append_time=st.booleans(),
    flush_messages=st.sampled_from((3, 1 << 40)),
)

Result = AppendInfo | ErrorCode


class Writer:
    """Makes the batches of steps: it knows what each producer sends next."""

    def __init__(self) -> None:
        self.leader_epoch = 0
        self._next: dict[int, tuple[int, int]] = {}  # producer: epoch, sequence
        self._last: dict[int, tuple[int, int, int]] = {}  # and of its last batch, with the count
        self._number = itertools.count()

    def batch(self, step: Step) -> bytearray:
        value = b"%06d" % next(self._number) + b"x" * step.value_bytes
        identity = {}
        count = step.count
        if step.leader_epoch_up:
            self.leader_epoch += 1
        if step.producer >= 0:
            epoch, sequence = self._next.get(step.producer, (0, 0))
            if step.new_epoch:
                epoch, sequence = epoch + 1, 0
            if step.skew < 0 and step.producer in self._last:
                epoch, sequence, count = self._last[step.producer]
            elif step.skew > 0:
                sequence += 7
            else:
                self._next[step.producer] = (epoch, sequence + count)
                self._last[step.producer] = (epoch, sequence, count)
            identity = {
                "producer_id": step.producer,
                "producer_epoch": epoch,
                "base_sequence": sequence,
            }
        return batch(count, at_ms=NOW_MS + step.at_ms, value=value, **identity)


def opened(config: LogConfig) -> tuple[World, PartitionLog]:
    world = World(config)
    log = world.open()
    log.assign_epoch_start(0, 0)
    return world, log


def result_of(work) -> Result:
    try:
        return work()
    except KafkaError as error:
        return error.code


def producers_of(log: PartitionLog) -> dict[int, object]:
    return {number: dataclasses.asdict(each) for number, each in log.producers.entries.items()}


def answers_of(log: PartitionLog) -> dict[str, object]:
    """What is answered to whoever asks: where each read begins and ends, and the rest."""
    end = log.log_end_offset
    reads = [
        (found.base_offset, found.position, found.size)
        for offset in range(log.log_start_offset, end)
        for bound in (offset + 1, end)
        for found in (log.read(offset, 500, bound),)
    ]
    return {
        "end": end,
        "bases": log.segment_base_offsets,
        "size": log.size_bytes,
        "reads": reads,
        "times": [log.offset_for_timestamp(NOW_MS + at_ms) for at_ms in (0, 1, 50, 5_000)],
        "latest": log.max_timestamp_offset(),
        "producers": producers_of(log),
        "epochs": log.epoch_entries,
    }


def files_of(world: World) -> dict[str, bytes]:
    return {path: bytes(world.fs.content(path)) for path in world.fs.paths()}


@settings(max_examples=200, deadline=None)
@given(config=CONFIGS, steps=STEPS)
def test_groups_leave_what_single_appends_leave(config: LogConfig, steps: list[Step]) -> None:
    (one_world, one), (world, log) = opened(config), opened(config)
    one_writer, writer = Writer(), Writer()
    for step in steps:
        data = one_writer.batch(step)
        epoch = one_writer.leader_epoch
        wanted = result_of(lambda d=data, e=epoch: one.append_as_leader(d, e, now_ms=NOW_MS))
        data = writer.batch(step)
        found = result_of(lambda d=data, e=epoch: log.leader_appends.stage(d, e, now_ms=NOW_MS))
        assert found == wanted
        if step.ends:
            log.leader_appends.commit()
            assert answers_of(log) == answers_of(one)
    log.leader_appends.commit()
    assert answers_of(log) == answers_of(one)
    for each in (one, log):
        each.close()
    assert files_of(world) == files_of(one_world)


def batches_in(log: PartitionLog) -> dict[int, bytes]:
    """Every batch by its base offset, read as a replica would."""
    found: dict[int, bytes] = {}
    at = log.log_start_offset
    while data := log.read(at, 1 << 20, log.log_end_offset).read():
        for position, head in iter_batches(data):
            found[head.base_offset] = data[
                position : position + head.batch_length + LOG_OVERHEAD_BYTES
            ]
        at = offsets_in(data)[-1] + 1
    return found


def indexes_are_true(world: World, bases: list[int]) -> None:
    """Of the segments as a closed log has left them: every entry names a batch that is there."""
    for base in bases:
        segment = LogSegment(world.fs, DIRECTORY, base, created_ms=0, index_interval_bytes=0)
        last_offsets = {head.position: head.last_offset for head in segment.heads_from(0)}
        for last_offset in last_offsets.values():
            offset, position = segment.offset_index.floor(last_offset)
            assert not position or last_offsets[position] == offset <= last_offset


@settings(max_examples=300, deadline=None)
@given(config=CONFIGS, steps=STEPS)
def test_failed_writes_leave_what_was_answered(config: LogConfig, steps: list[Step]) -> None:
    """A full disk: what is answered as appended is there, and nothing else leaves a trace."""
    world, log = opened(config)
    _, replay = opened(config)
    writer = Writer()
    group: list[tuple[bytes, AppendInfo]] = []
    refused = False  # by the disk, in this group

    def commit() -> None:
        nonlocal refused
        failure = result_of(log.leader_appends.commit)
        assert failure in {None, ErrorCode.KAFKA_STORAGE_ERROR}
        kept = [(data, info) for data, info in group if info.last_offset < log.log_end_offset]
        assert kept == group[: len(kept)], "what follows a lost batch is lost too"
        assert failure is not None or kept == group
        for data, info in kept:
            again = replay.append_as_leader(bytearray(data), 0, now_ms=NOW_MS)
            assert (again.base_offset, again.duplicate) == (info.base_offset, info.duplicate)
        assert log.log_end_offset == replay.log_end_offset
        assert producers_of(log) == producers_of(replay)
        group.clear()
        refused = False

    for step in steps:
        if step.fault:
            world.fs.fail("append", ".log", number=errno.ENOSPC)
        data = writer.batch(dataclasses.replace(step, leader_epoch_up=False))
        sent = bytes(data)
        found = result_of(lambda d=data: log.leader_appends.stage(d, 0, now_ms=NOW_MS))
        if isinstance(found, AppendInfo):
            assert not refused, "behind a failed write nothing is taken until the commit"
            group.append((sent, found))
        elif found == ErrorCode.KAFKA_STORAGE_ERROR:
            refused = True
        if step.ends:
            commit()
    commit()
    world.fs.heal()
    assert batches_in(log) == batches_in(replay)
    if len(log.segment_base_offsets) == len(replay.segment_base_offsets) == 1:
        assert answers_of(log) == answers_of(replay)
    # And it goes on, here and after a restart.
    for each in (log, replay):
        each.append_as_leader(batch(2), 0, now_ms=NOW_MS)
    assert batches_in(log) == batches_in(replay)
    end = log.log_end_offset
    log.close()
    indexes_are_true(world, log.segment_base_offsets)
    log = world.open(recovery_point=0)
    assert log.log_end_offset == end
    assert batches_in(log) == batches_in(replay)
    assert {n: each.next_sequence for n, each in log.producers.entries.items()} == {
        n: each.next_sequence for n, each in replay.producers.entries.items()
    }


IDEMPOTENT = {"producer_id": 7, "producer_epoch": 0}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_producers_first_batch_may_fail_as_often_as_it_likes(number: int) -> None:
    """It is written while it is staged: its refusal may not outlast it."""
    world, log = opened(LogConfig())
    for _ in range(3):
        world.fs.fail("append", ".log", number=number)
        first = batch(base_sequence=0, **IDEMPOTENT)
        with pytest.raises(KafkaError) as caught:
            log.append_as_leader(first, 0, now_ms=NOW_MS)
        assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    first = batch(base_sequence=0, **IDEMPOTENT)
    info = log.append_as_leader(first, 0, now_ms=NOW_MS)
    assert (info.base_offset, info.duplicate) == (0, False)
    assert read_all(log) == [0]


def test_what_is_staged_is_refused_also_when_giving_up_the_directory_fails() -> None:
    """As in a process that is being killed: the error of the write is not the last one."""

    def give_up(_directory: str, error: OSError) -> None:
        raise error

    world = World(LogConfig())
    log = world.open(on_storage_error=give_up)
    log.append_as_leader(batch(), 0, now_ms=NOW_MS)
    staged = log.leader_appends.stage(batch(), 0, now_ms=NOW_MS)
    world.fs.fail("append", ".log", number=errno.EIO)
    with pytest.raises(OSError):
        log.leader_appends.stage(batch(base_sequence=0, **IDEMPOTENT), 0, now_ms=NOW_MS)
    with pytest.raises(KafkaError) as caught:
        log.leader_appends.commit()
    assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert staged.last_offset >= log.log_end_offset == 1


def test_the_same_batch_twice_in_a_group_is_there_once() -> None:
    _, log = opened(LogConfig())
    log.append_as_leader(batch(2, base_sequence=0, **IDEMPOTENT), 0, now_ms=NOW_MS)
    infos = [
        log.leader_appends.stage(batch(2, base_sequence=sequence, **IDEMPOTENT), 0, now_ms=NOW_MS)
        for sequence in (2, 4, 2, 4, 6)
    ]
    log.leader_appends.commit()
    assert [info.base_offset for info in infos] == [2, 4, 2, 4, 6]
    assert [info.duplicate for info in infos] == [False, False, True, True, False]
    assert read_all(log) == list(range(8))


def test_a_group_goes_on_where_a_gap_was_refused() -> None:
    _, log = opened(LogConfig())
    log.append_as_leader(batch(base_sequence=0, **IDEMPOTENT), 0, now_ms=NOW_MS)
    results = [
        result_of(
            lambda s=s: log.leader_appends.stage(
                batch(base_sequence=s, **IDEMPOTENT), 0, now_ms=NOW_MS
            )
        )
        for s in (1, 5, 2)
    ]
    log.leader_appends.commit()
    assert results[1] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert [results[0].base_offset, results[2].base_offset] == [1, 2]
    assert read_all(log) == [0, 1, 2]


def test_a_failed_write_leaves_no_epoch_behind_the_end() -> None:
    world, log = opened(LogConfig())
    log.leader_appends.stage(batch(5), 0, now_ms=NOW_MS)
    world.fs.fail("append", ".log", number=errno.ENOSPC)
    with pytest.raises(KafkaError):
        log.leader_appends.stage(batch(), 1, now_ms=NOW_MS)
    with pytest.raises(KafkaError):
        log.leader_appends.commit()
    assert log.epoch_entries == ((0, 0),)
    log.append_as_leader(batch(), 1, now_ms=NOW_MS)
    assert log.epoch_entries == ((1, 0),)


def test_a_log_whose_directory_failed_meanwhile_writes_nothing() -> None:
    world, log = opened(LogConfig())
    before = files_of(world)
    log.leader_appends.stage(batch(), 0, now_ms=NOW_MS)
    log.fail(OSError(errno.EIO, "another log found out"))
    for _ in range(2):
        with contextlib.suppress(KafkaError):
            log.leader_appends.commit()
        assert log.log_end_offset == 0
        assert files_of(world) == before


def test_a_write_that_cannot_be_taken_back_ends_the_log() -> None:
    world, log = opened(LogConfig(index_interval_bytes=0))
    log.append_as_leader(batch(), 0, now_ms=NOW_MS)
    log.leader_appends.stage(batch(), 0, now_ms=NOW_MS)
    world.fs.fail("append", ".log", number=errno.ENOSPC)
    world.fs.fail("truncate", ".log", number=errno.EIO)
    assert result_of(log.leader_appends.commit) == ErrorCode.KAFKA_STORAGE_ERROR
    assert log.log_end_offset == 1
    refused = result_of(lambda: log.leader_appends.stage(batch(), 0, now_ms=NOW_MS))
    assert refused == ErrorCode.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize("fails", [False, True])
def test_the_callers_memory_is_free_after_a_commit(fails: bool) -> None:
    world, log = opened(LogConfig())
    log.append_as_leader(batch(base_sequence=0, **IDEMPOTENT), 0, now_ms=NOW_MS)
    received = bytearray(batch()) + batch(base_sequence=1, **IDEMPOTENT) + batch()
    size = len(batch())
    with memoryview(received) as whole:
        for place in range(3):
            with memoryview(whole[place * size : (place + 1) * size]) as part:
                log.leader_appends.stage(
                    part.toreadonly() if place == 2 else part[:], 0, now_ms=NOW_MS
                )
    if fails:
        world.fs.fail("append", ".log", number=errno.ENOSPC)
    result_of(log.leader_appends.commit)
    received.extend(b"more")  # BufferError while anything looks at it


def test_nothing_else_is_asked_of_a_log_with_staged_batches() -> None:
    _, log = opened(LogConfig())
    log.append_as_leader(batch(3), 0, now_ms=NOW_MS)
    log.leader_appends.stage(batch(), 0, now_ms=NOW_MS)
    for work in (
        lambda: log.truncate_to(1),
        lambda: log.append_as_follower(batch(base_offset=3)),
        lambda: log.apply_retention(NOW_MS),
    ):
        with pytest.raises(RuntimeError):
            work()
    log.leader_appends.commit()
    assert read_all(log) == [0, 1, 2, 3]


def test_a_group_exceeds_an_index_by_its_own_entries_at_most() -> None:
    world, log = opened(LogConfig(index_interval_bytes=0, segment_index_bytes=48))
    for _ in range(4):
        for _ in range(10):
            log.leader_appends.stage(batch(), 0, now_ms=NOW_MS)
        log.leader_appends.commit()
    assert read_all(log) == list(range(40))
    log.close()
    indexes = [path for path in world.fs.paths() if path.endswith(".index")]
    assert all(len(world.fs.content(path)) <= 48 + 10 * 8 for path in indexes)
    assert len(indexes) == len(log.segment_base_offsets) > 1


@pytest.mark.parametrize("staged_before", [0, 2])
@pytest.mark.parametrize("knows", [False, True])
def test_a_batch_that_is_written_and_cannot_be_synced_is_known(
    knows: bool, staged_before: int
) -> None:
    """Sent again after the error it is a duplicate: it is in the log."""
    world, log = opened(LogConfig(flush_messages=staged_before + 2))
    sequence = 0
    if knows:
        log.append_as_leader(batch(base_sequence=0, **IDEMPOTENT), 0, now_ms=NOW_MS)
        sequence = 1
    for _ in range(staged_before):
        log.leader_appends.stage(batch(), 0, now_ms=NOW_MS)
    data = batch(2, base_sequence=sequence, **IDEMPOTENT)
    again = bytes(data)
    for _ in range(2):  # an epoch that could not be written: the flush has to write the checkpoint
        world.fs.fail("open", "checkpoint", number=errno.ENOSPC)
    with pytest.raises(OSError):
        log.assign_epoch_start(1, log.log_end_offset)
    info = result_of(lambda: log.leader_appends.stage(data, 0, now_ms=NOW_MS))
    assert isinstance(info, AppendInfo)
    assert result_of(log.leader_appends.commit) == ErrorCode.KAFKA_STORAGE_ERROR
    assert log.log_end_offset == info.last_offset + 1
    repeated = log.append_as_leader(again, 0, now_ms=NOW_MS)
    assert (repeated.base_offset, repeated.duplicate) == (info.base_offset, True)
