"""A machine's disk with a page cache, on top of the in-memory file system.

Killing a process loses nothing: the page cache is the kernel's. Losing power loses or tears what was
not synced. Handles belong to a process: after its end they refuse, as closed descriptors would.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from random import Random

from dataplane.ports.fakes.filesystem import UNLIMITED_BYTES, MemoryFileSystem
from dataplane.ports.filesystem import Buffer, DiskUsage, File, Lock

PAGE_BYTES = 4096


class Disk(MemoryFileSystem):
    """What a machine keeps. `broken` names directories that can be neither read nor written, until
    somebody takes them out; what was in them is there again then.
    """

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random
        self.lost_bytes = 0
        self.holes = 0
        self.broken: set[str] = set()
        self._tear: Callable[[], None] | None = None

    def trip(self, operation: str, path: str) -> None:
        if any(path == broken or path.startswith(f"{broken}/") for broken in self.broken):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        super().trip(operation, path)

    def tear_next_append(self, die: Callable[[], None]) -> None:
        """The next append to a log file writes a part of its bytes, and its process dies in it."""
        self._tear = die

    def finish_waiting_to_tear(self) -> None:
        self._tear = None

    def torn_part(self, path: str, size: int) -> int | None:
        """How much of an append is carried out before its process dies; None: all, and it lives."""
        if self._tear is None or not path.endswith(".log") or size < 2:
            return None
        return self._random.randrange(1, size)

    def finish_tearing(self) -> None:
        die, self._tear = self._tear, None
        if die is not None:
            die()

    def lose_power(self) -> int:
        """Drop or tear what was not synced; how many bytes went."""
        before = self.lost_bytes
        mode = self._random.choice(("none", "some", "torn"))
        for _path, node in sorted(self._files.items()):
            size, synced = len(node.data), node.synced_size
            if size <= synced:
                continue
            keep = synced if mode == "none" else self._random.randint(synced, size)
            self.lost_bytes += size - keep
            del node.data[keep:]
            if mode == "torn" and keep > synced and self._random.random() < 0.5:
                # Pages reach the disk in any order: a hole of zeros among what was written.
                hole = self._random.randint(synced, keep - 1)
                end = min(keep, hole + self._random.choice((1, 64, PAGE_BYTES)))
                node.data[hole:end] = bytes(end - hole)
                self.holes += 1
                self.lost_bytes += end - hole
            node.synced_size = len(node.data)
        self.locked.clear()
        return self.lost_bytes - before

    def fill_up(self, left_bytes: int) -> None:
        """No space but `left_bytes`, until `mend`."""
        self.capacity_bytes = sum(len(node.data) for node in self._files.values()) + left_bytes

    def mend(self) -> None:
        self.capacity_bytes = UNLIMITED_BYTES
        self._faults.clear()
        self._tear = None

    def process_view(self) -> ProcessFiles:
        return ProcessFiles(self)


class ProcessFiles:
    """The `FileSystem` of one process; dead after `end`."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self._locks: set[str] = set()
        self.is_dead = False

    def end(self) -> None:
        self.is_dead = True
        self.disk.locked -= self._locks

    def _alive(self) -> Disk:
        if self.is_dead:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self.disk

    def open(self, path: str, *, create: bool = False) -> File:
        return _ProcessFile(self, self._alive().open(path, create=create))  # type: ignore[return-value]

    def exists(self, path: str) -> bool:
        return self._alive().exists(path)

    def list_dir(self, path: str) -> list[str]:
        return self._alive().list_dir(path)

    def file_sizes(self, path: str) -> dict[str, int]:
        return self._alive().file_sizes(path)

    def is_dir(self, path: str) -> bool:
        return self._alive().is_dir(path)

    def make_dirs(self, path: str) -> None:
        self._alive().make_dirs(path)

    def rename(self, old: str, new: str) -> None:
        self._alive().rename(old, new)

    def remove(self, path: str) -> None:
        self._alive().remove(path)

    def sync_dir(self, path: str) -> None:
        self._alive().sync_dir(path)

    def usage(self, path: str) -> DiskUsage:
        return self._alive().usage(path)

    def lock(self, path: str) -> Lock:
        lock = self._alive().lock(path)
        self._locks.add(path)
        return lock


def _guarded(name: str) -> Callable[..., object]:
    def call(self: _ProcessFile, *args: object) -> object:
        if self._files.is_dead:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return getattr(self._file, name)(*args)

    return call


class _ProcessFile:
    """A descriptor."""

    __slots__ = ("_file", "_files")

    def __init__(self, files: ProcessFiles, file: File) -> None:
        self._files = files
        self._file = file

    @property
    def path(self) -> str:
        return self._file.path

    def fileno(self) -> int:
        return -1

    def close(self) -> None:
        self._file.close()

    def append(self, *parts: Buffer) -> None:
        disk = self._files.disk
        data = b"".join(parts)
        part = None if self._files.is_dead else disk.torn_part(self.path, len(data))
        if part is None:
            self._append(data)
            return
        self._file.append(data[:part])
        disk.finish_tearing()
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    size = _guarded("size")
    _append = _guarded("append")
    read_at = _guarded("read_at")
    read_into = _guarded("read_into")
    reserve = _guarded("reserve")
    truncate = _guarded("truncate")
    sync = _guarded("sync")
