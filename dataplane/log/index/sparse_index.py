"""Entries of fixed width, strictly growing, in a file: the base of offset and time index.

New entries are gathered in memory and written a page at a time; what a crash loses of them,
recovery rebuilds from the log, because the recovery point only moves after `flush`.
"""

from __future__ import annotations

import errno
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import struct

    from dataplane.ports.filesystem import File, FileSystem

_PENDING_MAX_BYTES = 4096
STRETCH_ENTRIES = 2048


class SparseIndex:
    """Appends at the end, binary search by any monotone field, cut from the end."""

    __slots__ = ("_entry", "_file", "_fs", "_pending", "_torn_bytes", "_width", "_written", "path")

    def __init__(
        self, fs: FileSystem, path: str, entry: struct.Struct, size_bytes: int | None = None
    ) -> None:
        """`size_bytes` is the file's, for who has just looked: it is then opened when needed."""
        self.path = path
        self._fs = fs
        self._entry = entry
        self._width = entry.size
        self._file: File | None = None
        self._pending = bytearray()
        self._written = -1  # entries in the file, -1 before the file was looked at
        self._torn_bytes = 0
        if size_bytes is not None:
            self._take_size(size_bytes)

    def __len__(self) -> int:
        if self._written < 0:
            self._open()
        return self._written + len(self._pending) // self._width

    @property
    def size_bytes(self) -> int:
        return len(self) * self._width

    def _open(self) -> File:
        file = self._file
        if file is None:
            file = self._file = self._fs.open(self.path, create=True)
            if self._written < 0:
                self._take_size(file.size())
        return file

    def _take_size(self, size_bytes: int) -> None:
        """An odd tail is a torn write: whole entries before it are good."""
        self._written, self._torn_bytes = divmod(size_bytes, self._width)

    def append_packed(self, packed: bytes) -> None:
        self._pending += packed
        if len(self._pending) >= _PENDING_MAX_BYTES:
            self.flush()

    def entry(self, number: int) -> tuple[int, int]:
        if self._written < 0:
            self._open()
        behind = number - self._written
        if behind >= 0:
            first, second = self._entry.unpack_from(self._pending, behind * self._width)
        else:
            raw = self._open().read_at(number * self._width, self._width)
            first, second = self._entry.unpack(raw)
        return first, second

    def run(self, first: int, count: int) -> bytes:
        """Up to `count` packed entries from number `first` on, in one read at most."""
        if self._written < 0:
            self._open()
        width, written = self._width, self._written
        raw = b""
        if first < written:
            file = self._file or self._open()
            raw = file.read_at(first * width, min(count, written - first) * width)
        left = first + count - written
        if left > 0:
            raw += self._pending[max(0, first - written) * width : left * width]
        return raw

    def count_below(self, bound: int, field: int, *, inclusive: bool = False) -> int:
        """How many entries have a `field` (0 or 1) below `bound`, or at it: they come first.

        Binary search by single entries down to a stretch that one read takes in. `OSError`.
        """
        low, high = 0, len(self)
        while high - low > STRETCH_ENTRIES:
            middle = (low + high) // 2
            value = self.entry(middle)[field]
            if value < bound or (inclusive and value == bound):
                low = middle + 1
            else:
                high = middle
        if low == high:
            return low
        raw, width, unpack = self.run(low, high - low), self._width, self._entry.unpack_from
        if len(raw) < (high - low) * width:
            raise OSError(errno.EIO, "The index is shorter than it was", self.path)
        search = bisect_right if inclusive else bisect_left
        return low + search(range(high - low), bound, key=lambda n: unpack(raw, n * width)[field])

    def is_torn(self) -> bool:
        """Whether the file holds a part of an entry."""
        if self._written < 0:
            self._open()
        return self._torn_bytes != 0

    def truncate_entries(self, count: int) -> None:
        """Keep the first `count` entries."""
        if self._written < 0:
            self._open()
        kept = min(count, self._written)
        if kept < self._written or self._torn_bytes:
            self._open().truncate(kept * self._width)
        self._written, self._torn_bytes = kept, 0
        del self._pending[(count - kept) * self._width :]

    def flush(self) -> None:
        """Hand pending entries to the file (not yet to the disk). Makes sure the file exists."""
        if self._written < 0:
            self._open()
        if self._pending:
            file = self._open()
            if self._torn_bytes:
                file.truncate(self._written * self._width)
                self._torn_bytes = 0
            try:
                file.append(self._pending)
            except OSError:
                self._torn_bytes = 1  # as far as anybody knows
                raise
            self._written += len(self._pending) // self._width
            self._pending.clear()

    def close(self) -> None:
        """Write what is pending and give the descriptor back; the next use opens it again."""
        self.flush()
        self.release()

    def release(self) -> None:
        """Give the descriptor back without writing anything.

        How many entries the file holds stays known: nobody else writes to it.
        """
        if self._file is not None:
            self._file.close()
            self._file = None
        self._pending.clear()
