"""The segments of one log, in order of their base offsets."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.log.segment.log_segment import LogSegment


class LogSegments:
    """Never empty once the log is open; the last one is active, which is where appends go."""

    __slots__ = ("_bases", "_items", "active")

    def __init__(self, items: list[LogSegment]) -> None:
        self._items = items
        self._bases = [segment.base_offset for segment in items]
        self.active = items[-1]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[LogSegment]:
        return iter(self._items)

    def __getitem__(self, slot: int) -> LogSegment:
        return self._items[slot]

    @property
    def bases(self) -> list[int]:
        return list(self._bases)

    def slot_of(self, offset: int) -> int:
        """Which segment covers `offset`; the first for anything before it."""
        return max(0, bisect_right(self._bases, offset) - 1)

    def end_of(self, slot: int, log_end_offset: int) -> int:
        """The offset at which the segment in `slot` ends (exclusive)."""
        return self._bases[slot + 1] if slot + 1 < len(self._bases) else log_end_offset

    def add(self, segment: LogSegment) -> None:
        self._items.append(segment)
        self._bases.append(segment.base_offset)
        self.active = segment

    def take_first(self, count: int) -> list[LogSegment]:
        taken, self._items = self._items[:count], self._items[count:]
        del self._bases[:count]
        return taken

    def take_from(self, slot: int) -> list[LogSegment]:
        taken, self._items = self._items[slot:], self._items[:slot]
        del self._bases[slot:]
        if self._items:
            self.active = self._items[-1]
        return taken

    def replace_all(self, segment: LogSegment) -> list[LogSegment]:
        taken = self._items
        self._items = [segment]
        self._bases = [segment.base_offset]
        self.active = segment
        return taken

    def replace(self, slot: int, count: int, segment: LogSegment) -> None:
        """Put one segment where `count` closed ones were."""
        self._items[slot : slot + count] = [segment]
        self._bases[slot : slot + count] = [segment.base_offset]

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._items)
