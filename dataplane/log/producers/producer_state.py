"""Producers of one partition: idempotence, open transactions, snapshots (KIP-98, KIP-679)."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final, NamedTuple

from dataplane.log import paths
from dataplane.log.producers import producer_snapshot
from dataplane.log.producers.producer_entry import (
    NO_OFFSET,
    BatchTrace,
    ProducerEntry,
    sequence_plus,
)
from dataplane.log.producers.producer_snapshot import SnapshotDamagedError
from dataplane.log.producers.undecided import CompletedTransaction, UndecidedTransactions
from dataplane.log.producers.verifications import Verifications
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.filesystem import read_whole, replace_whole
from dataplane.wire.batch_layout import CONTROL_FLAG, TRANSACTIONAL_FLAG

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataplane.log.reading.scan import BatchHead
    from dataplane.ports.filesystem import FileSystem

_SNAPSHOTS_KEPT = 2
PRODUCERS_MAX: Final = 50_000
"""Producers of a partition that are remembered: about 1 KiB each. Kafka has no such bound, and any
client may name as many as it likes until they expire."""
CROWDED_OUT_AT_ONCE: Final = PRODUCERS_MAX // 10


class Marker(NamedTuple):
    """The content of an end-of-transaction control batch."""

    is_commit: bool
    coordinator_epoch: int


class ProducerState:
    """Producer entries of a partition up to its log end."""

    def __init__(self, fs: FileSystem, directory: str) -> None:
        self._fs = fs
        self._directory = directory
        self.entries: dict[int, ProducerEntry] = {}
        self._undecided = UndecidedTransactions()
        self.verifications = Verifications()
        # A snapshot at this log end would hold nothing that a start does not find anyway.
        self._snapshot_end_offset = NO_OFFSET
        self.damaged_files = 0
        self.crowded_out = 0
        """Producers forgotten before they expired, since the start."""

    def relocate(self, directory: str) -> None:
        self._directory = directory

    # --- appending ---

    def find_duplicate(self, batch: BatchHead) -> BatchTrace | None:
        """The same batch as written before, if it is one of the last five."""
        entry = self.entries.get(batch.producer_id)
        if entry is None:
            return None
        sequence = batch.base_sequence
        last_sequence = sequence_plus(sequence, batch.last_offset - batch.base_offset)
        return entry.duplicate_of(batch.producer_epoch, sequence, last_sequence)

    def check(self, batch: BatchHead, marker: Marker | None) -> None:
        """Refuse a batch that does not fit: old epoch, gap in the sequence, wrong transaction."""
        self.check_epochs(batch, marker)
        entry = self.entries.get(batch.producer_id)
        if entry is None or batch.attributes & CONTROL_FLAG:
            return
        entry.check_sequence(batch.producer_epoch, batch.base_sequence)
        is_transactional = batch.attributes & TRANSACTIONAL_FLAG
        if entry.transaction_first_offset != NO_OFFSET and not is_transactional:
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE,
                f"Producer {batch.producer_id} has an open transaction and wrote outside it.",
            )

    def check_epochs(self, batch: BatchHead, marker: Marker | None) -> None:
        """Refuse what comes from before a newer epoch of the producer, or of its coordinator."""
        entry = self.entries.get(batch.producer_id)
        if entry is None:
            return
        entry.check_epoch(batch.producer_epoch)
        if marker is not None and marker.coordinator_epoch < entry.coordinator_epoch:
            raise KafkaError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"Marker of coordinator epoch {marker.coordinator_epoch}; "
                f"the partition has seen {entry.coordinator_epoch}.",
            )

    def record(self, batch: BatchHead, marker: Marker | None) -> CompletedTransaction | None:
        """Take note of an appended batch. Returns the transaction that it ended, if any."""
        entry = self.entries.get(batch.producer_id)
        if entry is None:
            if len(self.entries) >= PRODUCERS_MAX:
                self._crowd_out()
            entry = self.entries[batch.producer_id] = ProducerEntry(batch.producer_id)
        if batch.attributes & CONTROL_FLAG:
            return self._record_marker(entry, batch, marker)
        if batch.producer_epoch != entry.epoch:
            entry.move_to_epoch(batch.producer_epoch)
        delta = batch.last_offset - batch.base_offset
        entry.remember(batch.base_sequence, batch.last_offset, delta, batch.max_timestamp_ms)
        if batch.attributes & TRANSACTIONAL_FLAG and entry.transaction_first_offset == NO_OFFSET:
            entry.transaction_first_offset = batch.base_offset
            self._undecided.begin(batch.producer_id, batch.base_offset)
            self.verifications.void(batch.producer_id)
        return None

    def _record_marker(
        self, entry: ProducerEntry, batch: BatchHead, marker: Marker | None
    ) -> CompletedTransaction | None:
        if marker is None:  # a control batch of another kind: nothing of ours
            return None
        self.verifications.transaction_ended(batch.producer_id)
        entry.move_to_epoch(batch.producer_epoch)
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.last_timestamp_ms = batch.max_timestamp_ms
        first_offset = entry.transaction_first_offset
        if first_offset == NO_OFFSET:
            return None
        entry.transaction_first_offset = NO_OFFSET
        completed = CompletedTransaction(
            entry.producer_id, first_offset, batch.last_offset, not marker.is_commit
        )
        self._undecided.end(completed)
        return completed

    # --- transactions ---

    def has_open_transaction(self, producer_id: int) -> bool:
        return self._undecided.is_open(producer_id)

    @property
    def has_transactions(self) -> bool:
        return bool(self._undecided)

    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction begins whose end is not replicated yet."""
        return self._undecided.first_offset()

    def oldest_open_written_ms(self) -> int | None:
        """When the producer of the oldest open transaction wrote last, on the wall clock."""
        producer_id = self._undecided.oldest_open()
        entry = None if producer_id is None else self.entries.get(producer_id)
        return None if entry is None else entry.last_timestamp_ms

    def last_stable_offset_after(self, completed: CompletedTransaction) -> int:
        """The last stable offset once `completed`, which was just recorded, is replicated."""
        first_open = self._undecided.first_open_offset()
        return completed.last_offset + 1 if first_open is None else first_open

    def on_high_watermark(self, high_watermark: int) -> None:
        self._undecided.on_high_watermark(high_watermark)

    # --- life ---

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget producers without an open transaction that were silent for too long."""
        stale = [
            producer_id
            for producer_id, entry in self.entries.items()
            if entry.transaction_first_offset == NO_OFFSET
            and now_ms - entry.last_timestamp_ms >= expiration_ms
        ]
        for producer_id in stale:
            del self.entries[producer_id]

    def _crowd_out(self) -> None:
        """Forget those that have been silent for longest, as if they had expired."""
        idle = (
            each for each in self.entries.values() if each.transaction_first_offset == NO_OFFSET
        )
        for entry in heapq.nsmallest(
            CROWDED_OUT_AT_ONCE, idle, key=lambda each: each.last_timestamp_ms
        ):
            del self.entries[entry.producer_id]
            self.crowded_out += 1

    def clear(self) -> None:
        self.entries.clear()
        self._undecided.clear()
        self.verifications.clear()
        self._snapshot_end_offset = NO_OFFSET

    def forget_all(self) -> None:
        """What is known cannot be trusted: the log is about to be read again from its start."""
        self.damaged_files += 1
        self.clear()
        for offset in self.snapshot_offsets():
            self.remove_snapshot(offset)

    # --- snapshots ---

    def take_snapshot(self, offset: int) -> None:
        """Write the entries as of log end `offset`. Not synced: it can be rebuilt.

        Not again if the newest one covers the same end, as in every idle partition.
        """
        if offset == self._snapshot_end_offset:
            return
        content = producer_snapshot.encode(self.entries.values())
        replace_whole(self._fs, self._path(offset), content, sync=False)
        self._snapshot_end_offset = offset

    def load_snapshot(
        self,
        log_end_offset: int,
        log_start_offset: int,
        now_ms: int,
        ttl_ms: int,
        names: Collection[str] | None = None,
    ) -> int:
        """Load the newest good snapshot; returns the offset from which to replay the log.

        `names` are those of the directory's files, if the caller knows them.
        """
        self.clear()
        for offset in reversed(self.snapshot_offsets(names)):
            if offset > log_end_offset or offset < log_start_offset:
                self._fs.remove(self._path(offset))
                continue
            try:
                loaded = producer_snapshot.decode(read_whole(self._fs, self._path(offset)))
            except SnapshotDamagedError:
                self.damaged_files += 1
                self._fs.remove(self._path(offset))
                continue
            for entry in loaded:
                is_silent = now_ms - entry.last_timestamp_ms >= ttl_ms
                if entry.transaction_first_offset != NO_OFFSET or not is_silent:
                    self.entries[entry.producer_id] = entry
            self._undecided.load(
                (entry.producer_id, entry.transaction_first_offset)
                for entry in loaded
                if entry.transaction_first_offset != NO_OFFSET
            )
            self._snapshot_end_offset = offset
            return offset
        self._snapshot_end_offset = log_start_offset
        return log_start_offset

    def snapshot_offsets(self, names: Collection[str] | None = None) -> list[int]:
        if names is None:
            names = self._fs.list_dir(self._directory)
        found = (paths.parse_base_offset(name, paths.SNAPSHOT) for name in names)
        return sorted(offset for offset in found if offset is not None)

    def prune_snapshots(self, segment_bases: list[int]) -> None:
        """Keep those at a segment's beginning and the newest few."""
        wanted = set(segment_bases)
        for offset in self.snapshot_offsets()[:-_SNAPSHOTS_KEPT]:
            if offset not in wanted:
                self._fs.remove(self._path(offset))

    def drop_snapshots_from(self, offset: int) -> None:
        """The log was truncated at `offset`: later snapshots cover what is no more."""
        for taken in self.snapshot_offsets():
            if taken > offset:
                self._fs.remove(self._path(taken))

    def remove_snapshot(self, offset: int) -> None:
        if offset == self._snapshot_end_offset:
            self._snapshot_end_offset = NO_OFFSET
        self._fs.remove(self._path(offset))

    def _path(self, offset: int) -> str:
        return paths.segment_path(self._directory, offset, paths.SNAPSHOT)
