"""What the core asks of files and directories.

Paths are plain strings with `/` between parts. Every call may raise `OSError`; its `errno` says
which misfortune it was (`ENOSPC`, `EIO`, `ENOENT`).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

Buffer = bytes | bytearray | memoryview


class DiskUsage(NamedTuple):
    """Space of the volume that holds a directory."""

    total_bytes: int
    usable_bytes: int


class File(Protocol):
    """One open file that grows at its end and is read anywhere.

    Not in this contract: writing in the middle. What has been appended is only changed by
    cutting the file shorter.
    """

    @property
    def path(self) -> str: ...

    def fileno(self) -> int:
        """The descriptor, for `sendfile` and the like; -1 where there is none."""
        ...

    def size(self) -> int: ...

    def append(self, *parts: Buffer) -> None:
        """Write all parts in order at the end, or raise and leave the file as it was."""
        ...

    def read_at(self, position: int, size: int) -> bytes:
        """Up to `size` bytes from `position`; fewer only at the end of the file."""
        ...

    def read_into(self, position: int, buffer: bytearray | memoryview) -> int:
        """Fill `buffer` from `position`; returns how many bytes there were."""
        ...

    def reserve(self, size: int) -> None:
        """Have the volume set blocks aside up to `size`, if it can; the file's size stays.

        A hint: appending gets cheaper, and nothing is raised. `truncate` gives back what is
        reserved behind the new end.
        """
        ...

    def truncate(self, size: int) -> None: ...

    def sync(self) -> None:
        """Return once the content survives a power cut. May be called off the event loop."""
        ...

    def close(self) -> None: ...


class Lock(Protocol):
    """A hold on a directory that ends with the process or with `release`."""

    def release(self) -> None: ...


class FileSystem(Protocol):
    """Directories and the files in them."""

    def open(self, path: str, *, create: bool = False) -> File:
        """Open for reading and appending; `FileNotFoundError` if absent and not `create`."""
        ...

    def exists(self, path: str) -> bool: ...

    def list_dir(self, path: str) -> list[str]:
        """Names (not paths) of files and directories in `path`, sorted."""
        ...

    def file_sizes(self, path: str) -> dict[str, int]:
        """Size in bytes of every file in `path` by its name, in no order; no directories."""
        ...

    def is_dir(self, path: str) -> bool: ...

    def make_dirs(self, path: str) -> None: ...

    def rename(self, old: str, new: str) -> None:
        """Atomically give a file or a directory a new name, replacing a file of that name."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, or a directory with everything in it. Absent is not an error."""
        ...

    def sync_dir(self, path: str) -> None:
        """Return once creations, renames and removals in `path` survive a power cut."""
        ...

    def usage(self, path: str) -> DiskUsage: ...

    def lock(self, path: str) -> Lock:
        """Take the lock file `path`; `BlockingIOError` while another process holds it."""
        ...


def read_whole(fs: FileSystem, path: str) -> bytes:
    """The whole content of a small file."""
    file = fs.open(path)
    try:
        return file.read_at(0, file.size())
    finally:
        file.close()


def replace_whole(fs: FileSystem, path: str, content: bytes, *, sync: bool = True) -> None:
    """Write a small file so that a reader, or a crash, sees the old content or the new one.

    With `sync=False` a power cut may leave an empty file: only for content that can be rebuilt.
    """
    temporary = path + ".tmp"
    fs.remove(temporary)
    file = fs.open(temporary, create=True)
    try:
        file.append(content)
        if sync:
            file.sync()
    finally:
        file.close()
    fs.rename(temporary, path)
    if sync:
        fs.sync_dir(path.rpartition("/")[0])
