"""One partition's log, with the two ways to append to it.

Hot path: a batch's head is unpacked once, its CRC checked, 16 bytes patched, and whole batches
written in one call, as many as were staged. Records are never decoded unless a setting of the topic
asks for it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from dataplane.log.appending import replicated
from dataplane.log.appending.validation import (
    check_unusual,
    malformed,
    read_marker,
    rework,
    too_large,
)
from dataplane.log.cleaner.compactable import CompactableLog
from dataplane.log.index.transaction_index import AbortedTransaction
from dataplane.log.producers.producer_entry import BATCHES_REMEMBERED, sequence_plus
from dataplane.log.producers.recall import earlier_batches
from dataplane.log.reading.log_slice import AppendInfo, LogSlice
from dataplane.log.reading.scan import BatchHead
from dataplane.log.stored_log import NEVER_CLEANED
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.integers import INT32_MAX
from dataplane.wire.batch_layout import (
    ASSIGNED_BY_LEADER,
    CHECKED_FROM,
    CODEC_MASK,
    CONTROL_FLAG,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD_BYTES,
    MAGIC_V2,
    NO_TIMESTAMP,
    TRANSACTIONAL_FLAG,
)
from dataplane.wire.crc import crc32c

if TYPE_CHECKING:
    from dataplane.log.producers.producer_entry import BatchTrace, ProducerEntry
    from dataplane.log.producers.producer_state import Marker
    from dataplane.ports.filesystem import Buffer

__all__ = ["AppendInfo", "LogSlice", "PartitionLog"]

_stamp = ASSIGNED_BY_LEADER.pack_into
_unpack_head = HEADER.unpack_from
_SLOW_PRODUCER_FLAGS = CONTROL_FLAG | TRANSACTIONAL_FLAG
_UNUSUAL_FLAGS = CONTROL_FLAG | CODEC_MASK | LOG_APPEND_TIME_FLAG


def _checked_head(records: Buffer, max_message_bytes: int) -> tuple[int, ...]:
    """The fields of exactly one whole batch with a good CRC, or the refusal."""
    size = len(records)
    if size < HEADER_BYTES:
        raise malformed(records)
    head = _unpack_head(records)
    _, length, _, magic, crc, _, delta, _, _, _, _, _, count = head
    if length + LOG_OVERHEAD_BYTES != size or magic != MAGIC_V2:
        raise malformed(records)
    if size > max_message_bytes:
        raise too_large(size, max_message_bytes)
    if crc32c(memoryview(records)[CHECKED_FROM:]) != crc:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "CRC-32C of the batch does not match.")
    if delta + 1 != count or count < 1:
        raise KafkaError(
            ErrorCode.INVALID_RECORD, f"Batch of {count} records spans {delta + 1} offsets."
        )
    return head


class PartitionLog(CompactableLog):
    """The log of one replica. All calls come from one thread."""

    def append_as_leader(
        self, records: Buffer, leader_epoch: int, *, now_ms: int, origin: str = "client"
    ) -> AppendInfo:
        """Stage one batch and commit it."""
        try:
            return self.stage(records, leader_epoch, now_ms=now_ms, origin=origin)
        finally:
            self.commit()

    def stage(
        self, records: Buffer, leader_epoch: int, *, now_ms: int, origin: str = "client"
    ) -> AppendInfo:
        """Check one batch and give it its offsets; `commit`, due after a refusal too, writes it.

        Until then nothing else is asked of the log, and `records` stays but for what is stamped in.
        The batch is in the log if after `commit` `log_end_offset` has passed its last offset.
        KafkaError: CORRUPT_MESSAGE, INVALID_RECORD, MESSAGE_TOO_LARGE, INVALID_TIMESTAMP,
        UNSUPPORTED_COMPRESSION_TYPE, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH,
        INVALID_TXN_STATE, TRANSACTION_COORDINATOR_FENCED, KAFKA_STORAGE_ERROR.
        """
        staging = self._staging
        if self._failure is not None or staging.failure is not None:
            raise self._refuse()
        config = self._config
        head = _checked_head(records, config.max_message_bytes)
        _, _, _, _, _, attributes, delta, _, max_ts, producer_id, epoch, sequence, _ = head
        marker: Marker | None = None
        if attributes & _UNUSUAL_FLAGS:
            marker = check_unusual(records, attributes, origin)
        base = staging.batches[-1][0] + 1 if staging.batches else self.log_end_offset
        last = base + delta
        batch: BatchHead | None = None
        producer: ProducerEntry | None = None
        if producer_id >= 0:
            producer = self._producers.entries.get(producer_id)
            if (
                producer is None
                or staging.sequences.get(producer_id, producer.next_sequence) != sequence
                or producer.epoch != epoch
                or attributes & _SLOW_PRODUCER_FLAGS
                or producer.transaction_first_offset >= 0
            ):
                self._write_before_going_on()
                place = (0, len(records), base, last)
                batch = BatchHead(*place, leader_epoch, attributes, max_ts, *head[9:])
                trace = self._check_producer(batch, marker)
                if trace is not None:
                    return self._duplicate_info(trace)
        if isinstance(records, bytes) or (isinstance(records, memoryview) and records.readonly):
            records = bytearray(records)
        if config.reworks and not attributes & CONTROL_FLAG:
            records = rework(records, config, now_ms)
            if config.stamps_append_time:
                max_ts = now_ms
                batch = batch and batch._replace(max_timestamp_ms=now_ms)
        size = len(records)
        if leader_epoch != self._epochs.latest:
            self._write_before_going_on()  # no epoch may begin behind what could not be written
            self._assign_epoch(leader_epoch, base)
        _stamp(records, 0, base, size - LOG_OVERHEAD_BYTES, leader_epoch)
        segment = self._active
        if (
            max_ts > self._roll_after_ms
            or segment.size + staging.size + size > config.segment_bytes
            or segment.is_index_full
            or last - segment.base_offset > INT32_MAX
        ):
            self._write_before_going_on()
            self._roll_if_due(size, base, last, max_ts, now_ms)
        staging.parts.append(records)
        staging.batches.append((last, max_ts, size, delta, sequence, None if batch else producer))
        staging.size += size
        if batch is not None:
            self._write_before_going_on()
            self._record(batch, marker)
        elif producer is not None:
            staging.sequences[producer_id] = sequence_plus(sequence, delta + 1)
        stamped_ms = now_ms if config.stamps_append_time else NO_TIMESTAMP
        return AppendInfo(base, last, stamped_ms, self.log_start_offset, False, max_ts, delta + 1)

    def commit(self) -> None:
        """Write what is staged, all of it or nothing. KafkaError: KAFKA_STORAGE_ERROR."""
        staging = self._staging
        failure, staging.failure = staging.failure, None
        if failure is not None:
            raise failure
        if staging.batches:
            if self._failure is not None:  # another log has lost the directory meanwhile
                staging.clear()
                raise self._refuse()
            self._write_staged()
        # Not before: what is written must be noted in full, whether it can be synced or not.
        if self.log_end_offset - self._flusher.recovery_point >= self._config.flush_messages:
            self.flush_in_background()

    def _guard(self) -> None:
        super()._guard()
        if self._staging.batches:
            raise RuntimeError(f"{self.directory}: batches are staged")

    def _refuse(self) -> KafkaError:
        return self._staging.failure or self._storage_error(self._failure)

    @staticmethod
    def _storage_error(error: OSError | None) -> KafkaError:
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))

    def _write_before_going_on(self) -> None:
        """Write what is staged, for a batch that needs the log as it then is."""
        if self._staging.batches:
            try:
                self._write_staged()
            except KafkaError as error:
                self._staging.failure = error
                raise
            except OSError as error:  # giving up the directory failed too
                self._staging.failure = self._storage_error(error)
                raise

    def _write_staged(self) -> None:
        staging = self._staging
        segment = self._active
        before = position = segment.size
        try:
            segment.append(staging.parts, staging.batches)
            push = self._tail.push
            for last, max_ts, size, delta, sequence, producer in staging.batches:
                position += size
                push(last + 1, position)
                if producer is not None:
                    producer.remember(sequence, last, delta, max_ts)
        except OSError as error:
            raise self._undo(before, self.log_end_offset, error) from error
        finally:
            staging.clear()  # whatever happened, their memory is not ours for longer
        self.log_end_offset = last + 1

    def append_as_follower(self, records: Buffer) -> AppendInfo:
        """Append batches as the leader wrote them; a partial batch at the end is ignored.

        KafkaError: CORRUPT_MESSAGE for a damaged batch, OFFSET_OUT_OF_RANGE for offsets that do
        not continue the log, KAFKA_STORAGE_ERROR. Nothing is appended then.
        """
        self._guard()
        view = memoryview(records)
        batches, size = replicated.parse(view, self.log_end_offset)
        start = self.log_end_offset
        if not batches:
            return AppendInfo(
                start, start - 1, NO_TIMESTAMP, self.log_start_offset, False, NO_TIMESTAMP, 0
            )
        first, last = batches[0].base_offset, batches[-1].last_offset
        if last - first > INT32_MAX:  # more than one segment can hold: the rest is fetched again
            batches = [batch for batch in batches if batch.last_offset - first <= INT32_MAX]
            size, last = batches[-1].position + batches[-1].size, batches[-1].last_offset
        max_ts = max(batch.max_timestamp_ms for batch in batches)
        self._roll_if_due(size, first, last, max_ts, self._clock.realtime_ms())
        if batches[-1].leader_epoch != self._epochs.latest:
            # Before the records: a full disk must not leave records without their epoch.
            try:
                for batch in batches:
                    if batch.leader_epoch != self._epochs.latest:
                        self._assign_epoch(batch.leader_epoch, batch.base_offset)
            except KafkaError:
                self._unroll()
                raise
        segment = self._active
        before = segment.size
        try:
            segment.append_unnoted(view[:size])
            for batch in batches:
                segment.note(
                    batch.last_offset, batch.max_timestamp_ms, before + batch.position, batch.size
                )
        except OSError as error:
            failure = self._undo(before, start, error)
            with contextlib.suppress(OSError):
                self._epochs.truncate_from_end(start)
            self._unroll()
            raise failure from error
        self.log_end_offset = last + 1
        count = sum(batch.records for batch in batches)
        if count != last + 1 - start and self.cleaned_until == NEVER_CLEANED:
            self.cleaned_until = self.log_start_offset  # compaction took records at the leader
        for batch in batches:
            self._follow(batch, before, view)
        if last + 1 - self._flusher.recovery_point >= self._config.flush_messages:
            self.flush_in_background()
        return AppendInfo(
            batches[0].base_offset,
            last,
            NO_TIMESTAMP,
            self.log_start_offset,
            False,
            max_ts,
            count,
        )

    def _follow(self, batch: BatchHead, before: int, view: memoryview) -> None:
        """Tail and producer of one batch that was just replicated."""
        end = batch.position + batch.size
        self._tail.push(batch.last_offset + 1, before + end)
        if batch.producer_id >= 0:
            marker = None
            if batch.attributes & CONTROL_FLAG:
                marker = read_marker(view[batch.position : end])
            self._record(batch, marker)

    def _check_producer(self, batch: BatchHead, marker: Marker | None) -> BatchTrace | None:
        """Refuse what does not fit; the earlier batch if this one was sent again."""
        if not batch.attributes & CONTROL_FLAG:
            if batch.base_sequence < 0:
                raise KafkaError(
                    ErrorCode.INVALID_RECORD, "The batch has a producer id and no sequence number."
                )
            trace = self._producers.find_duplicate(batch) or self._recalled_duplicate(batch)
            if trace is not None:
                return trace
        self._producers.check(batch, marker)
        return None

    def _recalled_duplicate(self, batch: BatchHead) -> BatchTrace | None:
        """The same for a producer known from a snapshot, whose log is looked at once for more."""
        entry = self._producers.entries.get(batch.producer_id)
        if (
            entry is None
            or not entry.is_from_snapshot
            or entry.epoch != batch.producer_epoch
            or entry.next_sequence == batch.base_sequence
            or len(entry.batches) == BATCHES_REMEMBERED
        ):
            return None
        try:
            entry.recall(earlier_batches(self._segments, entry))
        except OSError as error:
            raise self._fail(error) from error
        return self._producers.find_duplicate(batch)

    def _record(self, batch: BatchHead, marker: Marker | None) -> None:
        completed = self._producers.record(batch, marker)
        if completed is not None and completed.is_aborted:
            self._aborted.append(
                self._active.base_offset,
                AbortedTransaction(
                    completed.producer_id,
                    completed.first_offset,
                    completed.last_offset,
                    self._producers.last_stable_offset_after(completed),
                ),
            )

    def _duplicate_info(self, trace: BatchTrace) -> AppendInfo:
        stamped_ms = trace.timestamp_ms if self._config.stamps_append_time else NO_TIMESTAMP
        return AppendInfo(
            trace.first_offset,
            trace.last_offset,
            stamped_ms,
            self.log_start_offset,
            True,
            trace.timestamp_ms,
            trace.offset_delta + 1,
        )

    def _assign_epoch(self, epoch: int, offset: int) -> None:
        try:
            self._epochs.assign(epoch, offset)
        except OSError as error:
            raise self._fail(error) from error

    def _unroll(self) -> None:
        """What a segment was begun for behind a gap did not come: the log ends before the gap.

        A full disk heals, and appends at the log's end go on in the segment that covers it.
        """
        end = self.log_end_offset
        if self._active.base_offset <= end:
            return
        begun = self._segments.take_from(self._segments.slot_of(end) + 1)
        self._active = self._segments.active
        self._after_truncation()
        try:
            self._delete_async(begun)
            self._producers.drop_snapshots_from(end)
        except OSError as error:
            self._fail(error)

    def _undo(self, size: int, end_offset: int, error: OSError) -> KafkaError:
        """A write failed: take the segment back to where it was, or give the log up."""
        segment = self._active
        try:
            segment.undo_append(size, end_offset)
        except OSError as second:
            return self._fail(second)
        return self._fail(error)
