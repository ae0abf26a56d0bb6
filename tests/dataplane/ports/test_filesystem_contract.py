"""The real file system and the one in memory answer alike."""

from __future__ import annotations

import contextlib
import errno
import os
import resource

import pytest

from dataplane.ports.fakes.filesystem import MemoryFileSystem
from dataplane.ports.filesystem import FileSystem, read_whole, replace_whole
from dataplane.runtime.os_filesystem import PARTS_MAX, OsFileSystem


@pytest.fixture(params=["memory", "machine"])
def place(request, tmp_path) -> tuple[FileSystem, str]:
    if request.param == "machine":
        return OsFileSystem(), str(tmp_path)
    fs = MemoryFileSystem()
    fs.make_dirs("/root")
    return fs, "/root"


def test_append_read_truncate(place):
    fs, root = place
    file = fs.open(f"{root}/f", create=True)
    file.append(b"hello ")
    file.append(memoryview(b"world"))
    file.append(bytearray(b"!"))
    assert file.size() == 12
    assert file.read_at(6, 5) == b"world"
    assert file.read_at(10, 100) == b"d!"
    assert file.read_at(50, 1) == b""
    buffer = bytearray(4)
    assert file.read_into(10, buffer) == 2
    assert bytes(buffer[:2]) == b"d!"
    file.truncate(5)
    file.append(b"?")
    file.sync()
    assert read_whole(fs, f"{root}/f") == b"hello?"
    file.close()
    file.close()


@pytest.mark.parametrize(("position", "size"), [(-1, 1), (-(1 << 31), 61), (0, -1)])
def test_reading_where_there_is_nothing_is_an_error(place, position, size):
    """A damaged index may name such a place: no silence here that the machine would not keep."""
    fs, root = place
    file = fs.open(f"{root}/f", create=True)
    file.append(b"hello")
    with pytest.raises(OSError, match="Invalid argument"):
        file.read_at(position, size)
    file.close()


def test_opening_what_is_not_there(place):
    fs, root = place
    with pytest.raises(FileNotFoundError):
        fs.open(f"{root}/absent")
    with pytest.raises(FileNotFoundError):
        fs.open(f"{root}/no/dir", create=True)
    with pytest.raises(FileNotFoundError):
        fs.list_dir(f"{root}/absent")


def test_names(place):
    fs, root = place
    fs.make_dirs(f"{root}/a/b")
    fs.make_dirs(f"{root}/a/b")
    fs.open(f"{root}/a/f", create=True).close()
    fs.open(f"{root}/a/b/g", create=True).close()
    assert fs.list_dir(root) == ["a"]
    assert fs.list_dir(f"{root}/a") == ["b", "f"]
    assert fs.is_dir(f"{root}/a/b")
    assert not fs.is_dir(f"{root}/a/f")
    fs.rename(f"{root}/a", f"{root}/z")
    assert not fs.exists(f"{root}/a/f")
    assert fs.exists(f"{root}/z/b/g")
    fs.remove(f"{root}/z/f")
    fs.remove(f"{root}/z/f")
    fs.remove(f"{root}/z")
    assert fs.list_dir(root) == []
    fs.sync_dir(root)
    assert fs.usage(root).total_bytes >= fs.usage(root).usable_bytes > 0


def test_open_file_outlives_its_name(place):
    fs, root = place
    file = fs.open(f"{root}/f", create=True)
    file.append(b"x")
    fs.rename(f"{root}/f", f"{root}/g")
    file.append(b"y")
    fs.remove(f"{root}/g")
    assert file.read_at(0, 9) == b"xy"


def test_replace_whole(place):
    fs, root = place
    for content in (b"one", b"two and longer", b""):
        replace_whole(fs, f"{root}/f", content)
        assert read_whole(fs, f"{root}/f") == content
    assert fs.list_dir(root) == ["f"]


def test_lock_is_exclusive_until_released(place):
    fs, root = place
    lock = fs.lock(f"{root}/.lock")
    with pytest.raises(BlockingIOError):
        fs.lock(f"{root}/.lock")
    lock.release()
    lock.release()
    fs.lock(f"{root}/.lock").release()


# --- what only the one in memory can do ---


def test_crash_loses_what_was_not_synced():
    fs = MemoryFileSystem()
    file = fs.open("/f", create=True)
    file.append(b"kept")
    file.sync()
    file.append(b"lost")
    fs.crash()
    assert read_whole(fs, "/f") == b"kept"
    file = fs.open("/f")
    file.append(b"torn")
    fs.crash(lambda _path, synced, _size: synced + 2)
    assert read_whole(fs, "/f") == b"keptto"


def test_replace_without_sync_may_leave_an_empty_file_and_with_sync_never():
    for sync, expected in ((True, b"new"), (False, b"")):
        fs = MemoryFileSystem()
        replace_whole(fs, "/f", b"old")
        replace_whole(fs, "/f", b"new", sync=sync)
        fs.crash()
        assert read_whole(fs, "/f") == expected


def test_armed_faults_trip_once_each_and_full_disks_refuse_whole_appends():
    fs = MemoryFileSystem(capacity_bytes=10)
    file = fs.open("/f", create=True)
    fs.fail("append", "/f", number=errno.EIO, times=2)
    for _ in range(2):
        with pytest.raises(OSError, match="Input/output"):
            file.append(b"x")
    file.append(b"12345678")
    with pytest.raises(OSError, match="No space"):
        file.append(b"9AB")
    assert read_whole(fs, "/f") == b"12345678"


def test_short_write_on_a_real_full_disk_is_taken_back(tmp_path, monkeypatch):
    fs = OsFileSystem()
    file = fs.open(str(tmp_path / "f"), create=True)
    file.append(b"before")
    real, calls = os.write, []

    def short(descriptor: int, data) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "full")
        return real(descriptor, bytes(data)[:3])

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(OSError, match="full"):
        file.append(b"abcdef")
    monkeypatch.undo()
    assert file.read_at(0, 99) == b"before"
    file.append(b"!")
    assert file.read_at(0, 99) == b"before!"


def parts_of(count: int) -> list[bytes | bytearray | memoryview]:
    kinds = (bytes, bytearray, memoryview)
    return [kinds[number % 3](b"%d," % number) for number in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, PARTS_MAX, PARTS_MAX + 1, 3 * PARTS_MAX])
def test_appends_of_several_parts(place, count):
    fs, root = place
    file = fs.open(f"{root}/f", create=True)
    file.append(b"before")
    parts = parts_of(count)
    file.append(*parts)
    file.append(b"", b"", b"behind")
    assert read_whole(fs, f"{root}/f") == b"".join([b"before", *parts, b"behind"])
    file.close()


@contextlib.contextmanager
def no_file_larger_than(size_bytes: int):
    """The kernel writes up to there, and says how much that was; then it refuses (EFBIG)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("count", [1, 2, 100, PARTS_MAX, PARTS_MAX + 1])
def test_parts_that_do_not_fit_leave_the_file_as_it_was(tmp_path, count):
    fs = OsFileSystem()
    file = fs.open(str(tmp_path / "f"), create=True)
    file.append(b"before")
    parts = parts_of(count)
    size_bytes = sum(map(len, parts))
    for fitting in {0, 1, size_bytes // 2, size_bytes - 1}:
        with no_file_larger_than(6 + fitting), pytest.raises(OSError, match="too large"):
            file.append(*parts)
        assert file.size() == 6
    with no_file_larger_than(6 + size_bytes):
        file.append(*parts)
    assert file.read_at(0, 1 << 20) == b"".join([b"before", *parts])
    file.close()


@pytest.mark.parametrize("is_refused", [False, True])
@pytest.mark.parametrize("first", [0, 1, 3, 7, 11])
def test_a_short_write_of_parts_goes_on_or_is_taken_back(tmp_path, monkeypatch, first, is_refused):
    fs = OsFileSystem()
    file = fs.open(str(tmp_path / "f"), create=True)
    file.append(b"before")
    write = os.write
    left = [2, 1, 5, 100] if not is_refused else [2, 1]

    def short(descriptor: int, parts) -> int:
        return write(descriptor, b"".join(parts)[:first])

    def shorter(descriptor: int, data) -> int:
        if not left:
            raise OSError(errno.EIO, "no more")
        return write(descriptor, bytes(data)[: left.pop(0)])

    parts = (b"abcd", bytearray(b"efg"), memoryview(b"hijklmnop"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "writev", short)
        patch.setattr(os, "write", shorter)
        with pytest.raises(OSError, match="no more") if is_refused else contextlib.nullcontext():
            file.append(*parts)
    kept = b"before" if is_refused else b"before" + b"".join(parts)
    assert file.read_at(0, 99) == kept
    file.append(b"!", b"?")
    assert file.read_at(0, 99) == kept + b"!?"
    file.close()


def test_a_full_disk_in_memory_refuses_all_parts():
    fs = MemoryFileSystem(capacity_bytes=10)
    file = fs.open("/f", create=True)
    with pytest.raises(OSError, match="No space"):
        file.append(b"123456", b"789012")
    assert file.size() == 0
    file.append(b"12345", b"67890")
    assert file.size() == 10
