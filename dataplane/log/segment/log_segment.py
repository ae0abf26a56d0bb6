"""One segment: a stretch of the log in its own files."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.index.offset_index import ENTRY as OFFSET_ENTRY
from dataplane.log.index.offset_index import OffsetIndex
from dataplane.log.index.time_index import ENTRY as TIME_ENTRY
from dataplane.log.index.time_index import TimeIndex
from dataplane.log.reading.scan import find_offset, heads, probe
from dataplane.log.segment.verified_times import begin_behind, last_entry
from dataplane.wire.batch_layout import NO_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataplane.log.appending.staging import StagedBatch
    from dataplane.log.reading.scan import BatchHead
    from dataplane.log.recovery.load_progress import LoadProgress
    from dataplane.ports.filesystem import Buffer, File, FileSystem


# From this size on a segment has blocks set aside for its growth: as much again, at most 16 MiB.
# Small and idle partitions take none.
RESERVED_FROM_BYTES = 1024 * 1024
RESERVED_BYTES_MAX = 16 * 1024 * 1024
INDEX_BYTES_MAX = 10 * 1024 * 1024
_RUN_ENTRIES_MAX = 512


class LogSegment:
    """`.log` with its `.index` and `.timeindex`.

    `size` is the number of good bytes; the file never holds more for longer than an append.
    """

    __slots__ = (
        "_bytes_since_entry",
        "_entries_left",
        "_file",
        "_first_timestamp_ms",
        "_fs",
        "_index_bytes_max",
        "_max_timestamp_ms",
        "_max_timestamp_offset",
        "_reserved_until",
        "base_offset",
        "closed",
        "created_ms",
        "index_interval_bytes",
        "is_index_full",
        "offset_index",
        "path",
        "progress",
        "size",
        "time_index",
    )

    def __init__(
        self,
        fs: FileSystem,
        directory: str,
        base_offset: int,
        *,
        created_ms: int,
        index_interval_bytes: int,
        state: str = "",
        sizes: Mapping[str, int] | None = None,
        progress: LoadProgress | None = None,
    ) -> None:
        """`state` is appended to the file names, such as `.cleaned` while compaction writes.

        `sizes` are those of the directory's files, if the caller has just looked: then nothing is
        opened before it is needed, and an idle segment holds no descriptor at all. `progress`
        counts time indexes that had to be rebuilt.
        """
        self._fs = fs
        self.progress = progress
        self.base_offset = base_offset
        self.created_ms = created_ms
        self.index_interval_bytes = index_interval_bytes
        self.path = paths.segment_path(directory, base_offset, paths.LOG + state)
        stem = self.path.removesuffix(paths.LOG + state)
        known = (sizes or {}).get
        name = stem[len(directory) + 1 :]
        size = known(name + paths.LOG + state)
        self.closed = False
        self._file: File | None = None
        self.size = self.file.size() if size is None else size
        self.offset_index = OffsetIndex(
            fs,
            stem + paths.OFFSET_INDEX + state,
            base_offset,
            known(name + paths.OFFSET_INDEX + state),
        )
        self.time_index = TimeIndex(
            fs, stem + paths.TIME_INDEX + state, base_offset, known(name + paths.TIME_INDEX + state)
        )
        self._index_bytes_max = INDEX_BYTES_MAX
        self._entries_left = 0  # before the indexes have to be looked at again
        self.is_index_full = False
        self._reserved_until = RESERVED_FROM_BYTES
        self._bytes_since_entry = 0
        self._first_timestamp_ms: int | None = None
        self._max_timestamp_ms: int | None = NO_TIMESTAMP if not self.size else None
        self._max_timestamp_offset = base_offset

    @property
    def file(self) -> File:
        """Opened when it is first asked for. `OSError`, also after `release`."""
        file = self._file
        if file is None:
            if self.closed:
                raise OSError(errno.EBADF, "the segment is closed", self.path)
            file = self._file = self._fs.open(self.path, create=True)
        return file

    @property
    def first_timestamp_ms(self) -> int:
        """Largest timestamp of the first batch, -1 while empty; the clock of `segment.ms`."""
        known = self._first_timestamp_ms
        if known is None:
            if not self.size:
                return NO_TIMESTAMP
            head = next(heads(self.file, 0, self.size, chunk_bytes=64), None)
            if head is None:
                return NO_TIMESTAMP
            known = self._first_timestamp_ms = head.max_timestamp_ms
        return known

    @property
    def max_timestamp_ms(self) -> int:
        """The largest timestamp in the segment, -1 if it has none."""
        if self._max_timestamp_ms is None:
            self._max_timestamp_ms, self._max_timestamp_offset = last_entry(self, is_sealed=True)
        return self._max_timestamp_ms

    @property
    def max_timestamp_offset(self) -> int:
        """Last offset of the first batch that reached `max_timestamp_ms`."""
        _ = self.max_timestamp_ms
        return self._max_timestamp_offset

    def append(self, parts: Sequence[Buffer], batches: Sequence[StagedBatch]) -> None:
        """Write whole batches in one call, all of them or none, and note them in the indexes."""
        position = self.size
        (self._file or self.file).append(*parts)
        # `note` for each, without a call for each.
        largest_ms = self.max_timestamp_ms if (at := self._max_timestamp_ms) is None else at
        since_entry, interval = self._bytes_since_entry, self.index_interval_bytes
        for last_offset, max_timestamp_ms, size, _delta, _sequence, _producer in batches:
            if max_timestamp_ms > largest_ms:
                self._max_timestamp_ms = largest_ms = max_timestamp_ms
                self._max_timestamp_offset = last_offset
            if since_entry > interval:
                self._add_entries(last_offset, position, largest_ms)
                since_entry = 0
            since_entry += size
            position += size
        self._bytes_since_entry = since_entry
        self.size = position
        if position >= self._reserved_until:
            self._reserve()

    def append_unnoted(self, data: Buffer) -> None:
        """Write several batches; the caller gives each to `note`."""
        self.file.append(data)
        self.size += len(data)
        if self.size >= self._reserved_until:
            self._reserve()

    def _reserve(self) -> None:
        """Set aside what comes next: as much again as there is, within a bound."""
        self._reserved_until = self.size + min(self.size, RESERVED_BYTES_MAX)
        self.file.reserve(self._reserved_until)

    def trim(self) -> None:
        """Nothing comes for now: give back what is set aside behind the end. `OSError`."""
        if self._reserved_until > RESERVED_FROM_BYTES:
            self._reserved_until = RESERVED_FROM_BYTES
            self.file.truncate(self.size)

    def note(self, last_offset: int, max_timestamp_ms: int, position: int, size: int) -> None:
        """Remember a batch in the indexes, if its turn has come."""
        largest = self._max_timestamp_ms
        if largest is None:
            largest = self.max_timestamp_ms
        if max_timestamp_ms > largest:
            self._max_timestamp_ms = max_timestamp_ms
            self._max_timestamp_offset = last_offset
        if self._bytes_since_entry > self.index_interval_bytes:
            self._add_entries(last_offset, position, max(largest, max_timestamp_ms))
            self._bytes_since_entry = 0
        self._bytes_since_entry += size

    def _add_entries(self, last_offset: int, position: int, largest_ms: int) -> None:
        self.offset_index.append(last_offset, position)
        self.time_index.maybe_append(largest_ms, self._max_timestamp_offset)
        self._entries_left -= 1
        if self._entries_left <= 0:
            self._check_indexes()

    def limit_indexes(self, bytes_max: int) -> None:
        """The size from which an index is a reason to roll; obeyed from the next entry on."""
        self._index_bytes_max = bytes_max
        self._entries_left = 0

    def _check_indexes(self) -> None:
        """A full index is a reason to roll; the time index keeps space for its last entry.

        Batches of one write may exceed the limit by their entries: it is looked at before each.
        """
        limit = self._index_bytes_max
        self._entries_left = min(
            (limit - self.offset_index.size_bytes) // OFFSET_ENTRY.size,
            (limit - self.time_index.size_bytes) // TIME_ENTRY.size - 1,
        )
        self.is_index_full = self._entries_left <= 0

    def find(self, offset: int) -> BatchHead | None:
        """The first batch whose last offset is `offset` or later."""
        if not self.size:
            return None
        return find_offset(self.file, self.position_for(offset), self.size, offset)

    def position_for(self, offset: int) -> int:
        """Where to begin looking for `offset`: at or before the batch that holds it."""
        return self._trusted(self.offset_index.floor(offset))

    def last_known_position(self) -> int:
        """Where the last indexed batch begins; 0 if nothing is indexed, or not to be trusted."""
        return self._trusted(self.offset_index.last())

    def boundary_floor(self, position: int, begin: int, near: int) -> tuple[int, int, int]:
        """A known beginning of a batch at or before `position`: where, with which offset, and its
        number in the index. Position 0 if none is known.

        `begin` is where the reader is and `near` the number that it was given last, 0 at first.
        """
        count = (position - begin) // (self.index_interval_bytes or 1) + 2
        number, offset, at = self.offset_index.floor_by_position(
            position, near, min(count, _RUN_ENTRIES_MAX)
        )
        base = self._base_offset_at(offset, at)
        return (at, base, number) if base >= 0 else (0, self.base_offset, 0)

    def _trusted(self, entry: tuple[int, int]) -> int:
        """The position that an index entry names, if a batch that fits it begins there; else 0."""
        offset, position = entry
        return position if self._base_offset_at(offset, position) >= 0 else 0

    def _base_offset_at(self, offset: int, position: int) -> int:
        """Base offset of the batch that an index entry names; -1 if there is none that fits it.

        Nothing protects an index file's content: a damaged one makes lookups slow, never wrong.
        """
        if position <= 0:  # a flipped sign would be an error to read at
            return -1
        base = probe(self._file or self.file, position, self.size)
        return base if self.base_offset <= base <= offset else -1

    def position_below(self, offset: int) -> int:
        """End of the batches that lie wholly below `offset`."""
        head = self.find(offset)
        return self.size if head is None else head.position

    def truncate_to(self, offset: int) -> int:
        """Remove every batch that reaches `offset` or further; returns where the segment ends.

        That is `offset`, or earlier if a batch straddled it.
        """
        head = self.find(offset)
        if head is not None:
            self.file.truncate(head.position)
            self.size = head.position
            offset = min(offset, head.base_offset)
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.restore_timestamps()
        return offset

    def undo_append(self, size: int, offset: int) -> None:
        """Take back an append that began at byte `size` with `offset` and failed half-way."""
        self.file.truncate(size)
        self.size = size
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.restore_timestamps()

    def restore_timestamps(self) -> None:
        """Find the largest timestamp again from the time index and the bytes behind its end."""
        self._first_timestamp_ms = None
        self._bytes_since_entry = 0
        self._check_indexes()
        timestamp_ms, offset = entry = last_entry(self, is_sealed=False)
        known = self.last_known_position()
        for head in self.heads_from(begin_behind(self, entry)):
            if head.max_timestamp_ms > timestamp_ms:
                timestamp_ms, offset = head.max_timestamp_ms, head.last_offset
            if head.position >= known:
                self._bytes_since_entry += head.size
        self._max_timestamp_ms, self._max_timestamp_offset = timestamp_ms, offset

    def heads_from(self, position: int) -> Iterator[BatchHead]:
        """The batches from the boundary `position` to the end."""
        return heads(self.file, position, self.size) if position < self.size else iter(())

    def restart(self) -> None:
        """Forget what is known of the content: a scan gives every batch to `note` again."""
        self._first_timestamp_ms = None
        self._bytes_since_entry = 0
        self._max_timestamp_ms, self._max_timestamp_offset = NO_TIMESTAMP, self.base_offset

    def seal(self) -> None:
        """The segment takes no more: put its largest timestamp at the end of the time index."""
        self.time_index.maybe_append(self.max_timestamp_ms, self.max_timestamp_offset)
        self.close_indexes()
        self.trim()

    def close_indexes(self) -> None:
        """Hand pending entries to the index files, which exist from then on.

        Idle partitions hold one descriptor, not three; the next entry opens the files again.
        """
        self.offset_index.close()
        self.time_index.close()

    def close(self) -> None:
        if not self.closed:
            self.close_indexes()
            self.release()

    def release(self) -> None:
        """Give the descriptors back without writing: the files are going or gone."""
        self.closed = True
        self.offset_index.release()
        self.time_index.release()
        if self._file is not None:
            self._file.close()

    def relocate(self, directory: str) -> None:
        """The files lie in another directory now."""
        self.path = paths.segment_path(directory, self.base_offset, paths.LOG)
        self.offset_index.path = paths.segment_path(directory, self.base_offset, paths.OFFSET_INDEX)
        self.time_index.path = paths.segment_path(directory, self.base_offset, paths.TIME_INDEX)

    def mark_deleted(self) -> None:
        """Rename the files out of the way; readers that hold the descriptor go on.

        The `.log` goes last: while it is there, whoever comes after a crash knows the others.
        """
        stem = self.path.removesuffix(paths.LOG)
        self.offset_index.release()
        self.time_index.release()
        for suffix in reversed(paths.SEGMENT_SUFFIXES):
            if self._fs.exists(stem + suffix):
                self._fs.rename(stem + suffix, stem + suffix + paths.DELETED)

    def remove_marked(self) -> None:
        """Unlink what `mark_deleted` renamed. May run off the event loop."""
        stem = self.path.removesuffix(paths.LOG)
        if self._file is not None:
            self._file.close()
        self.closed = True
        for suffix in paths.SEGMENT_SUFFIXES:
            self._fs.remove(stem + suffix + paths.DELETED)
