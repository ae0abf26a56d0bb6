"""`.txnindex`: the aborted transactions of a segment (KIP-98).

Entry of 34 bytes: int16 version 0, int64 producer id, int64 first offset, int64 last offset,
int64 last stable offset when the abort was written.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from dataplane.log import paths
from dataplane.ports.filesystem import read_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.ports.filesystem import FileSystem

_ENTRY = struct.Struct(">hqqqq")


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

    def relocate(self, directory: str) -> None:
        self._directory = directory

    def load(self, base_offset: int) -> None:
        """Read a segment's file, if there is one; a torn end is ignored."""
        try:
            raw = read_whole(self._fs, self._path(base_offset))
        except FileNotFoundError:
            return
        whole = len(raw) - len(raw) % _ENTRY.size
        rows = [AbortedTransaction(*row[1:]) for row in _ENTRY.iter_unpack(raw[:whole])]
        if rows:
            self._entries[base_offset] = rows

    def append(self, base_offset: int, aborted: AbortedTransaction) -> None:
        self._entries.setdefault(base_offset, []).append(aborted)
        file = self._fs.open(self._path(base_offset), create=True)
        try:
            file.append(_ENTRY.pack(0, *aborted))
        finally:
            file.close()

    def forget(self, base_offset: int) -> None:
        """The segment is gone, or is about to be scanned again."""
        if self._entries.pop(base_offset, None) is not None:
            self._fs.remove(self._path(base_offset))

    def drop(self, base_offset: int) -> None:
        """The segment is gone and so is its file."""
        self._entries.pop(base_offset, None)

    def truncate_to(self, offset: int) -> None:
        """Drop aborts whose marker lies at `offset` or later."""
        for base_offset, rows in list(self._entries.items()):
            kept = [row for row in rows if row.last_offset < offset]
            if len(kept) != len(rows):
                self.forget(base_offset)
                for row in kept:
                    self.append(base_offset, row)

    def overlapping(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Aborted transactions with records in [start, end), by marker offset."""
        found = [
            row
            for rows in self._entries.values()
            for row in rows
            if row.last_offset >= start_offset and row.first_offset < end_offset
        ]
        return sorted(found, key=lambda row: row.last_offset)

    def _path(self, base_offset: int) -> str:
        return paths.segment_path(self._directory, base_offset, paths.TRANSACTION_INDEX)
