"""`.index`: from an offset to a byte position in the segment, one entry per so many bytes.

Entry: int32 offset relative to the segment's base, int32 position. As in Kafka an entry names the
last offset of a batch and the position where that batch begins.
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

from dataplane.log.index.sparse_index import SparseIndex

if TYPE_CHECKING:
    from dataplane.ports.filesystem import FileSystem

ENTRY = struct.Struct(">ii")
OFFSET, POSITION = 0, 1


class OffsetIndex(SparseIndex):
    __slots__ = ("base_offset",)

    def __init__(
        self, fs: FileSystem, path: str, base_offset: int, size_bytes: int | None = None
    ) -> None:
        super().__init__(fs, path, ENTRY, size_bytes)
        self.base_offset = base_offset

    def append(self, offset: int, position: int) -> None:
        self.append_packed(ENTRY.pack(offset - self.base_offset, position))

    def last(self) -> tuple[int, int]:
        """(offset, position) of the last entry, (base offset, 0) when empty."""
        count = len(self)
        if not count:
            return self.base_offset, 0
        relative, position = self.entry(count - 1)
        return self.base_offset + relative, position

    def floor(self, offset: int) -> tuple[int, int]:
        """(offset, position) of the entry from which to look for `offset`; the segment's begin."""
        relative = offset - self.base_offset
        return self._at(self.count_below(relative, OFFSET, inclusive=True) - 1)

    def floor_by_position(self, position: int, near: int, count: int) -> tuple[int, int, int]:
        """Number, offset and position of the last entry at or before byte `position`.

        Number -1 and the segment's begin if there is none. A reader who goes on expects it among
        the `count` entries from number `near` on: those are looked at in one read, before the
        whole index is searched.
        """
        raw = self.run(near, count)
        numbers = array("i", raw[: len(raw) & -ENTRY.size])
        if sys.byteorder == "little":
            numbers.byteswap()
        found = bisect_right(numbers[POSITION::2], position)
        if 0 < found < count:
            relative, at = ENTRY.unpack_from(raw, (found - 1) * ENTRY.size)
            return near + found - 1, self.base_offset + relative, at
        slot = self.count_below(position, POSITION, inclusive=True) - 1
        return slot, *self._at(slot)

    def _at(self, slot: int) -> tuple[int, int]:
        if slot < 0:
            return self.base_offset, 0
        relative, position = self.entry(slot)
        return self.base_offset + relative, position

    def truncate_to(self, offset: int) -> None:
        """Drop entries for `offset` and later."""
        relative = offset - self.base_offset
        self.truncate_entries(self.count_below(relative, OFFSET))
