"""Exact positions of the newest batches, so that reads near the end need no index."""

from __future__ import annotations

from bisect import bisect_right

_ENTRIES_MAX = 256


class Tail:
    """Boundaries between batches at the end of the active segment.

    Entry i says: the batch boundary at byte `positions[i]` is followed by offset `offsets[i]` or
    a later one. The first entry is where knowledge begins.
    """

    __slots__ = ("_offsets", "_positions")

    def __init__(self, offset: int, position: int) -> None:
        self._offsets = [offset]
        self._positions = [position]

    def reset(self, offset: int, position: int) -> None:
        self._offsets = [offset]
        self._positions = [position]

    def push(self, next_offset: int, end_position: int) -> None:
        offsets = self._offsets
        offsets.append(next_offset)
        self._positions.append(end_position)
        if len(offsets) > _ENTRIES_MAX:
            del offsets[: _ENTRIES_MAX // 2]
            del self._positions[: _ENTRIES_MAX // 2]

    def position_of(self, offset: int) -> int:
        """Where the first batch that reaches `offset` begins; -1 if that is not known here.

        As a bound it is the end of the batches that lie wholly below `offset`.
        """
        slot = bisect_right(self._offsets, offset)
        return self._positions[slot - 1] if slot else -1

    def boundary_at_or_before(self, position: int) -> int:
        """The last known boundary at or before `position`."""
        slot = bisect_right(self._positions, position)
        return self._positions[slot - 1] if slot else -1

    def boundary_after(self, position: int) -> int:
        """The first known boundary after `position`."""
        slot = bisect_right(self._positions, position)
        return self._positions[slot] if slot < len(self._positions) else -1
