"""Appending as a follower: batches as the leader wrote them, with its offsets and epochs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from dataplane.log.appending import replicated
from dataplane.log.appending.end_marker import read_marker
from dataplane.log.opening import NEVER_CLEANED
from dataplane.log.reading.log_slice import AppendInfo
from dataplane.model.errors import KafkaError
from dataplane.model.integers import INT32_MAX
from dataplane.wire.batch_layout import CONTROL_FLAG, NO_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.log.parts import LogOffsets, LogParts
    from dataplane.log.producers.producer_state import Marker
    from dataplane.log.reading.scan import BatchHead
    from dataplane.ports.clock import Clock
    from dataplane.ports.filesystem import Buffer


class FollowerAppends:
    """Appends to one log what a fetch brought. All calls come from the log's thread."""

    __slots__ = ("_clock", "_offsets", "_on_truncated", "_parts")

    def __init__(
        self,
        parts: LogParts,
        offsets: LogOffsets,
        clock: Clock,
        *,
        on_truncated: Callable[[], None],
    ) -> None:
        """`on_truncated` is called when positions have changed."""
        self._parts = parts
        self._offsets = offsets
        self._clock = clock
        self._on_truncated = on_truncated

    def append(self, records: Buffer) -> AppendInfo:
        """Append whole batches; a partial batch at the end is ignored.

        KafkaError: CORRUPT_MESSAGE for a damaged batch, OFFSET_OUT_OF_RANGE for offsets that do
        not continue the log, KAFKA_STORAGE_ERROR. Nothing is appended then.
        """
        parts, offsets = self._parts, self._offsets
        if parts.storage.failure is not None or parts.staging.batches:
            parts.check_idle()  # refuses
        view = memoryview(records)
        start = offsets.log_end_offset
        batches, size = replicated.parse(view, start)
        if not batches:
            return AppendInfo(
                start, start - 1, NO_TIMESTAMP, offsets.log_start_offset, False, NO_TIMESTAMP, 0
            )
        first, last = batches[0].base_offset, batches[-1].last_offset
        if last - first > INT32_MAX:  # more than one segment can hold: the rest is fetched again
            batches = [batch for batch in batches if batch.last_offset - first <= INT32_MAX]
            size, last = batches[-1].position + batches[-1].size, batches[-1].last_offset
        # Before anything is written: one that cannot be read is refused.
        markers = [
            read_marker(view[batch.position : batch.position + batch.size])
            if batch.attributes & CONTROL_FLAG
            else None
            for batch in batches
        ]
        max_ts = max(batch.max_timestamp_ms for batch in batches)
        now_ms = self._clock.realtime_ms()
        parts.roller.roll_if_due(size, first, last, start, max_ms=max_ts, now_ms=now_ms)
        if batches[-1].leader_epoch != parts.epochs.latest:
            self._assign_epochs(batches)
        before = parts.local.active.size
        self._write(view[:size], batches)
        offsets.log_end_offset = last + 1
        count = sum(batch.records for batch in batches)
        if count != last + 1 - start and offsets.cleaned_until == NEVER_CLEANED:
            offsets.cleaned_until = offsets.log_start_offset  # the leader's log was compacted
        for batch, marker in zip(batches, markers, strict=True):
            self._note(batch, before, marker)
        if last + 1 - parts.flusher.recovery_point >= parts.local.config.flush_messages:
            parts.flusher.flush_in_background(last + 1)
        return AppendInfo(first, last, NO_TIMESTAMP, offsets.log_start_offset, False, max_ts, count)

    def _assign_epochs(self, batches: list[BatchHead]) -> None:
        """Before the records: a full disk must not leave records without their epoch."""
        parts = self._parts
        try:
            for batch in batches:
                if batch.leader_epoch != parts.epochs.latest:
                    parts.assign_epoch(batch.leader_epoch, batch.base_offset)
        except KafkaError:
            self._drop_empty_segments()
            raise

    def _write(self, data: memoryview, batches: list[BatchHead]) -> None:
        parts, end = self._parts, self._offsets.log_end_offset
        segment = parts.local.active
        before = segment.size
        try:
            segment.append_unnoted(data)
            for batch in batches:
                segment.note(
                    batch.last_offset, batch.max_timestamp_ms, before + batch.position, batch.size
                )
        except OSError as error:
            failure = parts.undo_append(before, end, error)
            with contextlib.suppress(OSError):
                parts.epochs.truncate_from_end(end)
            self._drop_empty_segments()
            raise failure from error

    def _note(self, batch: BatchHead, before: int, marker: Marker | None) -> None:
        """Tail and producer of one batch that was just written."""
        local = self._parts.local
        local.tail.push(batch.last_offset + 1, before + batch.position + batch.size)
        if batch.producer_id >= 0:
            self._parts.producers.record(batch, marker, local.active.base_offset)

    def _drop_empty_segments(self) -> None:
        """What a segment was begun for behind a gap did not come: the log ends before the gap.

        A full disk heals, and appends at the log's end go on in the segment that covers it.
        """
        parts, end = self._parts, self._offsets.log_end_offset
        if parts.local.active.base_offset <= end:
            return
        begun = parts.local.drop_empty_segments(end)
        self._on_truncated()
        try:
            parts.local.delete_async(begun)
            parts.producers.state.drop_snapshots_from(end)
        except OSError as error:
            parts.storage.note(error)
