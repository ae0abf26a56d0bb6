"""Appending as the leader: batches from producers are checked, get their offsets, are written.

Hot path: a batch's head is unpacked once, its CRC checked, 16 bytes patched, and whole batches
written in one call, as many as were staged. Records are never decoded unless a setting of the topic
asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log.appending.validation import (
    check_unusual,
    malformed,
    rework,
    too_large,
)
from dataplane.log.producers.producer_entry import sequence_plus
from dataplane.log.reading.log_slice import AppendInfo
from dataplane.log.reading.scan import BatchHead
from dataplane.log.storage_errors import refusal
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
    from dataplane.log.parts import LogOffsets, LogParts
    from dataplane.log.producers.producer_entry import BatchTrace, ProducerEntry
    from dataplane.log.producers.producer_state import Marker
    from dataplane.ports.filesystem import Buffer

_stamp = ASSIGNED_BY_LEADER.pack_into
_unpack_head = HEADER.unpack_from
_SLOW_PRODUCER_FLAGS = CONTROL_FLAG | TRANSACTIONAL_FLAG
_UNUSUAL_FLAGS = CONTROL_FLAG | TRANSACTIONAL_FLAG | CODEC_MASK | LOG_APPEND_TIME_FLAG


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


class LeaderAppends:
    """Stages batches of one log and writes them together. All calls come from the log's thread.

    Between `stage` and `commit` nothing else is asked of the log, and `records` stays but for what
    is stamped in. The batch is in the log if after `commit` `log_end_offset` has passed its last
    offset. KafkaError: CORRUPT_MESSAGE, INVALID_RECORD, MESSAGE_TOO_LARGE, INVALID_TIMESTAMP,
    UNSUPPORTED_COMPRESSION_TYPE, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH,
    INVALID_TXN_STATE, TRANSACTION_COORDINATOR_FENCED, TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    KAFKA_STORAGE_ERROR.
    """

    # The parts by themselves: a batch must not look for each in two steps.
    __slots__ = (
        "_entries",
        "_epochs",
        "_flusher",
        "_local",
        "_offsets",
        "_parts",
        "_staging",
        "_storage",
        "_tail",
    )

    def __init__(self, parts: LogParts, offsets: LogOffsets) -> None:
        self._parts = parts
        self._offsets = offsets
        self._local = parts.local
        self._tail = parts.local.tail
        self._epochs = parts.epochs
        self._entries = parts.producers.state.entries
        self._flusher = parts.flusher
        self._staging = parts.staging
        self._storage = parts.storage

    def stage(
        self, records: Buffer, leader_epoch: int, *, now_ms: int, origin: str = "client"
    ) -> AppendInfo:
        """Check one batch and give it its offsets; `commit`, due after a refusal too, writes it."""
        staging = self._staging
        if self._storage.failure is not None or staging.failure is not None:
            raise self._refuse()
        local, offsets = self._local, self._offsets
        config = local.config
        head = _checked_head(records, config.max_message_bytes)
        _, _, _, _, _, attributes, delta, _, max_ts, producer_id, epoch, sequence, _ = head
        marker: Marker | None = None
        if attributes & _UNUSUAL_FLAGS:
            marker = check_unusual(records, attributes, origin, producer_id)
        batches = staging.batches
        base = batches[-1][0] + 1 if batches else offsets.log_end_offset
        last = base + delta
        batch: BatchHead | None = None
        producer: ProducerEntry | None = None
        if producer_id >= 0:
            producer = self._entries.get(producer_id)
            if (
                producer is None
                or staging.sequences.get(producer_id, producer.next_sequence) != sequence
                or producer.epoch != epoch
                or attributes & _SLOW_PRODUCER_FLAGS
                or producer.transaction_first_offset >= 0
            ):
                self._write_staged_first()
                place = (0, len(records), base, last)
                batch = BatchHead(*place, leader_epoch, attributes, max_ts, *head[9:])
                trace = self._known_batch(batch, marker, origin)
                if trace is not None:
                    return self._duplicate_info(trace)
        if isinstance(records, bytes) or (isinstance(records, memoryview) and records.readonly):
            records = bytearray(records)
        if config.reworks and not attributes & CONTROL_FLAG:
            records = rework(records, config, now_ms, is_own=origin == "coordinator")
            if config.stamps_append_time:
                max_ts = now_ms
                batch = batch and batch._replace(max_timestamp_ms=now_ms)
        size = len(records)
        if leader_epoch != self._epochs.latest:
            self._write_staged_first()  # no epoch may begin behind what could not be written
            self._parts.assign_epoch(leader_epoch, base)
        _stamp(records, 0, base, size - LOG_OVERHEAD_BYTES, leader_epoch)
        segment = local.active
        if (
            max_ts > local.roll_after_ms
            or segment.size + staging.size + size > config.segment_bytes
            or segment.is_index_full
            or last - segment.base_offset > INT32_MAX
        ):
            self._write_staged_first()
            # Nothing is staged any more: the log ends where this batch begins.
            self._parts.roller.roll_if_due(size, base, last, base, max_ms=max_ts, now_ms=now_ms)
        staging.parts.append(records)
        staging.batches.append((last, max_ts, size, delta, sequence, None if batch else producer))
        staging.size += size
        if batch is not None:
            self._write_staged_first()
            self._parts.producers.record(batch, marker, local.active.base_offset)
        elif producer is not None:
            staging.sequences[producer_id] = sequence_plus(sequence, delta + 1)
        stamped_ms = now_ms if config.stamps_append_time else NO_TIMESTAMP
        return AppendInfo(
            base, last, stamped_ms, offsets.log_start_offset, False, max_ts, delta + 1
        )

    def commit(self) -> None:
        """Write what is staged, all of it or nothing. KafkaError: KAFKA_STORAGE_ERROR."""
        staging = self._staging
        failure = staging.failure
        if failure is not None:
            staging.failure = None
            raise failure
        if staging.batches:
            if self._storage.failure is not None:  # another log has lost the directory meanwhile
                staging.clear()
                raise self._refuse()
            self._write_staged()
        # Not before: what is written must be noted in full, whether it can be synced or not.
        end = self._offsets.log_end_offset
        flusher = self._flusher
        if end - flusher.recovery_point >= self._local.config.flush_messages:
            flusher.flush_in_background(end)

    def _refuse(self) -> KafkaError:
        return self._staging.failure or refusal(self._storage.failure)

    def _write_staged_first(self) -> None:
        """Write what is staged, for a batch that needs the log as it then is."""
        if self._staging.batches:
            try:
                self._write_staged()
            except KafkaError as error:
                self._staging.failure = error
                raise
            except OSError as error:  # giving up the directory failed too
                self._staging.failure = refusal(error)
                raise

    def _write_staged(self) -> None:
        staging = self._staging
        batches = staging.batches
        segment = self._local.active
        before = position = segment.size
        try:
            segment.append(staging.parts, batches)
            push = self._tail.push
            for last, max_ts, size, delta, sequence, producer in batches:
                position += size
                push(last + 1, position)
                if producer is not None:
                    producer.remember(sequence, last, delta, max_ts)
        except OSError as error:
            raise self._undo(before, error) from error
        finally:
            staging.clear()  # whatever happened, their memory is not ours for longer
        self._offsets.log_end_offset = last + 1

    def _undo(self, size: int, error: OSError) -> KafkaError:
        return self._parts.undo_append(size, self._offsets.log_end_offset, error)

    def _known_batch(
        self, batch: BatchHead, marker: Marker | None, origin: str
    ) -> BatchTrace | None:
        """The earlier batch if this one was sent again. KafkaError if it does not fit."""
        try:
            return self._parts.producers.check(batch, marker, origin)
        except OSError as error:
            raise self._storage.note(error) from error

    def _duplicate_info(self, trace: BatchTrace) -> AppendInfo:
        is_stamped = self._local.config.stamps_append_time
        stamped_ms = trace.timestamp_ms if is_stamped else NO_TIMESTAMP
        return AppendInfo(
            trace.first_offset,
            trace.last_offset,
            stamped_ms,
            self._offsets.log_start_offset,
            True,
            trace.timestamp_ms,
            trace.offset_delta + 1,
        )
