"""What a start finds after an unclean stop, bit rot, or files that somebody touched."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.config import LogConfig
from dataplane.log.recovery.load_progress import LoadProgress
from dataplane.ports.fakes.background import InlineBackground
from tests.dataplane.log.support import DIRECTORY, NOW_MS, World, append, batch, read_all

SMALL = LogConfig(segment_bytes=1000, index_interval_bytes=100)


def filled(world: World, batches: int = 40):
    log = world.open()
    for number in range(batches):
        append(log, 2, at_ms=NOW_MS + number * 10)
    return log


def keep_everything(_path: str, _synced: int, size: int) -> int:
    return size


def test_process_killed_loses_nothing_that_was_written():
    world = World(SMALL)
    filled(world)
    world.fs.crash(keep_everything)
    log = world.open(recovery_point=0)
    assert log.log_end_offset == 80
    assert read_all(log) == list(range(80))


def test_only_segments_beyond_the_recovery_point_are_scanned():
    world = World(SMALL)
    log = filled(world)
    bases = log.segment_base_offsets
    assert len(bases) > 3
    world.fs.crash(keep_everything)
    log = world.open(recovery_point=bases[-1])
    assert log.recovered.scanned_bytes < 1100
    assert read_all(log) == list(range(80))


def test_clean_start_scans_nothing():
    world = World(SMALL)
    filled(world).close()
    log = world.open(is_clean=True, recovery_point=0)
    assert log.recovered.scanned_bytes == 0
    assert log.log_end_offset == 80


def test_rebuilt_indexes_equal_the_original_ones():
    world = World(SMALL)
    filled(world).close()
    before = {p: bytes(world.fs.content(p)) for p in world.fs.paths() if "index" in p}
    assert any(before.values())
    for path in before:
        world.fs.remove(path)
    log = world.open(is_clean=True)
    assert log.offset_for_timestamp(NOW_MS + 200).offset == 40
    log.close()
    assert {p: bytes(world.fs.content(p)) for p in before} == before


@settings(max_examples=150, deadline=None)
@given(position=st.integers(0, 5000), flip=st.integers(1, 255))
def test_flipped_byte_after_a_crash_cuts_there_and_keeps_a_true_prefix(position, flip):
    world = World(LogConfig(segment_bytes=1500, index_interval_bytes=100))
    filled(world, 60)
    logs = [p for p in world.fs.paths() if p.endswith(".log")]
    original = b"".join(bytes(world.fs.content(p)) for p in logs)
    at = position % len(original)
    for path in logs:
        content = world.fs.content(path)
        if at < len(content):
            content[at] ^= flip
            break
        at -= len(content)
    log = world.open(recovery_point=0)
    kept = b"".join(bytes(world.fs.content(p)) for p in world.fs.paths() if p.endswith(".log"))
    # Leader epoch lies outside the CRC: a flip there goes unseen, in Kafka too.
    assert len(kept) <= len(original)
    found = read_all(log)
    assert found == list(range(log.log_end_offset))
    info = append(log)
    assert info.base_offset == log.log_end_offset - 1 == len(found)
    assert read_all(log) == [*found, len(found)]


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_cut_tail_loses_only_what_was_cut(data):
    world = World(SMALL)
    log = filled(world)
    last = f"{DIRECTORY}/{log.segment_base_offsets[-1]:020d}.log"
    size = len(world.fs.content(last))
    cut = data.draw(st.integers(0, size))
    del world.fs.content(last)[size - cut :]
    again = world.open(recovery_point=0)
    assert read_all(again) == list(range(again.log_end_offset))
    assert again.log_end_offset >= log.segment_base_offsets[-1]
    assert again.log_end_offset == 80 - 2 * -(-cut // len(batch(2)))


def test_segment_that_lost_its_end_takes_the_later_ones_along():
    world = World(SMALL)
    log = filled(world)
    first = f"{DIRECTORY}/{0:020d}.log"
    del world.fs.content(first)[-len(batch(2)) :]  # truncated at a batch boundary: no CRC shows it
    again = world.open(recovery_point=0)
    assert again.log_end_offset == log.segment_base_offsets[1] - 2
    assert again.segment_base_offsets == [0]
    assert read_all(again) == list(range(again.log_end_offset))


def test_truncated_file_is_noticed_even_after_a_clean_stop():
    world = World()
    filled(world).close()
    del world.fs.content(f"{DIRECTORY}/{0:020d}.log")[-5:]
    log = world.open(is_clean=True, recovery_point=80)
    assert log.log_end_offset == 78
    assert log.recovery_point <= 78


def test_leftovers_of_deletion_and_of_half_written_files_are_swept():
    world = World()
    filled(world).close()
    for name in ("00000000000000000000.log.deleted", "x.cleaned", "y.swap", "z.tmp", "7.index"):
        world.fs.open(f"{DIRECTORY}/{name}", create=True)
    orphan = f"{DIRECTORY}/{500:020d}.index"
    world.fs.open(orphan, create=True)
    world.open(is_clean=True)
    left = [p.rpartition("/")[2] for p in world.fs.paths()]
    assert not [n for n in left if n.endswith((".deleted", ".cleaned", ".swap", ".tmp"))]
    assert orphan not in world.fs.paths()


def test_log_start_beyond_the_end_starts_over_there():
    world = World()
    filled(world)
    world.fs.crash()  # nothing was synced
    log = world.open(log_start_offset=50)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (50, 50, 50)
    assert append(log).base_offset == 50


@pytest.mark.parametrize("content", [b"", b"garbage", b"0\n3\n0 0\n", b"0\n1\n0 0", b"\xff\xfe"])
def test_damaged_epoch_checkpoint_is_rebuilt_from_the_batches(content):
    world = World(SMALL)
    log = world.open()
    for epoch in (0, 0, 3, 3, 7):
        append(log, 2, epoch=epoch)
    log.close()
    path = f"{DIRECTORY}/leader-epoch-checkpoint"
    world.fs.content(path)[:] = content
    again = world.open(is_clean=True)
    assert again.epoch_entries == ((0, 0), (3, 4), (7, 8))


def test_epochs_of_scanned_batches_are_learnt_again():
    world = World(SMALL)
    log = world.open()
    append(log, 2, epoch=1)
    append(log, 2, epoch=4)
    world.fs.remove(f"{DIRECTORY}/leader-epoch-checkpoint")
    assert world.open().epoch_entries == ((1, 0), (4, 2))
    del log


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("high_watermark", [None, 80])
def test_log_start_checkpoint_beyond_the_end_does_not_empty_the_log(clean, high_watermark):
    """Nothing bears it out: a digit of it was flipped. Kafka deletes every segment here."""
    world = World(SMALL)
    filled(world).close()
    log = world.open(log_start_offset=700, high_watermark=high_watermark, is_clean=clean)
    assert (log.log_start_offset, log.log_end_offset) == (0, 80)
    assert read_all(log) == list(range(80))


def test_log_start_that_the_high_watermark_confirms_is_used():
    """Records were deleted up to 90 before the power went, and the log's end with it."""
    world = World(SMALL)
    log = filled(world)
    log.flush()
    for _ in range(5):
        append(log, 2)
    world.fs.crash()
    log = world.open(log_start_offset=90, high_watermark=90, recovery_point=80)
    assert (log.log_start_offset, log.log_end_offset) == (90, 90)
    assert append(log).base_offset == 90


def test_recovery_point_beyond_the_end_means_that_all_is_scanned():
    world = World(SMALL)
    log = filled(world)
    world.fs.crash(keep_everything)
    world.fs.content(f"{DIRECTORY}/{0:020d}.log")[-3] ^= 1
    progress = LoadProgress()
    again = world.open(recovery_point=7777, progress=progress)
    assert again.log_end_offset < log.segment_base_offsets[1]
    assert read_all(again) == list(range(again.log_end_offset))
    assert again.recovery_point == 0
    assert (progress.damaged_files, progress.remaining_segments) == (1, 0)


def test_cleaner_checkpoint_beyond_the_end_makes_all_of_the_log_dirty():
    world = World(SMALL)
    filled(world).close()
    progress = LoadProgress()
    assert world.open(is_clean=True, cleaned_until=81, progress=progress).cleaned_until == 0
    assert progress.damaged_files == 1
    assert world.open(is_clean=True, cleaned_until=80).cleaned_until == 80


def test_a_segment_closed_during_a_flush_is_synced_before_the_recovery_point_passes_it():
    """The simulator's seed 90141: a roll during a flush was left out, the next one went past it."""
    world = World(LogConfig(segment_bytes=100), background=InlineBackground(hold=True))
    log = world.open()
    append(log, 3)
    append(log, 3)  # rolls: the first segment's flush is under way
    append(log, 3)  # rolls meanwhile
    world.background.run_all()
    append(log, 3)  # rolls again
    world.background.run_all()
    point = log.recovery_point
    assert point > 3
    world.fs.crash()  # only what was synced is left
    again = world.open(recovery_point=point)
    assert again.log_end_offset >= point
    assert read_all(again) == list(range(again.log_end_offset))
