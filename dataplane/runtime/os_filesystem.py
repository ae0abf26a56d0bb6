"""The file system of the machine behind the `FileSystem` port."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from dataplane.ports.filesystem import Buffer, DiskUsage, File, Lock
from dataplane.runtime.preallocation import preallocate

FREE_TIMES_MIN = 100
PARTS_MAX = os.sysconf("SC_IOV_MAX")
_OPEN_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


class OsFile:
    """An open file: one descriptor, appended by `write`, read by `pread`."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @property
    def path(self) -> str:
        return self._path

    def fileno(self) -> int:
        return self._descriptor

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def append(self, *parts: Buffer) -> None:
        if len(parts) == 1:
            data = parts[0]
            written = os.write(self._descriptor, data)
            if written != len(data):
                self._finish(memoryview(data), written)
            return
        if len(parts) > PARTS_MAX:
            self.append(b"".join(parts))
            return
        written = os.writev(self._descriptor, parts)
        if written != sum(map(len, parts)):
            self._finish(memoryview(b"".join(parts)), written)

    def _finish(self, data: memoryview, written: int) -> None:
        """Write the rest of a short write; on error take back what was written."""
        start = self.size() - written
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError:
            os.ftruncate(self._descriptor, start)
            raise

    def read_at(self, position: int, size: int) -> bytes:
        return os.pread(self._descriptor, size, position)

    def read_into(self, position: int, buffer: bytearray | memoryview) -> int:
        return os.preadv(self._descriptor, (buffer,), position)

    def reserve(self, size: int) -> None:
        count = size - self.size()
        volume = os.fstatvfs(self._descriptor)
        # On a volume that runs full, what is set aside would be missing elsewhere.
        if 0 < count * FREE_TIMES_MIN < volume.f_bavail * volume.f_frsize:
            preallocate(self._descriptor, size - count, count)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def sync(self) -> None:
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class OsLock:
    """An exclusive `flock`, gone with the process that holds it."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class OsFileSystem:
    """Directories of this machine."""

    def open(self, path: str, *, create: bool = False) -> File:
        flags = _OPEN_FLAGS | os.O_CREAT if create else _OPEN_FLAGS
        return OsFile(path, os.open(path, flags, 0o644))

    def exists(self, path: str) -> bool:
        return Path(path).exists()

    def list_dir(self, path: str) -> list[str]:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries)

    def file_sizes(self, path: str) -> dict[str, int]:
        with os.scandir(path) as entries:
            # A link counts as what it leads to, as in `open`.
            return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}

    def is_dir(self, path: str) -> bool:
        return Path(path).is_dir()

    def make_dirs(self, path: str) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new)  # noqa: PTH105  # a Path costs more than the call; elections make many

    def remove(self, path: str) -> None:
        try:
            os.unlink(path)  # noqa: PTH108  # a Path costs more than the call; elections make many
        except FileNotFoundError:
            return
        except (IsADirectoryError, PermissionError):
            # Linux says the first for a directory, POSIX the second.
            if not Path(path).is_dir():
                raise
            import shutil

            shutil.rmtree(path)

    def sync_dir(self, path: str) -> None:
        descriptor = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def usage(self, path: str) -> DiskUsage:
        volume = os.statvfs(path)
        return DiskUsage(volume.f_blocks * volume.f_frsize, volume.f_bavail * volume.f_frsize)

    def lock(self, path: str) -> Lock:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise
        return OsLock(descriptor)
