"""The stored side of a partition's log: segments, reads, rolling, truncation, retention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.appending.staging import Staging
from dataplane.log.attempts import try_all
from dataplane.log.epochs import LeaderEpochs
from dataplane.log.flushing import Flusher
from dataplane.log.index.transaction_index import AbortedTransaction, TransactionIndex
from dataplane.log.manager.full_disks import DISK_FULL
from dataplane.log.producers.producer_state import ProducerState
from dataplane.log.producers.replay import restore_transactions
from dataplane.log.reading.log_slice import NO_FILE, LogSlice
from dataplane.log.reading.lookup import first_at_or_after, latest_by_time
from dataplane.log.reading.reader import Reader
from dataplane.log.reading.tail import Tail
from dataplane.log.recovery.checkpoint_validation import LogOffsets, validated
from dataplane.log.recovery.recovery import Recovery
from dataplane.log.retention import deletable_prefix
from dataplane.log.segment.pending_deletion import SegmentsPendingDeletion
from dataplane.log.segment.rolling import begin_segment, is_full, jitter_ms
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.integers import INT32_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.log.config import LogConfig
    from dataplane.log.reading.lookup import TimestampedOffset
    from dataplane.log.reading.read_memory import ReadMemory
    from dataplane.log.recovery.load_progress import LoadProgress
    from dataplane.log.segment.log_segment import LogSegment
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.background import Background
    from dataplane.ports.clock import Clock
    from dataplane.ports.filesystem import FileSystem

DAY_MS = 24 * 3600 * 1000
LATEST = -1
NEVER_CLEANED = -1
UNKNOWN_MS = -(1 << 63)


class StoredLog:
    """Everything about a log but appending to it. All calls come from one thread.

    Offsets: `log_start_offset` inclusive; `log_end_offset`, `high_watermark`,
    `last_stable_offset`, `recovery_point` exclusive; `cleaned_until` is where the part that
    compaction has not seen begins, -1 before its first round; `truncations` counts truncations.
    """

    def __init__(
        self,
        fs: FileSystem,
        clock: Clock,
        background: Background,
        *,
        topic_partition: TopicPartition,
        directory: str,
        config: LogConfig,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        clean: bool = False,
        cleaned_until: int = NEVER_CLEANED,
        known_high_watermark: int | None = None,
        progress: LoadProgress | None = None,
        producer_expiration_ms: int = DAY_MS,
        on_storage_error: Callable[[str, OSError], None] | None = None,
        on_recovery_point_lowered: Callable[[], None] | None = None,
    ) -> None:
        self.topic_partition = topic_partition
        self.directory = directory
        self._fs = fs
        self._clock = clock
        self._config = config
        self._on_storage_error = on_storage_error
        self._producer_expiration_ms = producer_expiration_ms
        self._progress = progress
        self._failure: OSError | None = None
        self._staging = Staging()
        self._epochs = LeaderEpochs(fs, f"{directory}/{paths.LEADER_EPOCH_CHECKPOINT}")
        self._epochs.load()
        self.recovered = Recovery(
            fs,
            directory,
            self._epochs,
            now_ms=clock.realtime_ms(),
            index_interval_bytes=config.index_interval_bytes,
            # A log that was compacted once has gaps, whatever its policy is now.
            allows_gaps=config.compacts or cleaned_until != NEVER_CLEANED,
            progress=progress,
        ).load(recovery_point=recovery_point, log_start_offset=log_start_offset, clean=clean)
        self._segments = self.recovered.segments
        self.truncations = 0
        self._active = self._segments.active
        self._active.limit_indexes(config.segment_index_bytes)
        first, end = self._segments[0].base_offset, self.recovered.log_end_offset
        old = LogOffsets(log_start_offset, recovery_point, cleaned_until, known_high_watermark)
        start = validated(old, first, end, clean=clean, directory=directory, progress=progress)
        self.cleaned_until = start.cleaned_until
        self.log_end_offset = end
        self.log_start_offset = max(start.log_start_offset, first)
        self.high_watermark = self.log_start_offset
        self._reader = Reader(self._segments)
        # Largest timestamp that the active segment takes; not known yet while it is UNKNOWN_MS.
        self._roll_after_ms = UNKNOWN_MS
        self._tail = Tail(self.log_end_offset, self._active.size)
        self._pending_deletion = SegmentsPendingDeletion(clock, background)
        self._flusher = Flusher(
            fs,
            background,
            clock,
            directory=directory,
            recovery_point=start.recovery_point,
            on_error=self._fail,
            on_lowered=on_recovery_point_lowered,
        )
        self._producers = ProducerState(fs, directory)
        self._aborted = TransactionIndex(fs, directory)
        self._restore()

    def _restore(self) -> None:
        """What checkpoints and batches hold beside the batches themselves."""
        if self.log_end_offset < self.log_start_offset:
            self.truncate_fully_and_start_at(self.log_start_offset)
        else:
            self._epochs.forget_from_end(self.log_end_offset)
            self._epochs.truncate_from_start(self.log_start_offset)
            self._restore_producers(self.recovered.names)
        self.recovered.names = frozenset()
        if self._progress is not None:
            self._progress.damaged_files += self._producers.damaged_files

    # --- facts ---

    @property
    def recovery_point(self) -> int:
        """Everything below is on the disk."""
        return self._flusher.recovery_point

    @property
    def has_failed(self) -> bool:
        """Whether the disk failed: everything is refused until the broker starts again."""
        return self._failure is not None

    @property
    def last_stable_offset(self) -> int:
        """Below it no transaction is undecided: the bound of `read_committed` consumers."""
        producers = self._producers
        if not producers.has_transactions:
            return self.high_watermark
        first = producers.first_unstable_offset()
        return self.high_watermark if first is None else min(first, self.high_watermark)

    @property
    def size_bytes(self) -> int:
        return self._segments.size_bytes

    @property
    def latest_epoch(self) -> int | None:
        return self._epochs.latest

    @property
    def config(self) -> LogConfig:
        return self._config

    @property
    def producers(self) -> ProducerState:
        return self._producers

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
        segment = self._active
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

    def offset_for_timestamp(self, timestamp_ms: int) -> TimestampedOffset | None:
        """The first record at or after `timestamp_ms`, with its own timestamp and epoch."""
        return first_at_or_after(self._segments, timestamp_ms, self.log_start_offset)

    def max_timestamp_offset(self) -> TimestampedOffset | None:
        """The record with the largest timestamp; None while no record has one."""
        return latest_by_time(self._segments, self.log_start_offset)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Aborted transactions with records in [start, end)."""
        return self._aborted.overlapping(start_offset, end_offset)

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
        if self._producers.has_transactions:
            self._producers.on_high_watermark(offset)
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
        self._guard()
        slot = self._segments.slot_of(offset)
        try:
            self._delete_async(self._segments.take_from(slot + 1))
            self._active = self._segments.active
            offset = self._active.truncate_to(offset)
        except OSError as error:
            raise self._fail(error) from error
        self.log_end_offset = offset
        self.log_start_offset = min(self.log_start_offset, offset)
        self._after_truncation()
        self._flusher.truncated(offset)
        # A producer remembered beyond the end would get the answer that its batch is there already.
        refused = try_all(
            lambda: self._epochs.truncate_from_end(offset),
            lambda: self._aborted.truncate_to(offset),
            lambda: self._producers.drop_snapshots_from(offset),
            self._restore_producers,
        )
        if refused is not None:
            raise self._fail(refused) from refused

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Throw everything away; the log is empty and its next record has `offset`."""
        self._guard()
        try:
            for segment in self._segments:
                self._aborted.forget(segment.base_offset)
            old = list(self._segments)
            self._delete_async(old)
            self._segments.replace_all(self._new_segment(offset))
        except OSError as error:
            raise self._fail(error) from error
        self._active = self._segments.active
        self.log_end_offset = self.log_start_offset = self.high_watermark = offset
        self._after_truncation()
        self._flusher.restart(offset)
        self._epochs.clear()
        self._producers.clear()
        for taken in self._producers.snapshot_offsets():
            self._producers.remove_snapshot(taken)

    def _after_truncation(self) -> None:
        self.truncations += 1
        self.cleaned_until = min(self.cleaned_until, self.log_end_offset)
        self.high_watermark = min(self.high_watermark, self.log_end_offset)
        self._reader.forget()
        self._tail.reset(self.log_end_offset, self._active.size)
        self._roll_after_ms = UNKNOWN_MS

    # --- rolling and retention ---

    def roll(self, base_offset: int | None = None) -> None:
        """Close the active segment and begin another at the log's end, or behind a gap."""
        old, end = self._active, self.log_end_offset
        if not old.size and base_offset is None:
            return
        offset = end if base_offset is None else base_offset
        try:
            old.seal()
            self._epochs.settle(end)
            self._producers.take_snapshot(offset)
            self._segments.add(self._new_segment(offset))
        except OSError as error:
            raise self._fail(error) from error
        self._active = self._segments.active
        self._tail.reset(offset, 0)
        self._roll_after_ms = UNKNOWN_MS
        self._producers.prune_snapshots(self._segments.bases)
        self._flusher.flush_in_background(self._unsynced(), end)

    def _roll_if_due(self, size: int, first: int, last: int, max_ms: int, now_ms: int) -> None:
        """Roll if `size` bytes of offsets `first` to `last` would break a bound of the segment."""
        segment = self._active
        if last - segment.base_offset > INT32_MAX:
            self.roll(first)  # a gap that compaction left: indexes cannot reach over it
            return
        if not segment.size:
            return
        config = self._config
        if is_full(segment, config, size):
            self.roll()
            return
        first_ms = segment.first_timestamp_ms
        if first_ms >= 0:
            self._roll_after_ms = first_ms + config.roll_ms - jitter_ms(segment, config)
            if max_ms > self._roll_after_ms:
                self.roll()
        elif now_ms - segment.created_ms > config.roll_ms - jitter_ms(segment, config):
            self.roll()

    def apply_retention(self, now_ms: int) -> int:
        """Drop what breaches retention. Returns how many segments went."""
        self._guard()
        count = deletable_prefix(
            self._segments,
            self._config,
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
            dropped = self._segments.take_first(count)
            self._delete_async(dropped)
        except OSError as error:
            raise self._fail(error) from error
        self._reader.forget()
        for segment in dropped:
            self._aborted.drop(segment.base_offset)
            self._producers.remove_snapshot(segment.base_offset)
        self.raise_log_start_offset(self._segments[0].base_offset)
        return count

    def _delete_async(self, segments: list[LogSegment]) -> None:
        self._pending_deletion.add(segments, self._config.file_delete_delay_ms)

    def _new_segment(self, offset: int) -> LogSegment:
        place, now_ms = (self._fs, self.directory, offset), self._clock.realtime_ms()
        return begin_segment(*place, self._config, now_ms=now_ms, progress=self._progress)

    # --- durability and life ---

    def flush(self) -> None:
        """Sync everything now, on this thread."""
        if self.recovery_point < self.log_end_offset:
            self._flush_by(self._flusher.flush)

    def flush_in_background(self) -> None:
        """Sync everything in a worker thread; `recovery_point` moves when it is done."""
        self._flush_by(self._flusher.flush_in_background)

    def _flush_by(self, flush: Callable[[list[LogSegment], int], None]) -> None:
        try:
            self._epochs.settle(self.log_end_offset)
            flush(self._unsynced(), self.log_end_offset)
        except OSError as error:
            raise self._fail(error) from error

    def _unsynced(self) -> list[LogSegment]:
        first = self._segments.slot_of(self.recovery_point)
        return [self._segments[slot] for slot in range(first, len(self._segments))]

    def tick(self) -> None:
        """Housekeeping without a deadline: `flush.ms`, unlinking, forgetting silent producers."""
        self._pending_deletion.purge()
        self._producers.expire(self._clock.realtime_ms(), self._producer_expiration_ms)
        is_due = self._clock.monotonic_ms() - self._flusher.last_flush_ms >= self._config.flush_ms
        if is_due and self._failure is None and self.recovery_point < self.log_end_offset:
            self.flush_in_background()

    def update_config(self, config: LogConfig) -> None:
        self._config = config
        self._roll_after_ms = UNKNOWN_MS
        for segment in self._segments:
            segment.index_interval_bytes = config.index_interval_bytes
        self._active.limit_indexes(config.segment_index_bytes)

    def close(self) -> None:
        """Write what is pending, take a producer snapshot, sync, give the descriptors back."""
        if self._failure is None:
            self._producers.take_snapshot(self.log_end_offset)
            self.flush()
            self._active.trim()
        self.release()

    def release(self) -> None:
        """Give the descriptors back without writing: the files are going, or the disk is bad."""
        for segment in self._segments:
            segment.release()
        self._pending_deletion.release()

    def fail(self, error: OSError) -> None:
        """The directory is lost: refuse everything from now on."""
        self._failure = self._failure or error

    def _restore_producers(self, names: frozenset[str] | None = None) -> None:
        snapshot_offset = self._producers.load_snapshot(
            self.log_end_offset,
            self.log_start_offset,
            self._clock.realtime_ms(),
            self._producer_expiration_ms,
            names,
        )
        restore_transactions(
            self._segments,
            self._producers,
            self._aborted,
            snapshot_offset=snapshot_offset,
            log_start_offset=self.log_start_offset,
            log_end_offset=self.log_end_offset,
            names=names,
        )

    def _guard(self) -> None:
        if self._failure is not None:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(self._failure))

    def _fail(self, error: OSError) -> KafkaError:
        """Take note of a disk's error. A full disk heals; any other error ends this log."""
        if self._failure is None:
            if error.errno not in DISK_FULL:
                self._failure = error
            if self._on_storage_error is not None:
                self._on_storage_error(self.directory, error)
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
