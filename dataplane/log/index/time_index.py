"""`.timeindex`: from a timestamp to an offset; entries grow in both.

Entry: int64 timestamp (ms), int32 offset relative to the segment's base. An entry says: no record
up to that offset is later than this timestamp. The last entry of a rolled segment holds the
segment's largest timestamp.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from dataplane.log.index.sparse_index import SparseIndex
from dataplane.wire.batch_layout import NO_TIMESTAMP

if TYPE_CHECKING:
    from dataplane.ports.filesystem import FileSystem

ENTRY = struct.Struct(">qi")
TIMESTAMP, OFFSET = 0, 1


class TimeIndex(SparseIndex):
    __slots__ = ("_last_timestamp_ms", "base_offset")

    def __init__(
        self, fs: FileSystem, path: str, base_offset: int, size_bytes: int | None = None
    ) -> None:
        super().__init__(fs, path, ENTRY, size_bytes)
        self.base_offset = base_offset
        self._last_timestamp_ms: int | None = None

    def maybe_append(self, timestamp_ms: int, offset: int) -> None:
        """Add an entry if its timestamp is later than the last one's."""
        if self._last_timestamp_ms is None:
            self._last_timestamp_ms = self.last()[0]
        if timestamp_ms > self._last_timestamp_ms:
            self.append_packed(ENTRY.pack(timestamp_ms, offset - self.base_offset))
            self._last_timestamp_ms = timestamp_ms

    def last(self) -> tuple[int, int]:
        """(timestamp, offset) of the last entry, (-1, base offset) when empty."""
        count = len(self)
        if not count:
            return NO_TIMESTAMP, self.base_offset
        timestamp_ms, relative = self.entry(count - 1)
        return timestamp_ms, self.base_offset + relative

    def is_sane(self) -> bool:
        """Whether the last entry may follow the first one; what Kafka looks at before it trusts."""
        count = len(self)
        if not count:
            return True
        first_ms, first = self.entry(0)
        last_ms, last = self.entry(count - 1)
        return last >= first >= 0 and last_ms >= first_ms >= 0

    def last_before(self, timestamp_ms: int) -> tuple[int, int] | None:
        """(timestamp, offset) of the last entry earlier than `timestamp_ms`.

        No record up to that offset is as late. If a damaged entry leads the search to a later
        place, then it is the one that is returned: the caller sees that by the batch.
        """
        slot = self.count_below(timestamp_ms, TIMESTAMP)
        if not slot:
            return None
        found_ms, relative = self.entry(slot - 1)
        return found_ms, self.base_offset + relative

    def clear(self) -> None:
        self.truncate_entries(0)
        self._last_timestamp_ms = None

    def truncate_to(self, offset: int) -> None:
        """Drop entries for `offset` and later."""
        relative = offset - self.base_offset
        self.truncate_entries(self.count_below(relative, OFFSET))
        self._last_timestamp_ms = None
