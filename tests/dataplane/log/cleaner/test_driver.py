"""Compaction by the clock: which log, when, what is noted, what is set aside."""

from __future__ import annotations

import dataclasses
import errno

from dataplane.log.cleaner.driver import CleanerSettings
from dataplane.log.manager.log_manager import LogManagerSettings
from dataplane.model.ids import TopicPartition
from tests.dataplane.log.cleaner.cleaning import COMPACT, contents, put
from tests.dataplane.log.manager.test_log_manager import A0, A1, Host

SETTINGS = LogManagerSettings(cleaner=CleanerSettings(backoff_ms=15_000, memory_bytes=1 << 16))
D = ("/d",)


def host() -> Host:
    return Host(dirs=D, config=COMPACT, settings=SETTINGS)


def dirty(log, keys: int = 2, rounds: int = 6, size: int = 50) -> None:
    for number in range(rounds):
        put(log, *((f"k{n}", f"{number}" * size) for n in range(keys)))
    log.roll()
    log.update_high_watermark(log.log_end_offset)


def test_a_due_log_is_compacted_within_the_backoff_and_its_offset_is_kept():
    world = host()
    manager = world.start()
    log = world.create(manager, A0)
    world.tick(manager, 0)
    world.tick(manager, 1_000)  # nothing is due: the cleaner rests
    dirty(log)
    world.tick(manager, 14_000)
    assert len(contents(log)) == 12
    world.tick(manager, 1_000)
    assert len(contents(log)) == 2
    assert world.text("/d/cleaner-offset-checkpoint") == "0\n1\na 0 12\n"
    assert (manager.cleaner.stats.rounds, manager.cleaner.stats.dropped_records) == (1, 10)
    manager.shutdown()
    manager = world.start()
    assert manager.get(A0).cleaned_until == 12
    assert len(contents(manager.get(A0))) == 2


def test_a_compacted_log_whose_checkpoint_is_lost_is_taken_for_a_cleaned_one():
    world = host()
    manager = world.start()
    log = world.create(manager, A0)
    dirty(log)
    world.tick(manager, 0)
    world.tick(manager, 15_000)
    assert log.cleaned_until == 12
    manager.shutdown()
    world.fs.remove("/d/cleaner-offset-checkpoint")
    assert world.start().get(A0).cleaned_until == 0, "all is dirty, and may lack records"


def test_the_filthiest_log_comes_first():
    world = host()
    manager = world.start()
    half, whole = world.create(manager, A0), world.create(manager, A1)
    dirty(half, rounds=30)
    half.cleaned_until = half.segment_base_offsets[1]
    dirty(whole)
    world.tick(manager, 0)
    world.tick(manager, 1_000)
    assert (len(contents(half)), len(contents(whole))) == (60, 2)
    world.tick(manager, 1_000)
    assert len(contents(half)) < 60
    assert manager.cleaner.stats.rounds == 2


def test_a_log_that_cannot_be_compacted_is_set_aside_and_the_others_go_on():
    world = host()
    manager = world.start()
    bad, good = world.create(manager, A0), world.create(manager, A1)
    dirty(bad, rounds=9)
    dirty(good)
    world.fs.content("/d/a-0/00000000000000000000.log")[100] ^= 1
    world.tick(manager, 0)
    for _ in range(4):
        world.tick(manager, 15_000)
    assert list(manager.cleaner.uncleanable) == [A0]
    assert "CRC" in manager.cleaner.uncleanable[A0]
    assert len(contents(good)) == 2
    assert manager.cleaner.stats.rounds_aborted == 1
    manager.delete_async(A0)
    world.tick(manager, 15_000)
    assert not manager.cleaner.uncleanable


def test_a_full_disk_ends_the_round_and_it_is_tried_again():
    world = host()
    manager = world.start()
    log = world.create(manager, A0)
    dirty(log)
    world.fs.fail("append", ".cleaned", number=errno.ENOSPC)
    world.tick(manager, 0)
    world.tick(manager, 1_000)
    assert len(contents(log)) == 12
    assert not [p for p in world.fs.paths() if "cleaned" in p]
    world.tick(manager, 14_000)
    assert len(contents(log)) == 12
    world.tick(manager, 1_000)
    assert len(contents(log)) == 2


def test_a_failing_disk_takes_the_directory_out_of_service():
    world = host()
    manager = world.start()
    failed = []
    manager.on_directory_failure(lambda path, lost: failed.append((path, lost)))
    dirty(world.create(manager, A0))
    world.fs.fail("append", ".cleaned", number=errno.EIO)
    world.tick(manager, 0)
    world.tick(manager, 1_000)
    assert failed == [("/d", [A0])]


def test_a_log_that_is_deleted_meanwhile_is_left_alone():
    world = host()
    manager = world.start()
    dirty(world.create(manager, A0))
    world.background.hold = True
    world.tick(manager, 0)
    world.tick(manager, 1_000)
    assert manager.cleaner.cleaning == A0
    manager.delete_async(A0)
    world.create(manager, A0)
    world.background.run_all()
    assert manager.cleaner.cleaning is None
    assert not manager.cleaner.uncleanable
    assert manager.get(A0).log_end_offset == 0


def test_stopping_leaves_the_round_at_its_next_step():
    world = host()
    manager = world.start()
    log = world.create(manager, A0)
    dirty(log)
    world.background.hold = True
    world.tick(manager, 0)
    world.tick(manager, 1_000)
    manager.cleaner.stop()
    world.background.run_all()
    assert len(contents(log)) == 12
    assert not [p for p in world.fs.paths() if "cleaned" in p]


def test_a_paced_worker_reports_its_steps():
    steps = []

    class Pace:
        def spent(self, size_bytes: int) -> None:
            steps.append(size_bytes)

    world = host()
    manager = world.start()
    manager.cleaner.pacer = Pace()
    log = world.create(manager, A0)
    dirty(log, size=20_000)
    size = sum(segment.size for segment in log.closed_segments())
    world.tick(manager, 0)
    world.tick(manager, 1_000)
    assert sum(steps) == 2 * size
    assert max(steps) < 256 * 1024


def test_logs_whose_policy_is_delete_are_not_touched():
    world = dataclasses.replace(host(), config=dataclasses.replace(COMPACT, compacts=False))
    manager = world.start()
    log = world.create(manager, TopicPartition("d", 0))
    dirty(log)
    world.tick(manager, 0)
    world.tick(manager, 15_000)
    assert len(contents(log)) == 12
    assert not world.fs.exists("/d/cleaner-offset-checkpoint")
