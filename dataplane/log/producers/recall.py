"""Batches of a producer that its snapshot leaves out.

A snapshot, in Kafka's format, keeps one batch of each producer, the last. A producer that had
several under way when the broker stopped sends the earlier ones again first: without them it would
get the answer that its sequence does not fit, and stop, although all of them are there.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from dataplane.log.producers.producer_entry import BATCHES_REMEMBERED, BatchTrace, sequence_plus
from dataplane.wire.batch_layout import CONTROL_FLAG

if TYPE_CHECKING:
    from dataplane.log.producers.producer_entry import ProducerEntry
    from dataplane.log.segment.log_segment import LogSegment
    from dataplane.log.segment.log_segments import LogSegments

LOOK_BACK_BYTES: Final = 8 * 1024 * 1024
"""How far before the batch that is known; what lies further back is not found."""
SEGMENTS_MAX: Final = 64


def earlier_batches(segments: LogSegments, entry: ProducerEntry) -> list[BatchTrace]:
    """Those of `entry`'s epoch right before the first one that it remembers, the oldest first.

    One look at some megabytes of the log, in a bounded number of segments. `OSError`.
    """
    wanted = BATCHES_REMEMBERED - len(entry.batches)
    offset = entry.batches[0].first_offset
    last_slot = segments.slot_of(offset)
    known = segments[last_slot].find(offset)
    end = segments[last_slot].size if known is None else known.position
    found: list[BatchTrace] = []
    left = LOOK_BACK_BYTES
    for slot in range(last_slot, max(-1, last_slot - SEGMENTS_MAX), -1):
        segment = segments[slot]
        end = end if slot == last_slot else segment.size
        found = [*_last_of(segment, end, left, entry, wanted - len(found)), *found]
        left -= end
        if len(found) == wanted or left <= 0:
            break
    return found


def _last_of(
    segment: LogSegment, end: int, look_back: int, entry: ProducerEntry, wanted: int
) -> list[BatchTrace]:
    """The last `wanted` batches of the producer that begin before byte `end`."""
    start = 0
    if end > look_back:
        start = segment.boundary_floor(end - look_back, 0, 0)[0]
    found: deque[BatchTrace] = deque(maxlen=wanted)
    for head in segment.heads_from(start):
        if head.position >= end:
            break
        if (
            head.producer_id == entry.producer_id
            and head.producer_epoch == entry.epoch
            and not head.attributes & CONTROL_FLAG
        ):
            delta = head.last_offset - head.base_offset
            last_sequence = sequence_plus(head.base_sequence, delta)
            found.append(BatchTrace(last_sequence, head.last_offset, delta, head.max_timestamp_ms))
    return list(found)
