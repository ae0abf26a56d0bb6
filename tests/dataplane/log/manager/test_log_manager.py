"""Log directories: start, stop, crash, deletion, checkpoints, a disk that dies."""

from __future__ import annotations

import dataclasses
import errno
import uuid

import pytest

from dataplane.log.config import LogConfig
from dataplane.log.manager.log_directory import DirectoryInUseError, InconsistentIdentityError
from dataplane.log.manager.log_manager import LogManager, LogManagerSettings
from dataplane.log.paths import deleted_directory_name, parse_partition_directory
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.ports.fakes.filesystem import MemoryFileSystem
from tests.dataplane.log.support import append, read_all

TOPIC_ID = uuid.UUID("12345678-1234-5678-1234-567812345678")
A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b-c", 0)


@dataclasses.dataclass
class Host:
    dirs: tuple[str, ...] = ("/d1", "/d2")
    config: LogConfig = dataclasses.field(default_factory=LogConfig)
    settings: LogManagerSettings = dataclasses.field(default_factory=LogManagerSettings)
    fs: MemoryFileSystem = dataclasses.field(default_factory=MemoryFileSystem)
    clock: FakeClock = dataclasses.field(default_factory=FakeClock)
    background: InlineBackground = dataclasses.field(default_factory=InlineBackground)

    def start(self) -> LogManager:
        manager = LogManager(
            self.fs,
            self.clock,
            FakeEntropy(),
            self.background,
            log_dirs=self.dirs,
            broker_id=5,
            config_for=lambda _topic: self.config,
            settings=self.settings,
        )
        manager.load()
        return manager

    def create(self, manager: LogManager, tp: TopicPartition):
        return manager.get_or_create(tp, TOPIC_ID, self.config)

    def text(self, path: str) -> str:
        return self.fs.content(path).decode()

    def tick(self, manager: LogManager, ms: int) -> None:
        self.clock.advance(ms)
        manager.tick(self.clock.realtime_ms())


def everything(_path: str, _synced: int, size: int) -> int:
    return size


def test_new_logs_go_where_the_fewest_are():
    host = Host()
    manager = host.start()
    homes = [host.create(manager, tp).directory for tp in (A0, A1, B0)]
    assert homes == ["/d1/a-0", "/d2/a-1", "/d1/b-c-0"]
    assert manager.get(A0) is host.create(manager, A0)


def test_topic_id_is_kept_beside_the_log_and_checked():
    host = Host()
    manager = host.start()
    host.create(manager, A0)
    assert host.text("/d1/a-0/partition.metadata") == (
        "version: 0\ntopic_id: EjRWeBI0VngSNFZ4EjRWeA\n"
    )
    manager.shutdown()
    manager = host.start()
    assert manager.topic_id(A0) == TOPIC_ID
    with pytest.raises(KafkaError) as caught:
        manager.get_or_create(A0, uuid.uuid4(), host.config)
    assert caught.value.code == ErrorCode.INCONSISTENT_TOPIC_ID


def test_clean_stop_leaves_a_marker_that_the_next_start_takes_away():
    host = Host()
    manager = host.start()
    append(host.create(manager, A0), 4)
    manager.shutdown(broker_epoch=33)
    assert host.text("/d1/.kafka_cleanshutdown") == '{"version": 0, "brokerEpoch": 33}'
    manager = host.start()
    assert not host.fs.exists("/d1/.kafka_cleanshutdown")
    assert manager.previous_broker_epoch == 33
    assert manager.get(A0).recovered.scanned_bytes == 0
    assert manager.get(A0).log_end_offset == 4


def test_start_after_a_crash_scans_and_finds_what_was_written():
    host = Host()
    manager = host.start()
    for tp in (A0, A1, B0):
        append(host.create(manager, tp), 4)
    host.fs.crash(everything)
    manager = host.start()
    for tp in (A0, A1, B0):
        assert manager.get(tp).recovered.scanned_bytes > 0
        assert read_all(manager.get(tp)) == [0, 1, 2, 3]


def test_checkpoint_files_are_kafkas_text():
    host = Host(dirs=("/d",))
    manager = host.start()
    append(host.create(manager, B0), 4)
    append(host.create(manager, A0), 2)
    manager.get(B0).update_high_watermark(3)
    manager.checkpoint_high_watermarks()
    assert host.text("/d/replication-offset-checkpoint") == "0\n2\na 0 0\nb-c 0 3\n"
    manager.get(A0).flush()
    manager.checkpoint_recovery_points()
    assert host.text("/d/recovery-point-offset-checkpoint") == "0\n2\na 0 2\nb-c 0 0\n"
    assert host.text("/d/log-start-offset-checkpoint") == "0\n2\na 0 0\nb-c 0 0\n"
    manager = Host(dirs=("/d",), fs=host.fs)
    host.fs.crash(everything)
    again = host.start()
    assert again.get(B0).high_watermark == 3
    del manager


def test_checkpoints_are_written_by_the_clock_and_only_when_something_moved():
    host = Host(dirs=("/d",))
    manager = host.start()
    log = host.create(manager, A0)
    append(log, 4)
    host.tick(manager, 0)
    log.update_high_watermark(4)
    host.tick(manager, 4_999)
    assert not host.fs.exists("/d/replication-offset-checkpoint")
    host.tick(manager, 1)
    assert host.text("/d/replication-offset-checkpoint") == "0\n1\na 0 4\n"
    host.fs.remove("/d/replication-offset-checkpoint")
    host.tick(manager, 5_000)
    assert not host.fs.exists("/d/replication-offset-checkpoint")
    host.tick(manager, 60_000)
    assert host.fs.exists("/d/recovery-point-offset-checkpoint")


def test_log_start_survives_only_by_its_checkpoint():
    host = Host(dirs=("/d",))
    manager = host.start()
    log = host.create(manager, A0)
    append(log, 4)
    log.update_high_watermark(4)
    log.delete_records_before(2)
    manager.checkpoint_recovery_points()
    host.fs.crash(everything)
    assert host.start().get(A0).log_start_offset == 2


def test_deleted_log_is_gone_at_once_and_its_files_after_a_minute():
    host = Host(dirs=("/d",))
    manager = host.start()
    log = host.create(manager, A0)
    append(log, 4)
    piece = log.read(0, 1000, 4)
    manager.delete_async(A0)
    assert manager.get(A0) is None
    assert [n for n in host.fs.list_dir("/d") if n.endswith("-delete")]
    assert not host.fs.exists("/d/a-0")
    assert append(host.create(manager, A0)).base_offset == 0
    assert len(piece.read()) == piece.size
    host.tick(manager, 59_000)
    host.tick(manager, 1_000)
    assert not [n for n in host.fs.list_dir("/d") if n.endswith("-delete")]
    assert manager.get(A0).log_end_offset == 1


def test_deletion_that_a_stop_interrupted_goes_on_at_the_next_start():
    host = Host(dirs=("/d",))
    manager = host.start()
    host.create(manager, A0)
    manager.delete_async(A0)
    manager.shutdown()
    manager = host.start()
    assert manager.get(A0) is None
    host.tick(manager, 0)
    host.tick(manager, 1_000)
    assert not [n for n in host.fs.list_dir("/d") if n.endswith("-delete")]


def test_directory_names():
    assert parse_partition_directory("a-b-12") == TopicPartition("a-b", 12)
    for name in ("lost+found", "a", "-1", "a-", "a-x", "a-0.0123-delete", "a-1-stray", "a-٣"):
        assert parse_partition_directory(name) is None
    long = deleted_directory_name(TopicPartition("t" * 249, 12345), TOPIC_ID)
    assert len(long) == 255
    assert long.endswith(f"-12345.{TOPIC_ID.hex}-delete")


def test_directory_of_a_running_broker_is_refused():
    host = Host()
    host.start()
    with pytest.raises(DirectoryInUseError):
        host.start()


def test_identity_is_written_once_and_then_has_to_fit():
    host = Host(dirs=("/d",))
    host.start().stamp_identity("cluster-one")
    text = host.text("/d/meta.properties")
    assert "broker.id=5\ncluster.id=cluster-one\ndirectory.id=" in text
    assert text.endswith("version=0\n")
    host.fs.crash(everything)
    manager = host.start()
    manager.stamp_identity("cluster-one")
    assert host.text("/d/meta.properties") == text
    with pytest.raises(InconsistentIdentityError, match=r"cluster\.id=cluster-one"):
        manager.stamp_identity("cluster-two")


def test_failed_directory_takes_its_logs_along_and_the_others_go_on():
    host = Host()
    manager = host.start()
    failed = []
    manager.on_directory_failure(lambda path, lost: failed.append((path, lost)))
    append(host.create(manager, A0))
    append(host.create(manager, A1))
    log = manager.get(A0)
    host.fs.fail("append", "/d1/a-0", number=errno.EIO)
    with pytest.raises(KafkaError):
        append(log)
    assert failed == [("/d1", [A0])]
    assert manager.get(A0) is None
    append(manager.get(A1))
    assert manager.get_or_create(B0, TOPIC_ID, host.config).directory == "/d2/b-c-0"
    with pytest.raises(KafkaError) as caught:
        manager.get_or_create(A0, TOPIC_ID, host.config, is_new=False)
    assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    errors = {report.path: report.error for report in manager.directories()}
    assert errors == {"/d1": ErrorCode.KAFKA_STORAGE_ERROR, "/d2": ErrorCode.NONE}
    manager.shutdown()
    assert not host.fs.exists("/d1/.kafka_cleanshutdown")
    assert host.fs.exists("/d2/.kafka_cleanshutdown")


def test_broker_without_any_usable_directory_does_not_start():
    host = Host(dirs=("/d",))
    host.fs.fail("list", "/d")
    with pytest.raises(KafkaError):
        host.start()


def test_report_names_sizes():
    host = Host(dirs=("/d",))
    manager = host.start()
    append(host.create(manager, A0), 4)
    (report,) = manager.directories()
    assert report.logs[A0].size_bytes == manager.get(A0).size_bytes > 0
    assert report.logs[A0].log_end_offset == 4
    assert report.total_bytes >= report.usable_bytes > 0


def test_retention_runs_every_five_minutes():
    host = Host(dirs=("/d",), config=LogConfig(retention_ms=1000))
    manager = host.start()
    log = host.create(manager, A0)
    append(log, 2, at_ms=host.clock.realtime_ms())
    log.update_high_watermark(2)
    host.tick(manager, 0)
    host.tick(manager, 299_999)
    assert log.log_start_offset == 0
    host.tick(manager, 1)
    assert log.log_start_offset == 2
