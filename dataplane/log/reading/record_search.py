"""Finding the next record of a compacted log, behind batches that hold none.

Compaction keeps some batches empty (a producer's last sequence, the log's last offset), and others
without their last records. Most clients go on behind a batch's last offset; those that go by the
records they saw would ask for the same offset for ever if that were all they got.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataplane.log.reading.scan import heads
from dataplane.wire.errors import WireError
from dataplane.wire.record_batch import iter_records

if TYPE_CHECKING:
    from dataplane.log.reading.log_slice import LogSlice
    from dataplane.log.reading.scan import BatchHead
    from dataplane.log.segment.log_segments import LogSegments
    from dataplane.ports.filesystem import File

_CHUNK_BYTES = 8 * 1024
WALK_BYTES_MAX = 1024 * 1024
_REACHED_MAX = 32


class _Walk(NamedTuple):
    """How far one look went."""

    offset: int
    """There is no record from the start up to here."""
    has_found: bool


class RecordSearch:
    """Looks at a bounded number of batches each time, and goes on where it stopped."""

    __slots__ = ("_reached", "_truncations")

    def __init__(self) -> None:
        self._truncations = 0
        # By the offset that was asked for: up to where there is no record.
        self._reached: dict[int, int] = {}

    def begins_with_record(self, found: LogSlice, start: int) -> bool:
        """Whether the first batch of `found` holds a record at `start` or later."""
        end = found.position + found.size
        head = next(heads(found.file, found.position, end, chunk_bytes=64), None)
        return head is None or _has_record(found.file, head, start)

    def next_record(
        self, segments: LogSegments, start: int, upper: int, *, truncations: int
    ) -> int | None:
        """From where to read for the first record in [start, upper), which `start` has not.

        None if there is none, or if it lies further than one look goes. `truncations` is how many
        there were: appends and compaction put no record where none was.
        """
        reached = self._reached
        if truncations != self._truncations:
            reached.clear()
            self._truncations = truncations
        walk = _walk(segments, reached.pop(start, start), upper)
        if walk.offset > start:
            if len(reached) >= _REACHED_MAX:
                del reached[next(iter(reached))]
            reached[start] = walk.offset
        return walk.offset if walk.has_found else None


def _walk(segments: LogSegments, start: int, upper: int) -> _Walk:
    offset, walked = start, 0
    for slot in range(segments.slot_of(start), len(segments)):
        segment = segments[slot]
        position = segment.position_for(start) if segment.base_offset < start else 0
        for head in heads(segment.file, position, segment.size, chunk_bytes=_CHUNK_BYTES):
            position = head.position + head.size
            if head.last_offset < start:
                continue
            if head.last_offset >= upper or walked >= WALK_BYTES_MAX:
                return _Walk(offset, has_found=False)
            if _has_record(segment.file, head, start):
                return _Walk(max(start, head.base_offset), has_found=True)
            offset = head.last_offset + 1
            walked += head.size
        if position < segment.size:  # damaged: the reader gets it as it is
            break
    return _Walk(offset, has_found=False)


def _has_record(file: File, head: BatchHead, start: int) -> bool:
    """Whether a batch that reaches `start` holds a record there or later."""
    if not head.records:
        return False
    if start <= head.base_offset or head.records > head.last_offset - head.base_offset:
        return True
    try:
        records = iter_records(file.read_at(head.position, head.size))
        return any(record.offset >= start for record in records)
    except WireError:
        return True  # the reader is to see what is wrong with it
