"""A segment's time index, held against its batches.

Nothing protects an index file's content. Retention goes by the last entry of this one, and lookups
would pass over records: what does not fit the batches is rebuilt from them.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from dataplane.wire.batch_layout import NO_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.log.index.offset_index import OffsetIndex
    from dataplane.log.index.time_index import TimeIndex
    from dataplane.log.reading.scan import BatchHead
    from dataplane.log.recovery.load_progress import LoadProgress

_log = logging.getLogger(__name__)

_LOOK_BACK_BYTES = 8 * 1024 * 1024


class TimedSegment(Protocol):
    """What is looked at of a `LogSegment`."""

    base_offset: int
    size: int
    index_interval_bytes: int
    offset_index: OffsetIndex
    time_index: TimeIndex
    progress: LoadProgress | None

    @property
    def first_timestamp_ms(self) -> int: ...
    def find(self, offset: int) -> BatchHead | None: ...
    def last_known_position(self) -> int: ...
    def heads_from(self, position: int) -> Iterator[BatchHead]: ...


def offset_before(segment: TimedSegment, timestamp_ms: int) -> int:
    """An offset up to which every record is earlier than `timestamp_ms`."""
    entry = segment.time_index.last_before(timestamp_ms)
    if entry is not None and not _matches_batch(segment, entry):
        _rebuild(segment)
        entry = segment.time_index.last_before(timestamp_ms)
    return segment.base_offset if entry is None else entry[1]


def last_entry(segment: TimedSegment, *, is_sealed: bool) -> tuple[int, int]:
    """The last entry of the time index, (-1, base offset) while there is none.

    A sealed segment's last entry has its largest timestamp: retention goes by it.
    """
    if not segment.size:
        return NO_TIMESTAMP, segment.base_offset
    entry = segment.time_index.last()
    if len(segment.time_index):
        is_good = _matches_batch(segment, entry)
        if is_good and is_sealed:
            behind = segment.heads_from(begin_behind(segment, entry))
            is_good = all(head.max_timestamp_ms <= entry[0] for head in behind)
    else:
        is_empty = not (is_sealed or len(segment.offset_index))
        is_good = is_empty or segment.first_timestamp_ms < 0
    if not is_good:
        _rebuild(segment)
        entry = segment.time_index.last()
    return entry


def begin_behind(segment: TimedSegment, entry: tuple[int, int]) -> int:
    """From where to look for batches that are later than the last entry of the time index.

    That is the batch it names, or the last indexed one where that is far behind: a start
    must not read whole segments for the sake of one record from the future.
    """
    known = segment.last_known_position()
    head = segment.find(entry[1]) if len(segment.time_index) else None
    if head is not None and known - head.position <= _LOOK_BACK_BYTES:
        return min(known, head.position)
    return known


def _matches_batch(segment: TimedSegment, entry: tuple[int, int]) -> bool:
    """Whether the batch is there that an entry of the time index names."""
    timestamp_ms, offset = entry
    head = segment.find(offset)
    return (
        head is not None
        and head.base_offset <= offset
        and head.max_timestamp_ms == timestamp_ms >= 0
    )


def _rebuild(segment: TimedSegment) -> None:
    """The time index is damaged: write it again from the batches."""
    index = segment.time_index
    _log.warning("%s is damaged: rebuilt", index.path)
    if segment.progress is not None:
        segment.progress.damaged_files += 1
    index.clear()
    largest_ms, largest_at, unnoted = NO_TIMESTAMP, segment.base_offset, 0
    for head in segment.heads_from(0):
        if head.max_timestamp_ms > largest_ms:
            largest_ms, largest_at = head.max_timestamp_ms, head.last_offset
        if unnoted > segment.index_interval_bytes:
            index.maybe_append(largest_ms, largest_at)
            unnoted = 0
        unnoted += head.size
    index.maybe_append(largest_ms, largest_at)
    index.close()
