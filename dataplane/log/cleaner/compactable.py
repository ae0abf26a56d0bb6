"""What compaction needs of a log: closed segments, and putting rewritten ones in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.cleaner.swapping import publish
from dataplane.log.reading.fetching import FetchableLog
from dataplane.log.segment.log_segment import LogSegment
from dataplane.log.stored_log import NEVER_CLEANED

if TYPE_CHECKING:
    from dataplane.log.cleaner.cleaned_segment import CleanedSegment
    from dataplane.log.stored_log import StoredLog


class CompactableLog(FetchableLog):
    """All calls come from the log's own thread; the rewriting itself runs elsewhere."""

    @property
    def active_base_offset(self) -> int:
        return self._active.base_offset

    def closed_segments(self) -> list[LogSegment]:
        """All segments but the active one, which is never compacted."""
        return list(self._segments)[:-1]

    def replace_segments(self, cleaned: CleanedSegment, *, truncations: int) -> bool:
        """Swap a finished `.cleaned` segment in; False if its sources are not there any more.

        A crash at any point leaves the old segments or the new one: the rename of the `.log` to
        `.swap` decides. KafkaError: KAFKA_STORAGE_ERROR.
        """
        slot = self._segments.slot_of(cleaned.base_offset)
        count = len(cleaned.sources)
        sources = self.closed_segments()[slot : slot + count]
        if (
            self._failure is not None
            or truncations != self.truncations
            or tuple(source.base_offset for source in sources) != cleaned.sources
        ):
            self._discard(cleaned.base_offset)
            return False
        stem = paths.segment_path(self.directory, cleaned.base_offset, "")
        try:
            publish(self._fs, stem, paths.CLEANED, paths.SWAP)
            self._delete_async(sources)
            publish(self._fs, stem, paths.SWAP, "")
            segment = LogSegment(
                self._fs,
                self.directory,
                cleaned.base_offset,
                created_ms=cleaned.created_ms,
                index_interval_bytes=self._config.index_interval_bytes,
                progress=self._progress,
            )
            segment.close_indexes()
        except OSError as error:
            raise self._fail(error) from error
        self._segments.replace(slot, count, segment)
        if self.cleaned_until == NEVER_CLEANED:
            self.cleaned_until = self.log_start_offset  # the round goes on, and may be aborted
        for source in sources:
            self._aborted.drop(source.base_offset)
            if source.base_offset != cleaned.base_offset:
                self._producers.remove_snapshot(source.base_offset)
        self._aborted.load(cleaned.base_offset)
        self._reader.forget()
        self._flusher.sync_directory()
        return True

    def relocate(self, directory: str) -> None:
        """The directory was renamed to this one; open descriptors go on."""
        self.directory = directory
        for segment in self._segments:
            segment.relocate(directory)
        self._pending_deletion.relocate(directory)
        self._epochs.relocate(directory)
        self._producers.relocate(directory)
        self._aborted.relocate(directory)
        self._flusher.relocate(directory)

    def adopt_bounds(self, other: StoredLog) -> None:
        """This log holds the same batches as `other`: take over what batches do not hold."""
        for epoch, start_offset in other.epoch_entries:
            self._epochs.assign_unwritten(epoch, start_offset)
        self._epochs.write()
        self.raise_log_start_offset(other.log_start_offset)
        self.update_high_watermark(other.high_watermark)
        self.cleaned_until = other.cleaned_until
        self.update_config(other.config)

    def report_storage_error(self, error: OSError) -> None:
        """Work on this log's files failed elsewhere; a full disk heals, the rest ends the log."""
        self._fail(error)

    def _discard(self, base_offset: int) -> None:
        stem = paths.segment_path(self.directory, base_offset, "")
        for suffix in paths.SEGMENT_SUFFIXES:
            self._fs.remove(stem + suffix + paths.CLEANED)
