"""Blocks set aside behind a segment's end: while it grows, and no longer."""

from __future__ import annotations

import pathlib

import pytest

from dataplane.log.config import LogConfig
from dataplane.log.opening import LogEnvironment
from dataplane.log.partition_log import PartitionLog
from dataplane.log.segment.log_segment import RESERVED_BYTES_MAX, RESERVED_FROM_BYTES
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.clock import FakeClock
from dataplane.runtime import os_filesystem
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.runtime.preallocation import preallocate
from tests.dataplane.log.support import DIRECTORY, NOW_MS, World, append, batch, read_all

BATCH_BYTES = 256 * 1024
VALUE = bytes(BATCH_BYTES)


def reserved(world: World, base: int = 0) -> int:
    return world.fs.reserved_size(f"{DIRECTORY}/{base:020d}.log")


def test_a_small_segment_takes_only_what_it_holds():
    world = World()
    log = world.open()
    append(log)
    assert log.size_bytes < RESERVED_FROM_BYTES
    assert reserved(world) == 0


def test_a_segment_that_grows_is_ahead_of_itself_within_a_bound():
    world = World()
    log = world.open()
    for _ in range(100):
        append(log, value=VALUE)
        size = log.size_bytes
        if size >= RESERVED_FROM_BYTES:
            assert size < reserved(world) <= size + min(size, RESERVED_BYTES_MAX)
    assert size > RESERVED_BYTES_MAX


def test_a_follower_reserves_too():
    world = World()
    log = world.open()
    for number in range(8):
        log.append_as_follower(bytes(batch(value=VALUE, base_offset=number)))
    assert reserved(world) > log.size_bytes


@pytest.mark.parametrize("how", ["roll", "close", "truncate"])
def test_what_is_not_used_is_given_back(how: str):
    world = World()
    log = world.open()
    for _ in range(8):
        append(log, value=VALUE)
    assert reserved(world) > log.size_bytes
    match how:
        case "roll":
            log.roll()
        case "close":
            log.close()
        case "truncate":
            log.truncate_to(6)
    assert reserved(world) == 0


def test_a_segment_that_was_cut_reserves_again_as_it_grows():
    world = World()
    log = world.open()
    for _ in range(8):
        append(log, value=VALUE)
    log.truncate_to(1)
    for _ in range(100):
        append(log, value=VALUE)
    assert reserved(world) > log.size_bytes


def real_log(directory: pathlib.Path) -> PartitionLog:
    return PartitionLog(
        LogEnvironment(OsFileSystem(), FakeClock(), InlineBackground()),
        TopicPartition("t", 0),
        str(directory),
        LogConfig(),
    )


def can_preallocate(directory: pathlib.Path) -> bool:
    with (directory / "probe").open("wb") as file:
        return preallocate(file.fileno(), 0, 4096)


def test_real_files_have_the_size_of_their_batches_and_blocks_ahead_while_they_grow(tmp_path):
    if not can_preallocate(tmp_path):
        pytest.skip("this file system sets no blocks aside")
    log = real_log(tmp_path)
    for _ in range(8):
        log.append_as_leader(batch(value=VALUE), 0, now_ms=NOW_MS)
    file = tmp_path / f"{0:020d}.log"
    stat = file.stat()
    assert stat.st_size == log.size_bytes
    assert stat.st_blocks * 512 > stat.st_size + BATCH_BYTES
    log.close()
    stat = file.stat()
    assert stat.st_size == log.size_bytes
    assert stat.st_blocks * 512 < stat.st_size + 64 * 1024
    assert read_all(real_log(tmp_path)) == list(range(8))


def test_nothing_is_set_aside_on_a_volume_that_runs_full(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(os_filesystem, "preallocate", lambda *given: calls.append(given))
    file = OsFileSystem().open(str(tmp_path / "f"), create=True)
    file.append(b"x" * 1000)
    monkeypatch.setattr(os_filesystem, "FREE_TIMES_MIN", 1 << 60)
    file.reserve(1 << 20)
    assert calls == []
    monkeypatch.setattr(os_filesystem, "FREE_TIMES_MIN", 1)
    file.reserve(1 << 20)
    assert [given[1:] for given in calls] == [(1000, (1 << 20) - 1000)]
    file.close()


def test_a_file_system_that_cannot_says_no():
    assert not preallocate(-1, 0, 4096)
