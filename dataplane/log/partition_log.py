"""One partition's log: Kafka's UnifiedLog.

It keeps the offsets that bound the log and leads its parts (`LogParts`), each with a state of its
own: the files, producers, leader epochs, what is staged, what is synced, the disk's errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log.appending.follower import FollowerAppends
from dataplane.log.appending.leader import LeaderAppends
from dataplane.log.attempts import try_all
from dataplane.log.log_loader import load_log
from dataplane.log.opening import NEVER_CLEANED, NEW_LOG, NOBODY
from dataplane.log.reading.log_slice import NO_FILE, AppendInfo, LogSlice
from dataplane.log.reading.lookup import first_at_or_after, latest_by_time, segments_before
from dataplane.log.reading.scan import base_offset_at
from dataplane.log.retention import deletable_prefix
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.log.cleaner.cleaned_segment import CleanedSegment
    from dataplane.log.config import LogConfig
    from dataplane.log.index.transaction_index import AbortedTransaction
    from dataplane.log.opening import CheckpointedState, LogEnvironment, LogListeners
    from dataplane.log.producers.producer_state import ProducerState
    from dataplane.log.reading.lookup import TimestampedOffset
    from dataplane.log.reading.read_memory import ReadMemory
    from dataplane.log.recovery.load_progress import LoadProgress
    from dataplane.log.segment.log_segment import LogSegment
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.filesystem import Buffer

__all__ = ["AppendInfo", "LogSlice", "PartitionLog"]

DAY_MS = 24 * 3600 * 1000
LATEST = -1


class PartitionLog:
    """The log of one replica. All calls come from one thread.

    Offsets: `log_start_offset` inclusive; `log_end_offset`, `high_watermark`,
    `last_stable_offset`, `recovery_point` exclusive; `cleaned_until` is where the part that
    compaction has not seen begins, -1 before its first round.
    """

    def __init__(
        self,
        environment: LogEnvironment,
        topic_partition: TopicPartition,
        directory: str,
        config: LogConfig,
        *,
        checkpointed: CheckpointedState = NEW_LOG,
        listeners: LogListeners = NOBODY,
        progress: LoadProgress | None = None,
        producer_expiration_ms: int = DAY_MS,
    ) -> None:
        """Open the log in `directory`, which exists, or begin it there. `OSError`."""
        self.topic_partition = topic_partition
        self._clock = environment.clock
        parts, self.recovered, start = load_log(
            environment,
            directory,
            config,
            checkpointed=checkpointed,
            listeners=listeners,
            progress=progress,
            producer_expiration_ms=producer_expiration_ms,
        )
        self.cleaned_until = start.cleaned_until
        self.log_end_offset = self.recovered.log_end_offset
        first = parts.local.segments[0].base_offset
        self.log_start_offset = max(start.log_start_offset, first)
        self.high_watermark = self.log_start_offset
        self._parts = parts
        self._local = parts.local
        self._segments = parts.local.segments
        self._tail = parts.local.tail
        self._reader = parts.local.reader
        self._epochs = parts.epochs
        self._producers = parts.producers
        self._flusher = parts.flusher
        self._storage = parts.storage
        self.leader_appends = LeaderAppends(parts, self)
        self._follower_appends = FollowerAppends(
            parts, self, environment.clock, on_truncated=self._after_truncation
        )
        self._restore(progress)

    def _restore(self, progress: LoadProgress | None) -> None:
        """What checkpoints and batches hold beside the batches themselves."""
        if self.log_end_offset < self.log_start_offset:
            self.truncate_fully_and_start_at(self.log_start_offset)
        else:
            self._epochs.forget_from_end(self.log_end_offset)
            self._epochs.truncate_from_start(self.log_start_offset)
            bounds = (self.log_start_offset, self.log_end_offset)
            self._producers.restore(*bounds, self.recovered.names)
        self.recovered.names = frozenset()
        if progress is not None:
            progress.damaged_files += self.producers.damaged_files

    # --- facts ---

    @property
    def directory(self) -> str:
        return self._local.directory

    @property
    def config(self) -> LogConfig:
        return self._local.config

    @property
    def recovery_point(self) -> int:
        """Everything below is on the disk."""
        return self._flusher.recovery_point

    @property
    def truncations(self) -> int:
        """How often the log was truncated since it was opened."""
        return self._local.truncations

    @property
    def has_failed(self) -> bool:
        """Whether the disk failed: everything is refused until the broker starts again."""
        return self._storage.failure is not None

    @property
    def last_stable_offset(self) -> int:
        """Below it no transaction is undecided: the bound of `read_committed` consumers.

        Not below the log start, which may pass the first record of an open transaction: consumers
        that begin at the end would otherwise be sent to an offset that is gone.
        """
        producers = self._producers.state
        if not producers.has_transactions:
            return self.high_watermark
        first = producers.first_unstable_offset()
        if first is None:
            return self.high_watermark
        return min(max(first, self.log_start_offset), self.high_watermark)

    @property
    def size_bytes(self) -> int:
        return self._segments.size_bytes

    @property
    def latest_epoch(self) -> int | None:
        return self._epochs.latest

    @property
    def producers(self) -> ProducerState:
        return self._producers.state

    @property
    def epoch_entries(self) -> tuple[tuple[int, int], ...]:
        """(epoch, start offset) of every known leader epoch."""
        return self._epochs.entries

    @property
    def segment_base_offsets(self) -> list[int]:
        return self._segments.bases

    # --- reading ---

    def read(
        self,
        start_offset: int,
        max_bytes: int,
        upper_bound_offset: int,
        *,
        min_one_batch: bool = True,
        memory: ReadMemory | None = None,
    ) -> LogSlice:
        """Whole batches from the one that holds `start_offset` to below the upper bound.

        At least one batch even if it is larger than `max_bytes`, unless `min_one_batch` is off;
        empty at the bound. May be read into `memory` already. KafkaError: OFFSET_OUT_OF_RANGE.
        """
        end = self.log_end_offset
        if not self.log_start_offset <= start_offset <= end:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Offset {start_offset} is outside [{self.log_start_offset}, {end}].",
            )
        segment = self._segments.active
        if start_offset >= upper_bound_offset or start_offset == end:
            return LogSlice(NO_FILE, segment.size, 0, start_offset)
        tail = self._tail
        begin = tail.position_of(start_offset)
        if begin < 0:
            bounds = (start_offset, max_bytes, upper_bound_offset, end)
            return self._reader.read(*bounds, min_one_batch=min_one_batch, memory=memory)
        stop = segment.size if upper_bound_offset >= end else tail.position_of(upper_bound_offset)
        if stop - begin > max_bytes:
            limit, stop_bound = begin + max_bytes, stop
            stop = tail.boundary_at_or_before(limit)
            if stop <= begin:
                stop = min(tail.boundary_after(begin), stop_bound) if min_one_batch else begin
        return LogSlice(segment.file, begin, stop - begin, start_offset)

    def past_empty(
        self, found: LogSlice, max_bytes: int, upper_bound_offset: int, *, min_one_batch: bool
    ) -> LogSlice:
        """What a consumer gets of a compacted log, where `read` with the same bounds gave `found`.

        It begins with a batch that holds a record it has not seen, if there is one before the
        bound. If not, it is `found`: the position of a consumer that goes by batches moves on.
        """
        offset = self._local.next_record(found, upper_bound_offset)
        if offset is None:
            return found
        return self.read(offset, max_bytes, upper_bound_offset, min_one_batch=min_one_batch)

    def readable_bytes(self, found: LogSlice, upper_bound_offset: int) -> int:
        """Bytes from the beginning of `found`, which is not empty, to the bound, or REACHES_ON."""
        return self._local.readable_bytes(found, upper_bound_offset, self.log_end_offset)

    def offset_for_timestamp(self, timestamp_ms: int) -> TimestampedOffset | None:
        """The first record at or after `timestamp_ms`, with its own timestamp and epoch."""
        return first_at_or_after(self._segments, timestamp_ms, self.log_start_offset)

    def segments_before(self, timestamp_ms: int) -> list[int]:
        """Where the segments up to a time begin, the last first, as ListOffsets 0 wants them."""
        return segments_before(self._segments, timestamp_ms, self.log_start_offset)

    def max_timestamp_offset(self) -> TimestampedOffset | None:
        """The record with the largest timestamp; None while no record has one."""
        return latest_by_time(self._segments, self.log_start_offset)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Aborted transactions with records in [start, end)."""
        return self._producers.aborted.overlapping(start_offset, end_offset)

    def aborted_in(self, found: LogSlice, upper_bound_offset: int) -> list[tuple[int, int]]:
        """(producer id, first offset) of those with records in what was read below the bound.

        `read_committed` consumers drop them. One too many does no harm, as a segment's last slice
        may have.
        """
        if self._producers.aborted.is_empty or not found.size:
            return []
        segments, behind = self._segments, found.position + found.size
        first = max(found.base_offset, base_offset_at(found.file, found.position))
        slot = segments.slot_of(first)  # after compaction it may lie in a later segment
        upper = min(upper_bound_offset, segments.end_of(slot, self.log_end_offset))
        if behind < segments[slot].size:
            upper = min(upper, base_offset_at(found.file, behind))
        rows = self._producers.aborted.overlapping(found.base_offset, upper)
        return [(row.producer_id, row.first_offset) for row in rows]

    @property
    def last_aborted_offset(self) -> int:
        """The last marker of an abort in what the log still holds; -1 without any."""
        return self._producers.aborted.last_offset

    # --- appending ---

    def append_as_leader(
        self, records: Buffer, leader_epoch: int, *, now_ms: int, origin: str = "client"
    ) -> AppendInfo:
        """Stage one batch and commit it: see `LeaderAppends`, which writes several at once."""
        appends = self.leader_appends
        try:
            return appends.stage(records, leader_epoch, now_ms=now_ms, origin=origin)
        finally:
            appends.commit()

    def append_as_follower(self, records: Buffer) -> AppendInfo:
        """Append batches as the leader wrote them: see `FollowerAppends.append`."""
        return self._follower_appends.append(records)

    # --- leader epochs ---

    def assign_epoch_start(self, epoch: int, offset: int) -> None:
        """A leader of `epoch` was elected when the log ended at `offset`."""
        self._epochs.assign(epoch, offset)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """(largest known epoch ≤ `epoch`, its end offset), (-1, -1) if unknown (KIP-101)."""
        return self._epochs.end_offset_for(epoch, self.log_end_offset)

    def epoch_at(self, offset: int) -> int:
        """Leader epoch of the record at `offset`, or of the log's end; -1 if unknown."""
        return self._epochs.epoch_at(offset)

    # --- bounds ---

    def update_high_watermark(self, offset: int) -> int:
        """Set the high watermark, kept within the log. Returns what it is now."""
        offset = min(max(offset, self.log_start_offset), self.log_end_offset)
        self.high_watermark = offset
        producers = self._producers.state
        if producers.has_transactions:
            producers.on_high_watermark(offset)
        return offset

    def delete_records_before(self, offset: int) -> int:
        """DeleteRecords: move the log start up; -1 means the high watermark. Returns log start.

        KafkaError: OFFSET_OUT_OF_RANGE beyond the high watermark. Whether the topic's policy
        allows it is the caller's to check.
        """
        target = self.high_watermark if offset == LATEST else offset
        if not 0 <= target <= self.high_watermark:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Offset {offset} is outside [0, {self.high_watermark}], the high watermark.",
            )
        self.raise_log_start_offset(target)
        return self.log_start_offset

    def raise_log_start_offset(self, offset: int) -> None:
        """Records before `offset` are gone for readers; their files go at the next retention."""
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self._epochs.truncate_from_start(offset)
            self.high_watermark = max(self.high_watermark, offset)

    # --- truncation ---

    def truncate_to(self, offset: int) -> None:
        """Truncate the log so that it ends at `offset`, or before it at a batch boundary."""
        if offset >= self.log_end_offset:
            # No bytes to remove, but an epoch may begin here: one that we led without appending.
            # Kept, it would make every fetch diverge again from a leader that never had it.
            self._epochs.truncate_from_end(offset)
            return
        if offset < self._segments[0].base_offset:
            self.truncate_fully_and_start_at(offset)
            return
        self._parts.check_idle()
        try:
            offset = self._local.truncate_to(offset)
        except OSError as error:
            raise self._storage.note(error) from error
        self.log_end_offset = offset
        self.log_start_offset = min(self.log_start_offset, offset)
        self._after_truncation()
        self._flusher.truncated(offset)
        producers = self._producers
        # A producer remembered beyond the end would get the answer that its batch is there already.
        refused = try_all(
            lambda: self._epochs.truncate_from_end(offset),
            lambda: producers.aborted.truncate_to(offset),
            lambda: producers.state.drop_snapshots_from(offset),
            lambda: producers.restore(self.log_start_offset, offset),
        )
        if refused is not None:
            raise self._storage.note(refused) from refused

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Throw everything away; the log is empty and its next record has `offset`."""
        self._parts.check_idle()
        try:
            self._producers.forget_aborted()
            self._local.restart_at(offset)
        except OSError as error:
            raise self._storage.note(error) from error
        self.log_end_offset = self.log_start_offset = self.high_watermark = offset
        self._after_truncation()
        self._flusher.restart(offset)
        self._epochs.clear()
        self._producers.restart()

    def _after_truncation(self) -> None:
        self.cleaned_until = min(self.cleaned_until, self.log_end_offset)
        self.high_watermark = min(self.high_watermark, self.log_end_offset)
        self._local.forget_positions(self.log_end_offset)

    # --- rolling, retention, compaction ---

    def roll(self, base_offset: int | None = None) -> None:
        """Close the active segment and begin another at the log's end, or behind a gap."""
        self._parts.roller.roll(self.log_end_offset, base_offset)

    def apply_retention(self, now_ms: int) -> int:
        """Drop what breaches retention. Returns how many segments went."""
        self._parts.check_idle()
        count = deletable_prefix(
            self._segments,
            self.config,
            now_ms=now_ms,
            log_start_offset=self.log_start_offset,
            log_end_offset=self.log_end_offset,
            high_watermark=self.high_watermark,
        )
        if not count:
            return 0
        if count == len(self._segments):
            self.roll()
        try:
            dropped = self._local.delete_first(count)
        except OSError as error:
            raise self._storage.note(error) from error
        self._producers.drop_segments(dropped)
        self.raise_log_start_offset(self._segments[0].base_offset)
        return count

    @property
    def active_base_offset(self) -> int:
        return self._segments.active.base_offset

    def closed_segments(self) -> list[LogSegment]:
        """All segments but the active one, which is never compacted."""
        return self._local.closed_segments()

    def replace_segments(self, cleaned: CleanedSegment, *, truncations: int) -> bool:
        """Swap a finished `.cleaned` segment in; False if its sources are not there any more.

        KafkaError: KAFKA_STORAGE_ERROR.
        """
        sources = self._local.sources_of(cleaned)
        if self.has_failed or truncations != self.truncations or sources is None:
            self._local.discard(cleaned)
            return False
        try:
            self._local.replace(sources, cleaned)
        except OSError as error:
            raise self._storage.note(error) from error
        if self.cleaned_until == NEVER_CLEANED:
            self.cleaned_until = self.log_start_offset  # the round goes on, and may be aborted
        self._producers.replace_segments(sources, cleaned.base_offset)
        self._flusher.sync_directory()
        return True

    # --- durability and life ---

    def flush(self) -> None:
        """Sync everything now, on this thread."""
        if self.recovery_point < self.log_end_offset:
            self._flusher.flush(self.log_end_offset)

    def flush_in_background(self) -> None:
        """Sync everything in a worker thread; `recovery_point` moves when it is done."""
        self._flusher.flush_in_background(self.log_end_offset)

    def tick(self) -> None:
        """Housekeeping without a deadline: `flush.ms`, unlinking, forgetting silent producers."""
        self._local.purge()
        self._producers.expire()
        is_due = self._clock.monotonic_ms() - self._flusher.last_flush_ms >= self.config.flush_ms
        if is_due and not self.has_failed and self.recovery_point < self.log_end_offset:
            self.flush_in_background()

    def update_config(self, config: LogConfig) -> None:
        self._local.update_config(config)

    def relocate(self, directory: str) -> None:
        """The directory was renamed to this one; open descriptors go on."""
        self._local.relocate(directory)
        self._epochs.relocate(directory)
        self._producers.relocate(directory)
        self._flusher.relocate(directory)
        self._storage.relocate(directory)

    def adopt_bounds(self, other: PartitionLog) -> None:
        """This log holds the same batches as `other`: take over what batches do not hold."""
        for epoch, start_offset in other.epoch_entries:
            self._epochs.assign_unwritten(epoch, start_offset)
        self._epochs.write()
        self.raise_log_start_offset(other.log_start_offset)
        self.update_high_watermark(other.high_watermark)
        self.cleaned_until = other.cleaned_until
        self.update_config(other.config)

    def close(self) -> None:
        """Write what is pending, take a producer snapshot, sync, give the descriptors back."""
        if not self.has_failed:
            self.producers.take_snapshot(self.log_end_offset)
            self.flush()
            self._segments.active.trim()
        self.release()

    def release(self) -> None:
        """Give the descriptors back without writing: the files are going, or the disk is bad."""
        self._local.release()

    def fail(self, error: OSError) -> None:
        """The directory is lost: refuse everything from now on."""
        self._storage.end(error)

    def report_storage_error(self, error: OSError) -> None:
        """Work on this log's files failed elsewhere; a full disk heals, the rest ends the log."""
        self._storage.note(error)
