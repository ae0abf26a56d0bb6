"""When a segment is rolled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log.segment.log_segment import LogSegment
from dataplane.model.integers import INT32_MAX
from dataplane.wire.crc import crc32c

if TYPE_CHECKING:
    from dataplane.log.config import LogConfig
    from dataplane.log.epochs import LeaderEpochs
    from dataplane.log.flushing import Flusher
    from dataplane.log.local_log import LocalLog
    from dataplane.log.producers.producer_state import ProducerState
    from dataplane.log.storage_errors import StorageErrors


def is_full(segment: LogSegment, config: LogConfig, size: int) -> bool:
    """Whether `size` more bytes do not fit any more."""
    return segment.size + size > config.segment_bytes or segment.is_index_full


def jitter_ms(segment: LogSegment, config: LogConfig) -> int:
    """Up to `segment.jitter.ms`, spread over partitions so that not all roll at once."""
    span = config.segment_jitter_ms
    return crc32c(segment.path.encode()) % (span + 1) if span else 0


class Roller:
    """Closes the active segment of one log and begins another. KafkaError: KAFKA_STORAGE_ERROR."""

    __slots__ = ("_epochs", "_flusher", "_local", "_producers", "_storage")

    def __init__(
        self,
        local: LocalLog,
        epochs: LeaderEpochs,
        producers: ProducerState,
        flusher: Flusher,
        storage: StorageErrors,
    ) -> None:
        self._local = local
        self._epochs = epochs
        self._producers = producers
        self._flusher = flusher
        self._storage = storage

    def roll(self, log_end_offset: int, base_offset: int | None = None) -> None:
        """Begin another segment at the log's end, or at `base_offset` behind a gap.

        An empty segment stays, but for a gap.
        """
        local = self._local
        if not local.active.size and base_offset is None:
            return
        offset = log_end_offset if base_offset is None else base_offset
        try:
            local.active.seal()
            self._epochs.settle(log_end_offset)
            self._producers.take_snapshot(offset)
            local.begin_segment(offset)
        except OSError as error:
            raise self._storage.note(error) from error
        self._producers.prune_snapshots(local.segments.bases)
        self._flusher.flush_in_background(log_end_offset)

    def roll_if_due(
        self, size: int, first: int, last: int, log_end_offset: int, *, max_ms: int, now_ms: int
    ) -> None:
        """Roll if `size` bytes of offsets `first` to `last` would break a bound of the segment."""
        local = self._local
        segment = local.active
        if last - segment.base_offset > INT32_MAX:
            # A gap that compaction left: indexes cannot reach over it.
            self.roll(log_end_offset, first)
            return
        if not segment.size:
            return
        config = local.config
        if is_full(segment, config, size):
            self.roll(log_end_offset)
            return
        first_ms = segment.first_timestamp_ms
        if first_ms >= 0:
            local.roll_after_ms = first_ms + config.roll_ms - jitter_ms(segment, config)
            if max_ms > local.roll_after_ms:
                self.roll(log_end_offset)
        elif now_ms - segment.created_ms > config.roll_ms - jitter_ms(segment, config):
            self.roll(log_end_offset)
