"""Finding the bytes for a fetch that begins before the log's tail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log.reading.log_slice import NO_FILE, LogSlice
from dataplane.log.reading.read_memory import TAKEN_BYTES_MAX, Held
from dataplane.log.reading.scan import base_offset_at, batch_size_at, last_boundary, whole_batches

if TYPE_CHECKING:
    from dataplane.log.reading.read_memory import ReadMemory
    from dataplane.log.segment.log_segment import LogSegment
    from dataplane.log.segment.log_segments import LogSegments

_RESUMES_MAX = 32
# From batch to batch in memory, so many at the most: then a look into the index costs less.
WALKED_MAX = 128
WALKED_BYTES_MIN = 4096
# After a try in vain so many reads go by the index: a topic's batches are mostly alike.
PASSES = 64
UNKNOWN = -1
# What a NamedTuple's own constructor calls, without the call of that.
_new = tuple.__new__


class Reader:
    """Sequential readers continue where they stopped; others go through the sparse index."""

    __slots__ = ("_bound", "_passes_left", "_resumes", "_segments")

    def __init__(self, segments: LogSegments) -> None:
        self._segments = segments
        # By the offset that comes next: where it is, and about where in the offset index.
        self._resumes: dict[int, tuple[LogSegment, int, int]] = {}
        self._passes_left = 0  # reads that need not be tried at once
        self._bound: tuple[int, LogSegment, int] | None = None

    def forget(self) -> None:
        """Positions have changed: the log was truncated."""
        self._resumes.clear()
        self._bound = None

    def read(
        self,
        start: int,
        max_bytes: int,
        upper: int,
        log_end: int,
        *,
        min_one_batch: bool,
        memory: ReadMemory | None = None,
    ) -> LogSlice:
        """Whole batches from `start` (known to lie in the log) to below `upper`.

        With `memory` what is longer than `max_bytes` is read at once, as far as it has space, and
        cut by its content. Else it is cut where the index knows a batch to begin: up to
        `index.interval.bytes` and a batch less than might be sent, for no look into the log.
        """
        segments = self._segments
        begin = -1
        near = 0
        resume = self._resumes.pop(start, None)
        if resume is not None and not resume[0].closed:
            segment, begin, near = resume
            slot = segments.slot_of(segment.base_offset)
            if segments[slot] is not segment or begin >= segment.size:
                begin = -1
        if begin < 0:
            slot = segments.slot_of(start)
            segment, begin, slot = self._locate(slot, start)
        end = self._end(segment, slot, upper, log_end)
        if begin >= end:
            return LogSlice(NO_FILE, end, 0, start)
        if end - begin > max_bytes:
            if memory is not None and WALKED_BYTES_MIN <= max_bytes <= TAKEN_BYTES_MAX:
                found = self._read_at_once(segment, begin, max_bytes, (start, upper), memory)
                if found is not None:
                    return found
            limit = begin + max_bytes
            boundary, following, near = segment.boundary_floor(limit, begin, near)
            if boundary <= begin:
                boundary, following = last_boundary(segment.file, begin, limit), UNKNOWN
                if boundary == begin and min_one_batch:
                    boundary += batch_size_at(segment.file, begin)
            if boundary < end:
                end = boundary
                self._remember(segment, end, near, following)
            else:
                self._remember(segment, end, near, UNKNOWN)
        return LogSlice(segment.file, begin, end - begin, start)

    def _read_at_once(
        self,
        segment: LogSegment,
        begin: int,
        max_bytes: int,
        bounds: tuple[int, int],
        memory: ReadMemory,
    ) -> LogSlice | None:
        """Read and see where the last whole batch ends; None among many small batches.

        `bounds` are what was asked for and what all of it lies below: damaged batches may say
        otherwise, and nobody may go on from there.
        """
        if self._passes_left:
            self._passes_left -= 1
            return None
        data = memory.take(max_bytes)
        data = data[: segment.file.read_into(begin, data)]
        size, last_offset = whole_batches(data, WALKED_MAX)
        memory.give_back(max_bytes - size)
        if not (size and bounds[0] <= last_offset < bounds[1]):
            self._passes_left = PASSES
            return None
        self._remember(segment, begin + size, 0, last_offset + 1)
        held = _new(Held, (memory, memory.generation, data[:size]))
        return _new(LogSlice, (segment.file, begin, size, bounds[0], held))

    def _locate(self, slot: int, start: int) -> tuple[LogSegment, int, int]:
        """Segment, position and slot of the first batch that reaches `start`.

        Compaction leaves gaps, so the batch may lie in a later segment.
        """
        segments = self._segments
        while True:
            segment = segments[slot]
            head = segment.find(start)
            if head is not None:
                return segment, head.position, slot
            if slot + 1 >= len(segments):
                return segment, segment.size, slot
            slot += 1

    def _end(self, segment: LogSegment, slot: int, upper: int, log_end: int) -> int:
        """End of what lies below `upper` in `segment`."""
        if upper >= self._segments.end_of(slot, log_end):
            return segment.size
        bound = self._bound
        if bound is not None and bound[0] == upper and bound[1] is segment:
            return bound[2]
        end = segment.position_below(upper)
        self._bound = (upper, segment, end)
        return end

    def _remember(self, segment: LogSegment, position: int, near: int, offset: int) -> None:
        """Where the batch with base offset `offset` begins, which is asked for next."""
        if position < segment.size:
            resumes = self._resumes
            if len(resumes) >= _RESUMES_MAX:
                del resumes[next(iter(resumes))]
            if offset == UNKNOWN:
                offset = base_offset_at(segment.file, position)
            resumes[offset] = (segment, position, near)
