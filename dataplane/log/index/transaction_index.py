"""`.txnindex`: the aborted transactions of a segment (KIP-98).

Entry of 34 bytes: int16 version 0, int64 producer id, int64 first offset, int64 last offset,
int64 last stable offset when the abort was written.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from dataplane.log import paths
from dataplane.model.integers import INT64_MAX
from dataplane.ports.filesystem import read_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.ports.filesystem import FileSystem

_ENTRY = struct.Struct(">hqqqq")
_LAST_OFFSET = attrgetter("last_offset")
NO_OFFSET = -1


class AbortedTransaction(NamedTuple):
    """A transaction whose records `read_committed` consumers must drop."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def write_rows(fs: FileSystem, path: str, rows: Iterable[AbortedTransaction]) -> None:
    """A new `.txnindex` file with these rows."""
    file = fs.open(path, create=True)
    try:
        file.append(b"".join(_ENTRY.pack(0, *row) for row in rows))
    finally:
        file.close()


class TransactionIndex:
    """Aborted transactions of one partition, one file a segment that saw an abort."""

    def __init__(self, fs: FileSystem, directory: str) -> None:
        self._fs = fs
        self._directory = directory
        self._entries: dict[int, list[AbortedTransaction]] = {}
        self.last_offset = NO_OFFSET
        """The last marker of an abort: behind it there is none to drop. NO_OFFSET without any."""

    def relocate(self, directory: str) -> None:
        self._directory = directory

    def load(self, base_offset: int, below: int = INT64_MAX) -> bool:
        """Read a segment's file, if there is one; what ended at `below` or later is cut off it.

        False if the file is torn or makes no sense.
        """
        try:
            raw = read_whole(self._fs, self._path(base_offset))
        except FileNotFoundError:
            return True
        if len(raw) % _ENTRY.size:
            return False
        rows = []
        for version, *fields in _ENTRY.iter_unpack(raw):
            row = AbortedTransaction(*fields)
            if version or not 0 <= row.first_offset <= row.last_offset >= base_offset:
                return False
            rows.append(row)
        kept = [row for row in rows if row.last_offset < below]
        if len(kept) != len(rows):
            self._fs.remove(self._path(base_offset))
            if kept:
                write_rows(self._fs, self._path(base_offset), kept)
        if kept:
            self._entries[base_offset] = kept
            self._find_last()
        else:
            self.drop(base_offset)
        return True

    def append(self, base_offset: int, aborted: AbortedTransaction) -> None:
        self._entries.setdefault(base_offset, []).append(aborted)
        self.last_offset = max(self.last_offset, aborted.last_offset)
        file = self._fs.open(self._path(base_offset), create=True)
        try:
            file.append(_ENTRY.pack(0, *aborted))
        finally:
            file.close()

    def forget(self, base_offset: int) -> None:
        """The segment is gone, or is about to be scanned again."""
        self.drop(base_offset)
        self._fs.remove(self._path(base_offset))

    def drop(self, base_offset: int) -> None:
        """The segment is gone and so is its file."""
        if self._entries.pop(base_offset, None) is not None:
            self._find_last()

    def _find_last(self) -> None:
        ends = (rows[-1].last_offset for rows in self._entries.values())
        self.last_offset = max(ends, default=NO_OFFSET)

    def truncate_to(self, offset: int) -> None:
        """Drop aborts whose marker lies at `offset` or later."""
        for base_offset, rows in list(self._entries.items()):
            kept = [row for row in rows if row.last_offset < offset]
            if len(kept) != len(rows):
                self.forget(base_offset)
                for row in kept:
                    self.append(base_offset, row)

    @property
    def is_empty(self) -> bool:
        return not self._entries

    def overlapping(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Aborted transactions with records in [start, end), by marker offset.

        A segment's rows are in the order of their markers, and of the last stable offsets: what
        ended before `start` is skipped by halves, and one behind which all up to `end` was stable
        is the last that can matter.
        """
        found: list[AbortedTransaction] = []
        for base_offset in sorted(self._entries):
            rows = self._entries[base_offset]
            if rows[-1].last_offset < start_offset:
                continue
            for row in rows[bisect_left(rows, start_offset, key=_LAST_OFFSET) :]:
                if row.first_offset < end_offset:
                    found.append(row)
                if row.last_stable_offset >= end_offset:
                    return found
        return found

    def _path(self, base_offset: int) -> str:
        return paths.segment_path(self._directory, base_offset, paths.TRANSACTION_INDEX)
