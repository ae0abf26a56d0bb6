"""Opening the segments found in a directory, repairing what an unclean stop left behind."""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.cleaner.swapping import finish_swaps
from dataplane.log.reading.scan import heads
from dataplane.log.recovery.load_progress import LoadProgress
from dataplane.log.segment.log_segment import LogSegment
from dataplane.log.segment.log_segments import LogSegments
from dataplane.model.integers import INT32_MAX, INT64_MAX

if TYPE_CHECKING:
    from dataplane.log.epochs import LeaderEpochs
    from dataplane.log.reading.scan import BatchHead
    from dataplane.ports.filesystem import FileSystem

_log = logging.getLogger(__name__)
_LEFTOVERS = (paths.DELETED, paths.CLEANED, paths.TEMPORARY)
_INDEXES = (paths.OFFSET_INDEX, paths.TIME_INDEX, paths.TRANSACTION_INDEX)


@dataclasses.dataclass(slots=True)
class Recovered:
    """What loading found: the segments, where they end, and what had to be truncated."""

    segments: LogSegments
    log_end_offset: int
    scanned_bytes: int = 0
    truncated_bytes: int = 0
    names: frozenset[str] = frozenset()
    """Files of the directory; for those who go on opening the log, then empty."""


class Recovery:
    """Loads one partition directory."""

    def __init__(
        self,
        fs: FileSystem,
        directory: str,
        epochs: LeaderEpochs,
        *,
        now_ms: int,
        index_interval_bytes: int,
        allows_gaps: bool,
        progress: LoadProgress | None = None,
    ) -> None:
        self._fs = fs
        self._directory = directory
        self._epochs = epochs
        self._now_ms = now_ms
        self._interval_bytes = index_interval_bytes
        self._allows_gaps = allows_gaps
        self._progress = progress or LoadProgress()
        self._scanned_bytes = 0
        self._truncated_bytes = 0
        self._sizes: dict[str, int] = {}

    def load(self, *, recovery_point: int, log_start_offset: int, clean: bool) -> Recovered:
        """After an unclean stop, segments that reach beyond `recovery_point` are scanned whole.

        Offsets must grow from batch to batch; from the first batch that is cut, damaged or out of
        order, everything is dropped. A scanned segment that ends before the next one begins lost
        its unsynced end: the later segments would leave a hole (compaction makes gaps by right).

        A recovery point beyond the end of the log is not used: everything is scanned.
        """
        self._sweep()
        bases = self._bases()
        if not clean:
            ends = [*bases[1:], INT64_MAX]
            self._progress.remaining_segments = sum(end > recovery_point for end in ends)
        opened, end = self._open_all(bases, recovery_point, log_start_offset, clean=clean)
        if not clean and recovery_point > end and len(bases) > 1:
            _log.warning(
                "%s: the log ends at %d, its recovery point says %d: scanning all of it",
                self._directory,
                end,
                recovery_point,
            )
            self._progress.damaged_files += 1
            for segment in opened:
                segment.close()
            return self.load(recovery_point=0, log_start_offset=log_start_offset, clean=False)
        self._progress.remaining_segments = 0
        if self._epochs.damaged:
            self._read_epochs(opened)
        for segment in opened:
            segment.close_indexes()
        return Recovered(
            LogSegments(opened),
            end,
            self._scanned_bytes,
            self._truncated_bytes,
            frozenset(self._sizes),
        )

    def _open_all(
        self, bases: list[int], recovery_point: int, log_start_offset: int, *, clean: bool
    ) -> tuple[list[LogSegment], int]:
        """The segments, as far as they hang together, and the offset at which they end."""
        opened: list[LogSegment] = []
        end = log_start_offset
        for number, base in enumerate(bases):
            is_last = number + 1 == len(bases)
            segment = self._open(base)
            opened.append(segment)
            end_if_clean = None if is_last else bases[number + 1]
            reaches_on = end_if_clean is None or end_if_clean > recovery_point
            is_scanned = not clean and reaches_on
            if is_scanned or not self._has_good_indexes(segment, is_last=is_last):
                end, was_truncated = self._rebuild(segment, is_scanned=is_scanned)
                if not is_last and not was_truncated:
                    segment.seal()
                    was_truncated = not self._allows_gaps and end < bases[number + 1]
                self._progress.remaining_segments -= is_scanned
            elif end_if_clean is None:
                end, was_truncated = self._find_end(segment)
            else:
                end, was_truncated = end_if_clean, False
            if was_truncated:
                self._drop(bases[number + 1 :])
                break
        if not opened:
            opened = [self._open(log_start_offset)]
            end = log_start_offset
        return opened, end

    def _sweep(self) -> None:
        sizes = self._fs.file_sizes(self._directory)
        if any(name.endswith((*_LEFTOVERS, paths.SWAP)) for name in sizes):
            self._remove(sizes, [name for name in sizes if name.endswith(_LEFTOVERS)])
            finish_swaps(self._fs, self._directory, sizes)
            sizes = self._fs.file_sizes(self._directory)
            self._remove(sizes, [name for name in sizes if name.endswith(paths.SWAP)])
        self._sizes = sizes
        indexes = [name for name in sizes if name.endswith(_INDEXES)]
        orphans = []
        for name in indexes:
            stem, _, suffix = name.rpartition(".")
            if (
                stem + paths.LOG not in sizes
                and paths.parse_base_offset(name, f".{suffix}") is not None
            ):
                orphans.append(name)
        self._remove(sizes, orphans)

    def _remove(self, sizes: dict[str, int], names: list[str]) -> None:
        for name in sorted(names):
            self._fs.remove(f"{self._directory}/{name}")
            del sizes[name]

    def _bases(self) -> list[int]:
        found = (paths.parse_base_offset(name, paths.LOG) for name in self._sizes)
        return sorted(base for base in found if base is not None)

    def _open(self, base_offset: int) -> LogSegment:
        return LogSegment(
            self._fs,
            self._directory,
            base_offset,
            created_ms=self._now_ms,
            index_interval_bytes=self._interval_bytes,
            sizes=self._sizes,
            progress=self._progress,
        )

    def _has_good_indexes(self, segment: LogSegment, *, is_last: bool) -> bool:
        """Whether the ends of the index files make sense; of the last segment they decide much."""
        stem = f"{segment.base_offset:020d}"
        if not {stem + paths.OFFSET_INDEX, stem + paths.TIME_INDEX} <= self._sizes.keys():
            return False
        if segment.offset_index.is_torn() or segment.time_index.is_torn():
            return False
        if not segment.size and not len(segment.offset_index) and not len(segment.time_index):
            return True
        last_offset, position = segment.offset_index.last()
        if is_last and position and not segment.last_known_position():
            return False
        is_sane = last_offset >= segment.base_offset and 0 <= position < max(1, segment.size)
        return is_sane and segment.time_index.is_sane()

    def _rebuild(self, segment: LogSegment, *, is_scanned: bool) -> tuple[int, bool]:
        """Check every batch, rebuild the indexes; (end offset, whether anything was truncated)."""
        segment.offset_index.truncate_entries(0)
        segment.time_index.clear()
        size = segment.size
        segment.restart()
        if is_scanned:
            self._epochs.forget_from_end(segment.base_offset)
        end = segment.base_offset
        position = 0
        for head in heads(segment.file, 0, size, check_crc=True) if size else ():
            # The CRC does not cover the base offset: a gap may be a flipped bit.
            is_gap = head.base_offset > end and is_scanned and not self._allows_gaps
            if head.base_offset < end or is_gap or not _belongs(segment, head):
                break
            segment.note(head.last_offset, head.max_timestamp_ms, head.position, head.size)
            if is_scanned:
                self._epochs.assign_unwritten(head.leader_epoch, head.base_offset)
            end = head.last_offset + 1
            position = head.position + head.size
            self._progress.scanned_bytes += head.size
        self._scanned_bytes += size
        self._progress.rebuilt_segments += 1
        if is_scanned:
            self._epochs.settle(end)
        return end, self._truncate(segment, position, size)

    def _find_end(self, segment: LogSegment) -> tuple[int, bool]:
        """End of a segment that was closed properly: from its last index entry on."""
        end, position = segment.base_offset, 0
        if not segment.size:
            return end, False
        for head in segment.heads_from(segment.last_known_position()):
            if not _belongs(segment, head):
                return self._rebuild(segment, is_scanned=False)
            end = head.last_offset + 1
            position = head.position + head.size
        size = segment.size
        was_truncated = self._truncate(segment, position, size)
        segment.restore_timestamps()
        return end, was_truncated

    def _truncate(self, segment: LogSegment, position: int, size: int) -> bool:
        if position == size:
            return False
        _log.warning(
            "%s: %d bytes after %d are no batch: truncated", segment.path, size - position, position
        )
        segment.file.truncate(position)
        segment.size = position
        self._truncated_bytes += size - position
        self._progress.truncated_bytes += size - position
        return True

    def _drop(self, bases: list[int]) -> None:
        """Remove segments behind a truncation: they would leave a hole."""
        for base in bases:
            segment = self._open(base)
            _log.warning("%s: dropped, the log is truncated before it", segment.path)
            self._truncated_bytes += segment.size
            self._progress.truncated_bytes += segment.size
            segment.release()
            for suffix in paths.SEGMENT_SUFFIXES:
                self._fs.remove(paths.segment_path(self._directory, base, suffix))

    def _read_epochs(self, segments: list[LogSegment]) -> None:
        """The checkpoint was unreadable: every batch knows its epoch."""
        self._progress.damaged_files += 1
        self._epochs.clear()
        for segment in segments:
            for head in segment.heads_from(0):
                self._epochs.assign_unwritten(head.leader_epoch, head.base_offset)
        self._epochs.write()
        self._epochs.damaged = False


def _belongs(segment: LogSegment, head: BatchHead) -> bool:
    """Whether the batch can be in this segment: indexes hold offsets relative to its base."""
    first, last = segment.base_offset, segment.base_offset + INT32_MAX
    return first <= head.base_offset <= head.last_offset <= last
