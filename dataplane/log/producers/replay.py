"""Finding the producers of a log again from its batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.appending.end_marker import read_marker
from dataplane.log.index.transaction_index import AbortedTransaction
from dataplane.log.reading.scan import heads
from dataplane.wire.batch_layout import CONTROL_FLAG

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataplane.log.index.transaction_index import TransactionIndex
    from dataplane.log.producers.producer_state import ProducerState
    from dataplane.log.segment.log_segments import LogSegments


def restore_transactions(
    segments: LogSegments,
    producers: ProducerState,
    aborted: TransactionIndex,
    *,
    snapshot_offset: int,
    log_start_offset: int,
    log_end_offset: int,
    names: Collection[str] | None = None,
) -> None:
    """Load what the `.txnindex` files hold up to the loaded snapshot, replay what came after it.

    If one of the files is damaged, all of it is found again from the batches. `names` are those of
    the directory's files, if the caller knows them.
    """
    start = snapshot_offset
    bases = [
        segment.base_offset
        for segment in segments
        if names is None or f"{segment.base_offset:020d}{paths.TRANSACTION_INDEX}" in names
    ]
    if not all([aborted.load(base, start) for base in bases]):  # noqa: C419  # every one is loaded
        producers.forget_all()
        for segment in segments:
            aborted.forget(segment.base_offset)
        start = log_start_offset
    replay_producers(segments, producers, aborted, start, log_end_offset)


def replay_producers(
    segments: LogSegments,
    producers: ProducerState,
    aborted: TransactionIndex,
    start_offset: int,
    log_end_offset: int,
) -> None:
    """Feed every batch from `start_offset` on to the producer state, as if it were appended."""
    for slot in range(segments.slot_of(start_offset), len(segments)):
        segment = segments[slot]
        if segments.end_of(slot, log_end_offset) <= start_offset:
            continue
        position = segment.position_for(start_offset)
        for head in heads(segment.file, position, segment.size):
            if head.producer_id < 0 or head.base_offset < start_offset:
                continue
            marker = None
            if head.attributes & CONTROL_FLAG:
                marker = read_marker(segment.file.read_at(head.position, head.size))
            completed = producers.record(head, marker)
            if completed is not None and completed.is_aborted:
                aborted.append(
                    segment.base_offset,
                    AbortedTransaction(
                        completed.producer_id,
                        completed.first_offset,
                        completed.last_offset,
                        producers.last_stable_offset_after(completed),
                    ),
                )
