"""A file system in memory that can lose what was not synced, run full, and fail on demand.

Model of a crash: names (creations, renames, removals) survive in the order they were made, as on
a journaling file system; content survives up to the last `sync`, and beyond it as far as the
caller of `crash` says. A file that was truncated and not synced stays truncated.
"""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Callable

from dataplane.ports.filesystem import Buffer, DiskUsage, File, Lock

UNLIMITED_BYTES = 1 << 50


@dataclasses.dataclass(slots=True)
class _Node:
    data: bytearray = dataclasses.field(default_factory=bytearray)
    synced_size: int = 0
    reserved_size: int = 0


@dataclasses.dataclass(slots=True)
class _Fault:
    operation: str
    path_part: str
    number: int
    times: int


class MemoryFile:
    """A handle on a file of `MemoryFileSystem`."""

    def __init__(self, fs: MemoryFileSystem, path: str, node: _Node) -> None:
        self._fs = fs
        self._path = path
        self._node = node
        self.closed = False

    @property
    def path(self) -> str:
        return self._path

    def fileno(self) -> int:
        return -1

    def size(self) -> int:
        return len(self._node.data)

    def append(self, *parts: Buffer) -> None:
        self._check("append")
        data = b"".join(parts)
        if len(data) > self._fs.free_bytes():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._path)
        self._node.data += data

    def read_at(self, position: int, size: int) -> bytes:
        self._check("read")
        if position < 0 or size < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), self._path)
        return bytes(memoryview(self._node.data)[position : position + size])

    def read_into(self, position: int, buffer: bytearray | memoryview) -> int:
        chunk = self.read_at(position, len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def reserve(self, size: int) -> None:
        self._node.reserved_size = max(size, self._node.reserved_size)

    def truncate(self, size: int) -> None:
        self._check("truncate")
        self._node.reserved_size = 0
        del self._node.data[size:]
        self._node.synced_size = min(self._node.synced_size, size)

    def sync(self) -> None:
        self._check("sync")
        self._node.synced_size = len(self._node.data)

    def close(self) -> None:
        self.closed = True

    def _check(self, operation: str) -> None:
        if self.closed:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), self._path)
        self._fs.trip(operation, self._path)


class MemoryLock:
    def __init__(self, fs: MemoryFileSystem, path: str) -> None:
        self._fs = fs
        self._path = path

    def release(self) -> None:
        self._fs.locked.discard(self._path)


class MemoryFileSystem:
    """Files and directories in memory."""

    def __init__(self, *, capacity_bytes: int = UNLIMITED_BYTES) -> None:
        self.capacity_bytes = capacity_bytes
        self.locked: set[str] = set()
        self._files: dict[str, _Node] = {}
        self._directories: set[str] = {"", "/"}
        self._faults: list[_Fault] = []

    # --- the port ---

    def open(self, path: str, *, create: bool = False) -> File:
        self.trip("open", path)
        node = self._files.get(path)
        if node is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            if not self.is_dir(path.rpartition("/")[0]):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            node = self._files[path] = _Node()
        return MemoryFile(self, path, node)

    def exists(self, path: str) -> bool:
        return path in self._files or path in self._directories

    def list_dir(self, path: str) -> list[str]:
        self.trip("list", path)
        if path not in self._directories:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        prefix = path.rstrip("/") + "/"
        inside = (p for p in (*self._files, *self._directories) if p.startswith(prefix))
        return sorted({p[len(prefix) :].split("/")[0] for p in inside if len(p) > len(prefix)})

    def file_sizes(self, path: str) -> dict[str, int]:
        self.trip("list", path)
        if path not in self._directories:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        prefix = path.rstrip("/") + "/"
        return {
            p[len(prefix) :]: len(node.data)
            for p, node in self._files.items()
            if p.startswith(prefix) and "/" not in p[len(prefix) :]
        }

    def is_dir(self, path: str) -> bool:
        return path in self._directories

    def make_dirs(self, path: str) -> None:
        self.trip("make_dirs", path)
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            self._directories.add("/".join(parts[:count]))

    def rename(self, old: str, new: str) -> None:
        self.trip("rename", old)
        if old in self._files:
            self._files[new] = self._files.pop(old)
        elif old in self._directories:
            self._rename_directory(old, new)
        else:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), old)

    def remove(self, path: str) -> None:
        self.trip("remove", path)
        self._files.pop(path, None)
        if path in self._directories:
            prefix = path + "/"
            self._files = {p: n for p, n in self._files.items() if not p.startswith(prefix)}
            self._directories = {
                p for p in self._directories if p != path and not p.startswith(prefix)
            }

    def sync_dir(self, path: str) -> None:
        self.trip("sync_dir", path)

    def usage(self, path: str) -> DiskUsage:
        self.trip("usage", path)
        return DiskUsage(self.capacity_bytes, max(0, self.free_bytes()))

    def lock(self, path: str) -> Lock:
        if path in self.locked:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), path)
        self.locked.add(path)
        self._files.setdefault(path, _Node())
        return MemoryLock(self, path)

    # --- what tests and the simulator do to it ---

    def fail(
        self, operation: str, path_part: str = "", *, number: int = errno.EIO, times: int = 1
    ) -> None:
        """Let the next `times` calls of `operation` on paths holding `path_part` fail."""
        self._faults.append(_Fault(operation, path_part, number, times))

    def heal(self) -> None:
        """Take back every fault that nothing has met yet."""
        self._faults.clear()

    def crash(self, survivors: Callable[[str, int, int], int] | None = None) -> None:
        """Lose power. `survivors(path, synced_size, size)` says how much of a file is left.

        Without it exactly the synced part is left. Locks are gone, open files stay usable only
        for whoever should not have them any more.
        """
        for path, node in self._files.items():
            size = len(node.data)
            keep = survivors(path, node.synced_size, size) if survivors else node.synced_size
            del node.data[max(node.synced_size, min(keep, size)) :]
            node.synced_size = len(node.data)
        self.locked.clear()

    def content(self, path: str) -> bytearray:
        """The live bytes of a file, for tests that flip some of them."""
        return self._files[path].data

    def reserved_size(self, path: str) -> int:
        """Up to which byte blocks are set aside for a file; 0 if none are."""
        return self._files[path].reserved_size

    def paths(self) -> list[str]:
        return sorted(self._files)

    def free_bytes(self) -> int:
        if self.capacity_bytes >= UNLIMITED_BYTES:
            return UNLIMITED_BYTES
        return self.capacity_bytes - sum(len(node.data) for node in self._files.values())

    def trip(self, operation: str, path: str) -> None:
        """Raise if a fault was armed for this call."""
        for fault in self._faults:
            if fault.operation == operation and fault.path_part in path:
                fault.times -= 1
                if fault.times <= 0:
                    self._faults.remove(fault)
                raise OSError(fault.number, os.strerror(fault.number), path)

    def _rename_directory(self, old: str, new: str) -> None:
        prefix = old + "/"
        self._files = {
            (new + "/" + p[len(prefix) :] if p.startswith(prefix) else p): n
            for p, n in self._files.items()
        }
        self._directories = {
            new if p == old else (new + "/" + p[len(prefix) :] if p.startswith(prefix) else p)
            for p in self._directories
        }
