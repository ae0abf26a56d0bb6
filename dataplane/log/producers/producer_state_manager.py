"""The producers of one log and its aborted transactions, kept in step with its batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log.index.transaction_index import AbortedTransaction, TransactionIndex
from dataplane.log.producers.producer_entry import BATCHES_REMEMBERED
from dataplane.log.producers.producer_state import ProducerState
from dataplane.log.producers.recall import earlier_batches
from dataplane.log.producers.replay import restore_transactions
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.batch_layout import CONTROL_FLAG

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from dataplane.log.opening import LogEnvironment
    from dataplane.log.producers.producer_entry import BatchTrace
    from dataplane.log.producers.producer_state import Marker
    from dataplane.log.reading.scan import BatchHead
    from dataplane.log.segment.log_segment import LogSegment
    from dataplane.log.segment.log_segments import LogSegments


class ProducerStateManager:
    """`state` is what is known of the producers, `aborted` the transactions that failed.

    Every method may raise `OSError`.
    """

    __slots__ = ("_clock", "_expiration_ms", "_segments", "aborted", "state")

    def __init__(
        self,
        environment: LogEnvironment,
        directory: str,
        segments: LogSegments,
        *,
        expiration_ms: int,
    ) -> None:
        self._clock = environment.clock
        self._segments = segments
        self._expiration_ms = expiration_ms
        self.state = ProducerState(environment.fs, directory)
        self.aborted = TransactionIndex(environment.fs, directory)

    # --- appending ---

    def check(
        self, batch: BatchHead, marker: Marker | None, origin: str = "client"
    ) -> BatchTrace | None:
        """Refuse what does not fit; the earlier batch if this one was sent again. KafkaError.

        A coordinator writes in a producer's name and does not count its batches: without sequence.
        """
        if origin == "coordinator":
            self.state.check_epochs(batch, marker)
            return None
        if not batch.attributes & CONTROL_FLAG:
            if batch.base_sequence < 0:
                raise KafkaError(
                    ErrorCode.INVALID_RECORD, "The batch has a producer id and no sequence number."
                )
            trace = self.state.find_duplicate(batch) or self._recalled_duplicate(batch)
            if trace is not None:
                return trace
        self.state.check(batch, marker)
        return None

    def _recalled_duplicate(self, batch: BatchHead) -> BatchTrace | None:
        """The same for a producer known from a snapshot, whose log is looked at once for more."""
        entry = self.state.entries.get(batch.producer_id)
        if (
            entry is None
            or not entry.is_from_snapshot
            or entry.epoch != batch.producer_epoch
            or entry.next_sequence == batch.base_sequence
            or len(entry.batches) == BATCHES_REMEMBERED
        ):
            return None
        entry.recall(earlier_batches(self._segments, entry))
        return self.state.find_duplicate(batch)

    def record(self, batch: BatchHead, marker: Marker | None, segment_base_offset: int) -> None:
        """Take note of a batch that was appended to the segment."""
        completed = self.state.record(batch, marker)
        if completed is not None and completed.is_aborted:
            self.aborted.append(
                segment_base_offset,
                AbortedTransaction(
                    completed.producer_id,
                    completed.first_offset,
                    completed.last_offset,
                    self.state.last_stable_offset_after(completed),
                ),
            )

    # --- the log's other events ---

    def restore(
        self, log_start_offset: int, log_end_offset: int, names: Collection[str] | None = None
    ) -> None:
        """Find the state again from snapshots and batches.

        `names` are those of the directory's files, if the caller knows them.
        """
        snapshot_offset = self.state.load_snapshot(
            log_end_offset,
            log_start_offset,
            self._clock.realtime_ms(),
            self._expiration_ms,
            names,
        )
        restore_transactions(
            self._segments,
            self.state,
            self.aborted,
            snapshot_offset=snapshot_offset,
            log_start_offset=log_start_offset,
            log_end_offset=log_end_offset,
            names=names,
        )

    def restart(self) -> None:
        """The log is empty: nobody is known any more."""
        self.state.clear()
        for taken in self.state.snapshot_offsets():
            self.state.remove_snapshot(taken)

    def forget_aborted(self) -> None:
        """Remove the transaction index of every segment, which are about to go."""
        for segment in self._segments:
            self.aborted.forget(segment.base_offset)

    def drop_segments(self, dropped: Iterable[LogSegment]) -> None:
        """Retention has taken these segments."""
        for segment in dropped:
            self.aborted.drop(segment.base_offset)
            self.state.remove_snapshot(segment.base_offset)

    def replace_segments(self, sources: Iterable[LogSegment], base_offset: int) -> None:
        """Compaction has put one segment, which begins at `base_offset`, where these were."""
        for source in sources:
            self.aborted.drop(source.base_offset)
            if source.base_offset != base_offset:
                self.state.remove_snapshot(source.base_offset)
        self.aborted.load(base_offset)

    def expire(self) -> None:
        """Forget producers that were silent for too long."""
        self.state.expire(self._clock.realtime_ms(), self._expiration_ms)

    def relocate(self, directory: str) -> None:
        self.state.relocate(directory)
        self.aborted.relocate(directory)
