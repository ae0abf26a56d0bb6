"""The files of one log: its segments, where its newest batches lie, what waits to be deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.log import paths
from dataplane.log.cleaner.swapping import publish
from dataplane.log.reading.reader import Reader
from dataplane.log.reading.record_search import RecordSearch
from dataplane.log.reading.tail import Tail
from dataplane.log.segment.log_segment import LogSegment
from dataplane.log.segment.new_segment import begin_segment
from dataplane.log.segment.pending_deletion import SegmentsPendingDeletion
from dataplane.model.integers import INT64_MAX

if TYPE_CHECKING:
    from dataplane.log.cleaner.cleaned_segment import CleanedSegment
    from dataplane.log.config import LogConfig
    from dataplane.log.opening import LogEnvironment
    from dataplane.log.reading.log_slice import LogSlice
    from dataplane.log.recovery.load_progress import LoadProgress
    from dataplane.log.recovery.recovery import Recovered

REACHES_ON: Final = INT64_MAX
UNKNOWN_MS: Final = -(1 << 63)


class LocalLog:
    """Segments and positions; it knows nothing of producers, leader epochs or watermarks.

    Where the log ends is its caller's to say. Every method may raise `OSError`.
    `truncations` counts how often positions have changed; `roll_after_ms` is the largest timestamp
    that the active segment takes, not known yet while it is UNKNOWN_MS.
    """

    __slots__ = (
        "_clock",
        "_fs",
        "_pending_deletion",
        "_progress",
        "_search",
        "active",
        "config",
        "directory",
        "reader",
        "roll_after_ms",
        "segments",
        "tail",
        "truncations",
    )

    def __init__(
        self,
        environment: LogEnvironment,
        directory: str,
        config: LogConfig,
        recovered: Recovered,
        progress: LoadProgress | None,
    ) -> None:
        self._fs = environment.fs
        self._clock = environment.clock
        self._progress = progress
        self._pending_deletion = SegmentsPendingDeletion(environment.clock, environment.background)
        self._search: RecordSearch | None = None  # made for the first consumer of a compacted log
        self.directory = directory
        self.config = config
        self.segments = recovered.segments
        self.active = self.segments.active
        self.active.limit_indexes(config.segment_index_bytes)
        self.reader = Reader(self.segments)
        self.tail = Tail(recovered.log_end_offset, self.active.size)
        self.roll_after_ms = UNKNOWN_MS
        self.truncations = 0

    # --- reading ---

    def next_record(self, found: LogSlice, upper_bound_offset: int) -> int | None:
        """From where to read for the first record below the bound, if `found` begins without one.

        None if `found` begins with a record, or if there is none within one look.
        """
        search, start = self._search, found.base_offset
        if search is None:
            search = self._search = RecordSearch()
        if search.begins_with_record(found, start):
            return None
        return search.next_record(
            self.segments, start, upper_bound_offset, truncations=self.truncations
        )

    def readable_bytes(self, found: LogSlice, upper_bound_offset: int, log_end_offset: int) -> int:
        """Bytes from the beginning of `found`, which is not empty, to the bound.

        REACHES_ON if the bound lies in a later segment, as what one read gives ends with its own.
        """
        segments = self.segments
        slot = segments.slot_of(upper_bound_offset - 1)
        segment = segments[slot]
        if segment.file is not found.file:
            return REACHES_ON
        if upper_bound_offset >= segments.end_of(slot, log_end_offset):
            return segment.size - found.position
        position = -1
        if segment is self.active:
            position = self.tail.position_of(upper_bound_offset)
        if position < 0:
            position = segment.position_below(upper_bound_offset)
        return position - found.position

    def unsynced(self, recovery_point: int) -> list[LogSegment]:
        """The segments that reach beyond the recovery point."""
        segments = self.segments
        return [segments[slot] for slot in range(segments.slot_of(recovery_point), len(segments))]

    # --- growing and shrinking ---

    def begin_segment(self, offset: int) -> None:
        """The next batch goes into a new segment that begins with `offset`."""
        self.segments.add(self._new_segment(offset))
        self.active = self.segments.active
        self.tail.reset(offset, 0)
        self.roll_after_ms = UNKNOWN_MS

    def truncate_to(self, offset: int) -> int:
        """Truncate to `offset` or to a batch boundary before it; where the log ends then.

        `forget_positions` has to follow.
        """
        segments = self.segments
        self.delete_async(segments.take_from(segments.slot_of(offset) + 1))
        self.active = segments.active
        return self.active.truncate_to(offset)

    def drop_empty_segments(self, end_offset: int) -> list[LogSegment]:
        """Take away the segments that were begun behind the end; they have to be deleted."""
        begun = self.segments.take_from(self.segments.slot_of(end_offset) + 1)
        self.active = self.segments.active
        return begun

    def restart_at(self, offset: int) -> None:
        """Delete all segments and begin an empty one. `forget_positions` has to follow."""
        self.delete_async(list(self.segments))
        self.segments.replace_all(self._new_segment(offset))
        self.active = self.segments.active

    def forget_positions(self, end_offset: int) -> None:
        """The log was truncated and ends here now."""
        self.truncations += 1
        self.reader.forget()
        self.tail.reset(end_offset, self.active.size)
        self.roll_after_ms = UNKNOWN_MS

    def delete_first(self, count: int) -> list[LogSegment]:
        """Delete the oldest segments; returns them."""
        dropped = self.segments.take_first(count)
        self.delete_async(dropped)
        self.reader.forget()
        return dropped

    def delete_async(self, segments: list[LogSegment]) -> None:
        """Rename their files; they go after `file.delete.delay.ms`."""
        self._pending_deletion.add(segments, self.config.file_delete_delay_ms)

    def _new_segment(self, offset: int) -> LogSegment:
        place, now_ms = (self._fs, self.directory, offset), self._clock.realtime_ms()
        return begin_segment(*place, self.config, now_ms=now_ms, progress=self._progress)

    # --- compaction ---

    def closed_segments(self) -> list[LogSegment]:
        """All segments but the active one, which is never compacted."""
        return list(self.segments)[:-1]

    def sources_of(self, cleaned: CleanedSegment) -> list[LogSegment] | None:
        """The segments that a `.cleaned` one was made of; None if they are not there any more."""
        slot = self.segments.slot_of(cleaned.base_offset)
        sources = self.closed_segments()[slot : slot + len(cleaned.sources)]
        is_same = tuple(source.base_offset for source in sources) == cleaned.sources
        return sources if is_same else None

    def replace(self, sources: list[LogSegment], cleaned: CleanedSegment) -> None:
        """Swap a finished `.cleaned` segment in.

        A crash at any point leaves the old segments or the new one: the rename of the `.log` to
        `.swap` decides.
        """
        stem = paths.segment_path(self.directory, cleaned.base_offset, "")
        publish(self._fs, stem, paths.CLEANED, paths.SWAP)
        self.delete_async(sources)
        publish(self._fs, stem, paths.SWAP, "")
        segment = LogSegment(
            self._fs,
            self.directory,
            cleaned.base_offset,
            created_ms=cleaned.created_ms,
            index_interval_bytes=self.config.index_interval_bytes,
            progress=self._progress,
        )
        segment.close_indexes()
        slot = self.segments.slot_of(cleaned.base_offset)
        self.segments.replace(slot, len(sources), segment)
        self.reader.forget()

    def discard(self, cleaned: CleanedSegment) -> None:
        """Remove a `.cleaned` segment that is not wanted any more."""
        stem = paths.segment_path(self.directory, cleaned.base_offset, "")
        for suffix in paths.SEGMENT_SUFFIXES:
            self._fs.remove(stem + suffix + paths.CLEANED)

    # --- life ---

    def update_config(self, config: LogConfig) -> None:
        self.config = config
        self.roll_after_ms = UNKNOWN_MS
        for segment in self.segments:
            segment.index_interval_bytes = config.index_interval_bytes
        self.active.limit_indexes(config.segment_index_bytes)

    def relocate(self, directory: str) -> None:
        """The directory was renamed to this one; open descriptors go on."""
        self.directory = directory
        for segment in self.segments:
            segment.relocate(directory)
        self._pending_deletion.relocate(directory)

    def purge(self) -> None:
        """Unlink what has waited long enough."""
        self._pending_deletion.purge()

    def release(self) -> None:
        """Give the descriptors back without writing."""
        for segment in self.segments:
            segment.release()
        self._pending_deletion.release()
