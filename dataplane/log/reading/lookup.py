"""Offsets by time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataplane.log.reading.scan import heads
from dataplane.log.segment.verified_times import offset_before
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.errors import WireError
from dataplane.wire.record_batch import iter_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.log.reading.scan import BatchHead
    from dataplane.log.segment.log_segment import LogSegment
    from dataplane.log.segment.log_segments import LogSegments
    from dataplane.wire.record_batch import Record


class TimestampedOffset(NamedTuple):
    """A record found by time, with its own timestamp and its batch's leader epoch."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


def first_at_or_after(
    segments: LogSegments, timestamp_ms: int, log_start_offset: int
) -> TimestampedOffset | None:
    """The first record whose timestamp is `timestamp_ms` or later."""
    for slot, segment in enumerate(segments):
        if segments.end_of(slot, log_start_offset + 1) <= log_start_offset:
            continue
        if segment.max_timestamp_ms < timestamp_ms:
            continue
        begin = max(offset_before(segment, timestamp_ms), log_start_offset)
        position = segment.position_for(begin)
        for head in heads(segment.file, position, segment.size):
            if head.max_timestamp_ms < timestamp_ms or head.last_offset < log_start_offset:
                continue
            for record in _records(segment, head):
                if record.timestamp_ms >= timestamp_ms and record.offset >= log_start_offset:
                    return TimestampedOffset(record.offset, record.timestamp_ms, head.leader_epoch)
    return None


def segments_before(segments: LogSegments, timestamp_ms: int, log_start_offset: int) -> list[int]:
    """Where segments begin, up to the last one whose newest record is of `timestamp_ms` or before.

    The last comes first.
    """
    begins = [max(segment.base_offset, log_start_offset) for segment in segments]
    newest = [slot for slot, each in enumerate(segments) if each.max_timestamp_ms <= timestamp_ms]
    return begins[newest[-1] :: -1] if newest else []


def latest_by_time(segments: LogSegments, log_start_offset: int) -> TimestampedOffset | None:
    """The first record that carries the largest timestamp of the log (KIP-734)."""
    with_time = [segment for segment in segments if segment.max_timestamp_ms >= 0]
    if not with_time:
        return None
    segment = max(with_time, key=lambda candidate: candidate.max_timestamp_ms)
    largest_ms = segment.max_timestamp_ms
    head = segment.find(segment.max_timestamp_offset)
    if head is None:
        return None
    for record in _records(segment, head):
        if record.timestamp_ms == largest_ms and record.offset >= log_start_offset:
            return TimestampedOffset(record.offset, largest_ms, head.leader_epoch)
    return TimestampedOffset(head.last_offset, largest_ms, head.leader_epoch)


def _records(segment: LogSegment, head: BatchHead) -> Iterator[Record]:
    try:
        yield from iter_records(segment.file.read_at(head.position, head.size))
    except WireError as error:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"Batch at offset {head.base_offset} cannot be read: {error}"
        ) from error
