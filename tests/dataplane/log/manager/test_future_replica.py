"""A replica moves to another log directory (KIP-113): catching up, the swap, crashes, failures."""

from __future__ import annotations

import pytest

from dataplane.log.config import LogConfig
from dataplane.log.manager.log_manager import LogManagerSettings
from dataplane.log.paths import future_directory_name, parse_future_directory
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.runtime.os_filesystem import OsFileSystem
from tests.dataplane.log.manager.test_log_manager import A0, A1, B0, TOPIC_ID, Host
from tests.dataplane.log.support import append, read_all


def begun(host: Host, records: int = 30):
    """A log in /d1 that has begun to move to /d2."""
    manager = host.start()
    log = host.create(manager, A0)
    for number in range(records):
        append(log, 1, epoch=number // 10)
    log.update_high_watermark(records - 2)
    manager.future_replicas.begin(A0, "/d2")
    return manager, log


def finish(manager, steps: int = 100, size: int = 500) -> None:
    for _ in range(steps):
        manager.future_replicas.step(size)
    assert not manager.future_replicas.is_busy


def test_the_copy_catches_up_and_takes_the_place():
    host = Host()
    manager, log = begun(host)
    seen = []
    manager.future_replicas.on_promoted(lambda tp, new: seen.append((tp, new)))
    log.assign_epoch_start(7, log.log_end_offset)
    manager.future_replicas.step(500)
    append(log, 1, epoch=7)
    (_, target) = manager.directories()
    assert target.futures[A0].is_future
    assert 0 < target.futures[A0].log_end_offset < 31
    assert not target.logs
    piece = log.read(0, 100, 31)
    finish(manager)
    new = manager.get(A0)
    assert seen == [(A0, new)]
    assert new is not log
    assert new.directory == "/d2/a-0"
    assert read_all(new) == list(range(31))
    assert new.epoch_entries == log.epoch_entries == ((0, 0), (1, 10), (2, 20), (7, 30))
    assert new.high_watermark == 28
    assert len(piece.read()) == piece.size, "a fetch under way reads on from the old files"
    assert not host.fs.exists("/d1/a-0")
    assert "a 0 28" in host.text("/d2/replication-offset-checkpoint")
    append(new, 2, epoch=7)
    new.roll()
    new.close()
    assert host.fs.exists("/d2/a-0/00000000000000000033.snapshot")
    assert not host.fs.exists("/d2/a-0/00000000000000000000.log.deleted")
    host.tick(manager, 0)
    host.tick(manager, 61_000)
    assert not [p for p in host.fs.paths() if p.startswith("/d1/a-0")]


def test_idempotent_producers_are_known_after_the_move():
    host = Host()
    manager = host.start()
    log = host.create(manager, A0)
    append(log, 2, producer_id=4, producer_epoch=0, base_sequence=0)
    manager.future_replicas.begin(A0, "/d2")
    finish(manager)
    again = append(manager.get(A0), 2, producer_id=4, producer_epoch=0, base_sequence=0)
    assert again.duplicate


def test_a_restart_in_the_middle_begins_the_copy_again():
    host = Host()
    manager, log = begun(host)
    manager.future_replicas.step(500)
    manager.shutdown()
    manager = host.start()
    assert read_all(manager.get(A0)) == list(range(30))
    assert manager.get(A0).directory == "/d1/a-0"
    manager.future_replicas.resume()
    assert manager.future_replicas.is_busy
    finish(manager)
    assert manager.get(A0).directory == "/d2/a-0"
    host.tick(manager, 0)
    host.tick(manager, 61_000)
    assert not [p for p in host.fs.paths() if "future" in p or "delete" in p]
    del log


def test_a_crash_between_the_two_renames_keeps_the_newer_copy():
    host = Host()
    manager, _ = begun(host)
    host.fs.fail("rename", "/d1/a-0")
    finish(manager)
    assert [str(r.error.name) for r in manager.directories()] == ["KAFKA_STORAGE_ERROR", "NONE"]
    append(manager.get(A0), 3, epoch=9)
    host.fs.crash(lambda _path, _synced, size: size)
    manager = host.start()
    assert manager.get(A0).directory == "/d2/a-0"
    assert read_all(manager.get(A0)) == list(range(33))
    assert [n for n in host.fs.list_dir("/d1") if n.endswith("-stray")], "nothing is thrown away"


def test_truncation_of_the_replica_while_it_moves():
    host = Host()
    manager, log = begun(host)
    for _ in range(4):
        manager.future_replicas.step(500)
    log.truncate_to(3)
    append(log, 2, epoch=9)
    finish(manager)
    assert read_all(manager.get(A0)) == [0, 1, 2, 3, 4]
    assert manager.get(A0).epoch_at(4) == 9


def test_log_start_that_moves_on_while_the_replica_moves():
    host = Host()
    manager, log = begun(host)
    manager.future_replicas.step(500)
    log.delete_records_before(20)
    finish(manager)
    assert manager.get(A0).log_start_offset == 20
    assert read_all(manager.get(A0)) == list(range(20, 30))


def test_what_cannot_be_moved_and_why():
    host = Host(dirs=("/d1", "/d2", "/d3"))
    manager = host.start()
    for tp in (A0, A1):
        host.create(manager, tp)

    def code(tp, path):
        with pytest.raises(KafkaError) as caught:
            manager.future_replicas.begin(tp, path)
        return caught.value.code

    assert code(A0, "/elsewhere") == ErrorCode.LOG_DIR_NOT_FOUND
    assert code(B0, "/d2") == ErrorCode.REPLICA_NOT_AVAILABLE
    assert host.create(manager, B0).directory == "/d2/b-c-0", "made where it was asked to be"
    manager.future_replicas.begin(A0, "/d1")
    assert not manager.future_replicas.is_busy, "it is there already"
    manager.future_replicas.begin(A0, "/d3")
    manager.future_replicas.begin(A0, "/d1")
    assert not manager.future_replicas.is_busy, "back to where it is: the move ends"
    host.fs.fail("append", "/d2", number=5)
    with pytest.raises(KafkaError):
        append(manager.get(A1))
    assert code(A0, "/d2") == ErrorCode.KAFKA_STORAGE_ERROR


def test_another_target_takes_over_from_the_first():
    host = Host(dirs=("/d1", "/d2", "/d3"))
    manager, _ = begun(host)
    manager.future_replicas.step(500)
    manager.future_replicas.begin(A0, "/d3")
    finish(manager)
    assert manager.get(A0).directory == "/d3/a-0"


@pytest.mark.parametrize("part", ["/d2", "/d1"])
def test_a_directory_that_fails_ends_the_move(part):
    host = Host()
    manager, log = begun(host)
    manager.future_replicas.step(500)
    if part == "/d2":
        host.fs.fail("append", "-future")
        manager.future_replicas.step(500)
        assert manager.get(A0) is log
        assert read_all(log) == list(range(30))
    else:
        host.fs.fail("append", "/d1/a-0")
        with pytest.raises(KafkaError):
            append(log)
        assert manager.get(A0) is None
    assert not manager.future_replicas.is_busy


def test_a_deleted_replica_takes_its_copy_along():
    host = Host()
    manager, _ = begun(host)
    manager.future_replicas.step(500)
    manager.delete_async(A0)
    assert not manager.future_replicas.is_busy
    host.tick(manager, 0)
    host.tick(manager, 61_000)
    assert not [p for p in host.fs.paths() if "a-0" in p]


def test_names_of_copies():
    name = future_directory_name(A0, TOPIC_ID)
    assert name == f"a-0.{TOPIC_ID.hex}-future"
    assert parse_future_directory(name) == A0
    for other in ("a-0", "a-0-future", f"a-0.{TOPIC_ID.hex}-delete", "x.y-future"):
        assert parse_future_directory(other) is None


def test_a_move_on_real_files_goes_on_with_the_same_descriptors(tmp_path):
    dirs = (str(tmp_path / "d1"), str(tmp_path / "d2"))
    host = Host(
        dirs=dirs,
        fs=OsFileSystem(),
        config=LogConfig(segment_bytes=400, index_interval_bytes=50),
        settings=LogManagerSettings(file_delete_delay_ms=0),
    )
    manager = host.start()
    log = host.create(manager, A0)
    for _ in range(20):
        append(log)
    manager.future_replicas.begin(A0, dirs[1])
    finish(manager)
    new = manager.get(A0)
    for _ in range(20):
        append(new)
    assert read_all(new) == list(range(40))
    host.tick(manager, 0)
    host.tick(manager, 1_000)
    assert not list((tmp_path / "d1").glob("a-0*"))
    manager.shutdown()
    manager = host.start()
    assert manager.get(A0).recovered.scanned_bytes == 0
    assert read_all(manager.get(A0)) == list(range(40))
    manager.shutdown()
