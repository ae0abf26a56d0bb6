"""Files, rolling, indexes, lookups by time, retention, flushing (kafka.md §2.1)."""

from __future__ import annotations

import errno
import pathlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.config import LogConfig
from dataplane.log.opening import LogEnvironment
from dataplane.log.partition_log import PartitionLog
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.clock import FakeClock
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.wire.compression import Compression
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.dataplane.log.support import DIRECTORY, NOW_MS, World, append, batch, read_all

DAY_MS = 24 * 3600 * 1000


def names(world: World) -> list[str]:
    return [p.removeprefix(DIRECTORY + "/") for p in world.fs.paths() if p.startswith(DIRECTORY)]


def test_files_are_named_by_their_base_offset():
    world = World(LogConfig(segment_bytes=100))
    log = world.open()
    append(log, 3)
    append(log, 3)
    log.close()
    assert set(names(world)) == {
        *(f"{base:020d}{s}" for base in (0, 3) for s in (".log", ".index", ".timeindex")),
        f"{3:020d}.snapshot",
        f"{6:020d}.snapshot",
        "leader-epoch-checkpoint",
    }
    assert bytes(world.fs.content(f"{DIRECTORY}/leader-epoch-checkpoint")) == b"0\n1\n0 0\n"


def test_index_entries_are_byte_for_byte_kafkas():
    world = World(LogConfig(index_interval_bytes=150))
    log = world.open()
    size = len(batch(2))
    for number in range(7):
        append(log, 2, at_ms=NOW_MS + number * 10)
    log.close()
    every = 150 // size + 1  # an entry when more than the interval lies behind the last one
    indexed = [n for n in range(1, 7) if n % every == 0]
    raw = bytes(world.fs.content(f"{DIRECTORY}/{0:020d}.index"))
    assert list(struct.iter_unpack(">ii", raw)) == [(n * 2 + 1, n * size) for n in indexed]
    raw = bytes(world.fs.content(f"{DIRECTORY}/{0:020d}.timeindex"))
    assert list(struct.iter_unpack(">qi", raw)) == [
        (NOW_MS + n * 10 + 1, n * 2 + 1) for n in indexed
    ]


def test_time_index_of_a_rolled_segment_ends_with_its_largest_timestamp():
    world = World()
    log = world.open()
    append(log, 2, at_ms=NOW_MS)
    append(log, 2, at_ms=NOW_MS - 500)
    log.roll()
    raw = bytes(world.fs.content(f"{DIRECTORY}/{0:020d}.timeindex"))
    assert raw == struct.pack(">qi", NOW_MS + 1, 1)


# --- rolling ---


def test_roll_by_size():
    size = len(batch())
    log = World(LogConfig(segment_bytes=2 * size)).open()
    for _ in range(5):
        append(log)
    assert log.segment_base_offsets == [0, 2, 4]


def test_roll_by_time_compares_record_times_not_the_clock():
    world = World(LogConfig(segment_ms=1000))
    log = world.open()
    append(log, at_ms=NOW_MS)
    world.clock.advance(10 * DAY_MS)
    append(log, at_ms=NOW_MS + 1000)
    assert log.segment_base_offsets == [0]
    append(log, at_ms=NOW_MS + 1001)
    assert log.segment_base_offsets == [0, 2]


def test_roll_by_time_without_timestamps_goes_by_the_segments_age():
    world = World(LogConfig(segment_ms=1000))
    log = world.open()
    for age_ms, bases in ((0, [0]), (1000, [0]), (1001, [0, 2])):
        now_ms = world.clock.realtime_ms() + age_ms
        log.append_as_leader(batch(at_ms=-1), 0, now_ms=now_ms)
        assert log.segment_base_offsets == bases


def test_roll_by_time_comes_earlier_by_a_jitter_that_differs_between_partitions():
    def waited_ms(directory: str) -> int:
        world = World(LogConfig(segment_ms=10_000, segment_jitter_ms=5_000))
        world.fs.make_dirs(directory)
        log = PartitionLog(
            LogEnvironment(world.fs, world.clock, world.background),
            TopicPartition("topic", 0),
            directory,
            world.config,
        )
        append(log, at_ms=NOW_MS)
        for waited in range(10_002):
            append(log, at_ms=NOW_MS + waited)
            if len(log.segment_base_offsets) > 1:
                return waited
        raise AssertionError("it never rolled")

    waits = {waited_ms(f"/data/topic-{number}") for number in range(4)}
    assert len(waits) > 1
    assert all(5_000 < waited <= 10_001 for waited in waits)


def test_roll_when_an_index_is_full():
    log = World(LogConfig(index_interval_bytes=0, segment_index_bytes=36)).open()
    for number in range(9):
        append(log, at_ms=NOW_MS + number)
    assert log.segment_base_offsets[:3] == [0, 3, 6]


def test_roll_when_the_relative_offset_leaves_int32():
    log = World(LogConfig(compacts=True)).open()
    log.append_as_follower(batch(base_offset=0))
    log.append_as_follower(batch(base_offset=2**31 - 1))
    assert log.segment_base_offsets == [0]
    log.append_as_follower(batch(base_offset=2**31))
    assert log.segment_base_offsets == [0, 2**31 - 1 + 1]


def test_roll_of_an_empty_segment_does_nothing():
    log = World().open()
    log.roll()
    append(log)
    log.roll()
    log.roll()
    assert log.segment_base_offsets == [0, 1]


def test_settings_changed_later_hold_from_the_next_append():
    log = World().open()
    append(log)
    log.update_config(LogConfig(segment_bytes=10))
    append(log)
    assert log.segment_base_offsets == [0, 1]


# --- reading ---


def test_first_batch_comes_whole_even_if_it_is_larger_than_asked():
    for interval in (0, 1 << 20):
        log = World(LogConfig(index_interval_bytes=interval)).open()
        for _ in range(400):
            append(log, 2)
        size = len(batch(2))
        for start in (0, 1, 401, 798):
            assert log.read(start, 1, 800).size == size
            assert log.read(start, 1, 800, min_one_batch=False).size == 0
            assert log.read(start, size * 2 - 1, 800).size == size


def test_read_stops_at_the_bound_and_refuses_what_is_outside_the_log():
    log = World().open()
    for _ in range(10):
        append(log, 2)
    log.update_high_watermark(20)
    log.delete_records_before(4)
    assert log.read(4, 1 << 20, 10).size == 3 * len(batch(2))
    assert log.read(10, 1 << 20, 10).size == 0
    assert log.read(20, 1 << 20, 20).size == 0
    for offset in (-1, 3, 21):
        with pytest.raises(KafkaError) as caught:
            log.read(offset, 1, 20)
        assert caught.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 900), min_size=1, max_size=400),
    interval=st.sampled_from([0, 200, 4096]),
    max_bytes=st.integers(1, 20_000),
)
def test_sequential_reader_sees_every_record_once(sizes, interval, max_bytes):
    log = World(LogConfig(index_interval_bytes=interval, segment_bytes=30_000)).open()
    for size in sizes:
        append(log, 1, value=b"z" * size)
    assert read_all(log, max_bytes=max_bytes) == list(range(len(sizes)))


# --- by time ---


@settings(max_examples=60, deadline=None)
@given(
    times=st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=3), min_size=1, max_size=30),
    target=st.integers(-1, 52),
    segment_bytes=st.integers(100, 1000),
    interval=st.integers(0, 300),
    start=st.integers(0, 5),
    compression=st.sampled_from([Compression.NONE, Compression.ZSTD]),
)
def test_lookup_by_time_equals_a_scan(  # noqa: PLR0917  # one argument a dimension of the input
    times, target, segment_bytes, interval, start, compression
):
    world = World(LogConfig(segment_bytes=segment_bytes, index_interval_bytes=interval))
    log = world.open()
    flat: list[int] = []
    for group in times:
        flat += group
        data = build_batch([NewRecord(b"k", b"v", (), t) for t in group], compression=compression)
        log.append_as_leader(data, 3, now_ms=NOW_MS)
    log.update_high_watermark(len(flat))
    start = min(start, len(flat))
    log.delete_records_before(start)
    for _ in range(2):
        found = log.offset_for_timestamp(target)
        expected = next((o for o, t in enumerate(flat) if t >= target and o >= start), None)
        assert (found.offset if found else None) == expected
        if found:
            assert found.timestamp_ms == flat[found.offset]
            assert found.leader_epoch == 3
        newest = log.max_timestamp_offset()
        assert newest.timestamp_ms == max(flat)
        if flat.index(max(flat)) >= start:
            assert newest.offset == flat.index(max(flat))
        log.close()
        log = world.open(is_clean=True, log_start_offset=start)


def test_largest_timestamp_of_an_empty_log_is_none():
    assert World().open().max_timestamp_offset() is None
    assert World().open().offset_for_timestamp(0) is None


# --- retention ---


def three_segments(config: LogConfig):
    world = World(config)
    log = world.open()
    for number in range(3):
        append(log, 2, at_ms=NOW_MS + number * 1000)
        if number < 2:
            log.roll()
    log.update_high_watermark(log.log_end_offset)
    return world, log


def test_retention_by_time_goes_by_the_newest_record():
    world, log = three_segments(LogConfig(retention_ms=5000))
    assert log.apply_retention(NOW_MS + 5001) == 0
    assert log.apply_retention(NOW_MS + 5002) == 1
    assert log.log_start_offset == 2
    assert log.epoch_entries == ((0, 2),)
    assert f"{0:020d}.log.deleted" in names(world)
    world.clock.advance(59_999)
    log.tick()
    assert f"{0:020d}.log.deleted" in names(world)
    world.clock.advance(1)
    log.tick()
    assert not [n for n in names(world) if "deleted" in n]


def test_retention_may_take_the_active_segment_after_rolling_it():
    _, log = three_segments(LogConfig(retention_ms=5000))
    assert log.apply_retention(NOW_MS + DAY_MS) == 3
    assert log.log_start_offset == log.log_end_offset == 6
    assert log.segment_base_offsets == [6]
    assert append(log).base_offset == 6
    assert log.apply_retention(NOW_MS) == 0


def test_retention_by_size_keeps_at_least_the_bound():
    size = len(batch(2))
    for bound, gone in ((3 * size, 0), (3 * size - 1, 0), (2 * size, 1), (size, 2), (0, 3)):
        _, log = three_segments(LogConfig(retention_bytes=bound))
        assert log.apply_retention(NOW_MS) == gone, bound


def test_retention_never_passes_the_high_watermark():
    world = World(LogConfig(retention_ms=1))
    log = world.open()
    for _ in range(3):
        append(log, 2)
        log.roll()
    log.update_high_watermark(3)
    assert log.apply_retention(NOW_MS + DAY_MS) == 1
    assert log.log_start_offset == 2


def test_unlimited_retention_and_compaction_only_keep_everything():
    for config in (
        LogConfig(retention_ms=-1),
        LogConfig(retention_ms=1, retention_bytes=1, deletes=False, compacts=True),
    ):
        _, log = three_segments(config)
        assert log.apply_retention(NOW_MS + 1000 * DAY_MS) == 0


def test_deleted_records_are_gone_at_once_and_their_files_at_the_next_retention():
    _, log = three_segments(LogConfig(deletes=True))
    assert log.delete_records_before(3) == 3
    assert log.segment_base_offsets == [0, 2, 4]
    assert log.apply_retention(NOW_MS) == 1
    assert log.segment_base_offsets == [2, 4]
    assert read_all(log) == [3, 4, 5]
    assert log.delete_records_before(1) == 3, "the log start never goes back"
    assert log.delete_records_before(-1) == 6
    with pytest.raises(KafkaError) as caught:
        log.delete_records_before(7)
    assert caught.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_slice_of_a_deleted_segment_can_still_be_read():
    _, log = three_segments(LogConfig(retention_ms=1))
    piece = log.read(0, 1 << 20, 6)
    log.apply_retention(NOW_MS + DAY_MS)
    assert len(piece.read()) == piece.size > 0


# --- flushing ---


def test_flush_messages_moves_the_recovery_point_in_the_background():
    background = InlineBackground(hold=True)
    log = World(LogConfig(flush_messages=3), background=background).open()
    for _ in range(4):
        append(log)
    assert log.recovery_point == 0
    background.run_all()
    assert log.recovery_point == 3
    append(log, 3)
    background.run_all()
    assert log.recovery_point == 7


def test_truncation_during_a_flush_is_not_taken_for_durable():
    background = InlineBackground(hold=True)
    log = World(background=background).open()
    append(log, 4)
    append(log, 4)
    log.flush_in_background()
    log.truncate_to(4)
    append(log, 9)
    background.run_all()
    assert log.recovery_point <= 4


def test_flush_ms():
    world = World(LogConfig(flush_ms=100))
    log = world.open()
    append(log)
    log.tick()
    assert log.recovery_point == 0
    world.clock.advance(100)
    log.tick()
    assert log.recovery_point == 1


def test_roll_syncs_the_old_segment():
    log = World(LogConfig(segment_bytes=100)).open()
    for _ in range(3):
        append(log)
    assert log.recovery_point == 2


# --- epochs (KIP-101) ---


def test_end_offset_for_epoch():
    log = World().open()
    for epoch in (2, 2, 4, 7):
        append(log, 5, epoch=epoch)
    cases = {-1: (-1, -1), 0: (0, 0), 2: (2, 10), 3: (2, 10), 4: (4, 15), 6: (4, 15), 7: (7, 20)}
    for epoch, expected in cases.items():
        assert log.end_offset_for_epoch(epoch) == expected
    assert log.end_offset_for_epoch(8) == (-1, -1)
    assert World().open().end_offset_for_epoch(0) == (-1, -1)


def test_elected_leader_assigns_its_epoch_before_any_record():
    log = World().open()
    append(log, 5, epoch=1)
    log.assign_epoch_start(2, 5)
    assert log.latest_epoch == 2
    assert log.end_offset_for_epoch(1) == (1, 5)
    assert log.end_offset_for_epoch(2) == (2, 5)
    append(log, 2, epoch=2)
    log.truncate_to(6)  # inside the batch of epoch 2: it goes whole
    assert log.log_end_offset == 5
    assert log.epoch_entries == ((1, 0),)
    log.truncate_fully_and_start_at(100)
    assert log.epoch_entries == ()
    assert log.latest_epoch is None


def test_an_idle_partition_holds_one_descriptor_a_segment(tmp_path):
    def descriptors() -> list[str]:
        held = (str(fd.resolve()) for fd in pathlib.Path("/proc/self/fd").iterdir())
        return sorted(path for path in held if path.startswith(str(tmp_path)))

    def opened() -> PartitionLog:
        return PartitionLog(
            LogEnvironment(OsFileSystem(), FakeClock(), InlineBackground()),
            TopicPartition("topic", 0),
            str(tmp_path),
            LogConfig(segment_bytes=200, index_interval_bytes=1),
        )

    log = opened()
    for _ in range(9):
        append(log)
    log.flush()
    assert len(descriptors()) == len(log.segment_base_offsets) > 2
    assert all(path.endswith(".log") for path in descriptors())
    append(log)
    log.close()
    log = opened()
    assert len(descriptors()) == len(log.segment_base_offsets)
    log.close()
    assert descriptors() == []


GAP = 1 << 33


@pytest.mark.parametrize("is_empty", [False, True])
@pytest.mark.parametrize("clean", [False, True])
def test_a_gap_wider_than_an_index_reaches_begins_a_segment_behind_it(is_empty, clean):
    """Compaction may leave one at the leader; two batches so far apart come in one fetch."""
    world = World()
    log = world.open()
    if not is_empty:
        append(log, 2)
    before = read_all(log)
    fetched = bytearray()
    for base in (GAP, GAP + 5, 2 * GAP):
        fetched += batch(2, base_offset=base, leader_epoch=0)
    appended = log.append_as_follower(memoryview(bytes(fetched)))
    assert (appended.base_offset, appended.last_offset, log.log_end_offset) == (
        GAP,
        GAP + 6,
        GAP + 7,
    )
    rest = batch(2, base_offset=2 * GAP, leader_epoch=0)
    log.append_as_follower(memoryview(bytes(rest)))
    offsets = [*before, GAP, GAP + 1, GAP + 5, GAP + 6, 2 * GAP, 2 * GAP + 1]
    assert read_all(log) == offsets
    log.close()
    again = world.open(is_clean=clean, cleaned_until=log.cleaned_until)
    assert again.log_end_offset == 2 * GAP + 2
    assert read_all(again) == offsets
    assert append(again, 1).base_offset == 2 * GAP + 2


@pytest.mark.parametrize("refused", [".log", "leader-epoch-checkpoint"])
def test_a_disk_full_behind_a_gap_leaves_the_log_where_it_ended(refused):
    world = World()
    log = world.open()
    append(log, 2)
    fetched = bytes(batch(2, base_offset=GAP, leader_epoch=1))
    world.fs.fail("append", refused, number=errno.ENOSPC)
    with pytest.raises(KafkaError) as caught:
        log.append_as_follower(memoryview(fetched))
    assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert log.log_end_offset == 2
    assert append(log, 1, epoch=2).base_offset == 2, "it leads now, and there is space again"
    log.close()
    again = world.open(is_clean=False, cleaned_until=log.cleaned_until)
    assert read_all(again) == [0, 1, 2]
    again.truncate_to(2)
    again.append_as_follower(memoryview(bytes(batch(2, base_offset=GAP, leader_epoch=3))))
    assert read_all(again) == [0, 1, GAP, GAP + 1]
