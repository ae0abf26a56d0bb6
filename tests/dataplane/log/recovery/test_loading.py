"""Opening all logs at a start: several at a time, and nothing done that need not be."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import uuid

import pytest

from dataplane.log.config import LogConfig
from dataplane.log.manager.log_manager import LogManager, LogManagerSettings
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.ports.background import Background
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.ports.fakes.filesystem import MemoryFileSystem
from dataplane.ports.filesystem import FileSystem
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.runtime.thread_background import ThreadBackground
from tests.dataplane.log.support import append, read_all

SMALL = LogConfig(segment_bytes=1000, index_interval_bytes=100)
TOPIC_ID = uuid.UUID("12345678-1234-5678-1234-567812345678")


class CountingFileSystem(MemoryFileSystem):
    """Knows what was opened, what is open, and what was renamed."""

    def __init__(self) -> None:
        super().__init__()
        self.handles: list = []
        self.renamed: list[str] = []

    def open(self, path: str, *, create: bool = False):
        handle = super().open(path, create=create)
        self.handles.append(handle)
        return handle

    def rename(self, old: str, new: str) -> None:
        self.renamed.append(new)
        super().rename(old, new)

    def forget(self) -> None:
        self.handles.clear()
        self.renamed.clear()


def start(
    fs: FileSystem,
    *dirs: str,
    threads: int = 1,
    background: Background | None = None,
    clock: FakeClock | None = None,
) -> LogManager:
    manager = LogManager(
        fs,
        clock or FakeClock(),
        FakeEntropy(),
        background or InlineBackground(),
        log_dirs=dirs,
        broker_id=1,
        config_for=lambda _topic: SMALL,
        settings=LogManagerSettings(recovery_threads=threads),
    )
    manager.load()
    return manager


def partitions(count: int) -> list[TopicPartition]:
    return [TopicPartition("topic", number) for number in range(count)]


def fill(manager: LogManager, count: int) -> None:
    """Partition n gets n * 5 batches of two records."""
    for tp in partitions(count):
        log = manager.get_or_create(tp, TOPIC_ID, SMALL)
        for _ in range(tp.partition * 5):
            append(log, 2)


@pytest.mark.parametrize("threads", [1, 3, 16])
def test_logs_are_the_same_however_many_threads_recover_them(tmp_path, threads):
    dirs = (f"{tmp_path}/a", f"{tmp_path}/b")
    fill(start(OsFileSystem(), *dirs), 12)  # never closed: as if the process had been killed
    for name in dirs:
        (tmp_path / name.rpartition("/")[2] / ".lock").unlink()
    loop = asyncio.new_event_loop()
    background = ThreadBackground(loop)
    manager = start(OsFileSystem(), *dirs, threads=threads, background=background)
    progress = manager.progress
    assert sorted(manager.all()) == partitions(12)
    for tp, log in manager.all().items():
        assert read_all(log) == list(range(tp.partition * 10))
        assert manager.topic_id(tp) == TOPIC_ID
    assert progress.logs_found == progress.logs_opened == 12
    assert progress.scanned_bytes == sum(log.size_bytes for log in manager.all().values())
    assert progress.truncated_bytes == progress.damaged_files == 0
    assert [each.remaining_logs for each in progress.directories.values()] == [0, 0]
    assert all(len(each.workers) == threads for each in progress.directories.values())
    assert all(
        worker.remaining_segments == 0
        for each in progress.directories.values()
        for worker in each.workers
    )
    background.close()
    loop.close()


def test_every_worker_runs_and_the_first_error_comes_out():
    loop = asyncio.new_event_loop()
    background = ThreadBackground(loop)
    done = []

    def fails() -> None:
        raise OSError(errno.EIO, "disk")

    background.run_together([])
    with pytest.raises(OSError, match="disk"):
        background.run_together([lambda: done.append(1), fails, lambda: done.append(3)])
    assert sorted(done) == [1, 3]
    background.close()
    loop.close()


def test_segments_still_to_be_checked_are_counted_down():
    seen: list[int] = []

    class WatchedFileSystem(MemoryFileSystem):
        def open(self, path: str, *, create: bool = False):
            if path.endswith(".log") and watched:
                seen.append(watched[0].directories["/d"].workers[0].remaining_segments)
            return super().open(path, create=create)

    watched: list = []
    fs = WatchedFileSystem()
    manager = start(fs, "/d")
    log = manager.get_or_create(TopicPartition("topic", 0), TOPIC_ID, SMALL)
    while len(log.segment_base_offsets) < 5:
        append(log, 2)
    fs.crash(lambda _path, _synced, size: size)
    fs.remove("/d/recovery-point-offset-checkpoint")
    again = LogManager(
        fs,
        FakeClock(),
        FakeEntropy(),
        InlineBackground(),
        log_dirs=("/d",),
        broker_id=1,
        config_for=lambda _topic: SMALL,
    )
    watched.append(again.progress)
    again.load()
    assert seen == [5, 4, 3, 2, 1]
    assert again.progress.directories["/d"].workers[0].remaining_segments == 0


@pytest.mark.parametrize("operation", ["open", "list"])
def test_a_directory_that_fails_half_way_gives_its_logs_up_and_the_others_go_on(operation):
    fs = CountingFileSystem()
    manager = start(fs, "/a", "/b")
    fill(manager, 6)
    manager.shutdown()
    fs.forget()
    fs.fail(operation, "/a/topic-2")
    manager = start(fs, "/a", "/b", threads=2)
    assert sorted(manager.all()) == partitions(6)[1::2]
    errors = {report.path: report.error for report in manager.directories()}
    assert errors == {"/a": ErrorCode.KAFKA_STORAGE_ERROR, "/b": ErrorCode.NONE}
    assert not [h.path for h in fs.handles if h.path.startswith("/a/topic-0") and not h.closed]


def test_a_clean_start_opens_no_file_of_an_idle_log_and_writes_nothing():
    fs = CountingFileSystem()
    manager = start(fs, "/d")
    for tp in partitions(20):
        log = manager.get_or_create(tp, TOPIC_ID, SMALL)
        log.assign_epoch_start(3, 0)  # elected, and never written to
    manager.shutdown()
    before = {path: bytes(fs.content(path)) for path in fs.paths() if "/topic-" in path}
    fs.forget()
    manager = start(fs, "/d")
    assert not [h.path for h in fs.handles if h.path.endswith((".log", "index"))]
    for log in manager.all().values():
        log.read(0, 1000, 0)
        log.apply_retention(1 << 41)
        log.tick()
    assert not [h for h in fs.handles if not h.closed]
    manager.shutdown()
    assert {path: bytes(fs.content(path)) for path in fs.paths() if "/topic-" in path} == before
    assert not [path for path in fs.renamed if "/topic-" in path]


def test_a_start_keeps_closed_segments_closed():
    fs = CountingFileSystem()
    manager = start(fs, "/d")
    fill(manager, 8)
    assert len(manager.get(TopicPartition("topic", 7)).segment_base_offsets) > 3
    manager.shutdown()
    fs.forget()
    manager = start(fs, "/d")
    still_open = [h.path for h in fs.handles if not h.closed]
    assert len(still_open) <= 8  # the active segments' ends were looked for
    for tp in partitions(8):
        assert read_all(manager.get(tp)) == list(range(tp.partition * 10))


@dataclasses.dataclass
class Restarted:
    """A log whose epoch file holds an epoch that began at its end."""

    fs: MemoryFileSystem = dataclasses.field(default_factory=MemoryFileSystem)

    def open(self):
        manager = start(self.fs, "/d")
        log = manager.get_or_create(TopicPartition("topic", 0), TOPIC_ID, SMALL)
        append(log, 2, epoch=1)
        log.assign_epoch_start(5, 2)
        manager.shutdown()
        self.manager = start(self.fs, "/d")
        return self.manager.get(TopicPartition("topic", 0))

    def epoch_file(self) -> str:
        return self.fs.content("/d/topic-0/leader-epoch-checkpoint").decode()


def test_an_epoch_without_records_is_forgotten_at_the_start():
    restarted = Restarted()
    log = restarted.open()
    assert log.epoch_entries == ((1, 0),)
    assert restarted.epoch_file() == "0\n2\n1 0\n5 2\n"


@pytest.mark.parametrize("how", ["flush", "roll", "close"])
def test_the_epoch_file_is_right_before_the_recovery_point_moves(how):
    restarted = Restarted()
    log = restarted.open()
    append(log, 2, epoch=1)  # now there is a record where epoch 5 was said to begin
    getattr(log, how)()
    assert restarted.epoch_file() == "0\n1\n1 0\n"
    if how != "close":
        restarted.manager.checkpoint_recovery_points()
        restarted.fs.crash()
        again = start(restarted.fs, "/d").get(TopicPartition("topic", 0))
        assert (again.epoch_entries, again.log_end_offset) == (((1, 0),), 4)


def test_a_recovery_point_that_goes_back_is_written_before_anything_is_appended():
    fs = MemoryFileSystem()
    manager = start(fs, "/d")
    tp = TopicPartition("topic", 0)
    log = manager.get_or_create(tp, TOPIC_ID, SMALL)
    for _ in range(10):
        append(log, 2)
    log.flush()
    manager.checkpoint_recovery_points()
    log.truncate_to(6)
    assert fs.content("/d/recovery-point-offset-checkpoint") == b"0\n1\ntopic 0 6\n"
    log.truncate_fully_and_start_at(3)
    assert fs.content("/d/recovery-point-offset-checkpoint") == b"0\n1\ntopic 0 3\n"


def test_checkpoints_do_not_speak_of_an_earlier_log_of_the_same_name():
    fs = MemoryFileSystem()
    manager = start(fs, "/d")
    tp = TopicPartition("topic", 0)
    log = manager.get_or_create(tp, TOPIC_ID, SMALL)
    for _ in range(10):
        append(log, 2)
    log.update_high_watermark(20)
    log.delete_records_before(7)
    log.flush()
    manager.checkpoint_recovery_points()
    manager.checkpoint_high_watermarks()
    manager.delete_async(tp)
    log = manager.get_or_create(tp, TOPIC_ID, SMALL)
    append(log, 8)
    fs.crash(lambda _path, _synced, size: size)
    again = start(fs, "/d").get(tp)
    assert (again.log_start_offset, again.high_watermark, again.recovery_point) == (0, 0, 0)
    assert read_all(again) == list(range(8))


def test_a_checkpoint_asked_for_while_it_is_being_written_is_written_after():
    fs = MemoryFileSystem()
    background, clock = InlineBackground(hold=True), FakeClock()
    manager = start(fs, "/d", background=background, clock=clock)
    log = manager.get_or_create(TopicPartition("topic", 0), TOPIC_ID, SMALL)
    append(log, 4)
    log.update_high_watermark(2)
    clock.advance(1)
    manager.tick(0)
    clock.advance(5_000)
    manager.tick(0)  # being written by another thread
    log.update_high_watermark(4)
    manager.checkpoint_high_watermarks()
    background.run_all()
    assert fs.content("/d/replication-offset-checkpoint") == b"0\n1\ntopic 0 4\n"


def test_a_reader_of_a_deleted_log_never_sees_the_next_one_of_that_name():
    fs = MemoryFileSystem()
    manager = start(fs, "/d")
    tp = TopicPartition("topic", 0)
    append(manager.get_or_create(tp, TOPIC_ID, SMALL), 4, value=b"old")
    manager.shutdown()
    manager = start(fs, "/d")
    old = manager.get(tp)  # its file is not open yet
    manager.delete_async(tp)
    append(manager.get_or_create(tp, TOPIC_ID, SMALL), 4, value=b"new")
    assert b"old" in old.read(0, 10_000, 4).read()
