"""One round of compaction over one log: map the dirty keys, then rewrite the segments.

Runs in a worker thread and touches nothing but closed files, by descriptors of its own. Both
parts are generators that give a byte count every few steps, for whoever paces them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.appending.end_marker import read_marker
from dataplane.log.cleaner.cleaned_segment import CleanedSegment
from dataplane.log.cleaner.offset_map import OffsetMap
from dataplane.log.cleaner.plan import grouped
from dataplane.log.cleaner.rewriting import Rewriter
from dataplane.log.cleaner.source import UncleanableError, body_of, stored_batches
from dataplane.log.cleaner.spans import record_spans
from dataplane.log.cleaner.transactions import CleanedTransactions
from dataplane.log.index.transaction_index import write_rows
from dataplane.log.segment.log_segment import LogSegment
from dataplane.model.errors import KafkaError
from dataplane.wire.batch_layout import CONTROL_FLAG
from dataplane.wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from dataplane.log.cleaner.plan import Plan
    from dataplane.log.cleaner.rewriting import Verdict
    from dataplane.log.cleaner.source import SourceSegment, Stored
    from dataplane.log.cleaner.spans import Span
    from dataplane.log.producers.producer_state import Marker
    from dataplane.ports.filesystem import Buffer, FileSystem

_STEP_BYTES = 128 * 1024


class Round:
    """Use: drain `map_keys()`, then `rewrite(group)` for each of `groups`, swapping each in."""

    def __init__(
        self,
        fs: FileSystem,
        plan: Plan,
        *,
        memory_bytes: int,
        load_factor: float,
        io_buffer_bytes: int,
    ) -> None:
        self._fs = fs
        self.plan = plan
        self._chunk_bytes = max(io_buffer_bytes // 2, 4096)
        keys_max = max(1, plan.first_uncleanable - plan.first_dirty)
        self.offsets = OffsetMap(memory_bytes, load_factor, keys_max)
        self._rewriter = Rewriter(
            self.offsets, now_ms=plan.now_ms, delete_retention_ms=plan.delete_retention_ms
        )
        self._transactions = CleanedTransactions(plan.aborted)
        self._last_source = max(
            (source for source in plan.segments if source.size),
            key=lambda source: source.base_offset,
            default=None,
        )
        self.groups: list[list[int]] = []
        self.cleaned_until = plan.first_dirty
        """Where the next round begins, once every group is done."""
        self.result: CleanedSegment
        """What the last `rewrite` made."""

    def map_keys(self) -> Iterator[int]:
        """Note the newest offset of every dirty key, until the end or until memory is full.

        UncleanableError, OSError; FileNotFoundError if a segment went meanwhile.
        """
        first_dirty = self.plan.first_dirty
        transactions = CleanedTransactions(
            each for each in self.plan.aborted if each.last_offset >= first_dirty
        )
        for number in range(len(self.plan.segments)):
            if self.plan.ends[number] <= first_dirty:
                continue
            is_full = yield from self._map_segment(number, transactions)
            if is_full:
                break
        latest = self.offsets.latest_offset
        if latest < first_dirty:
            raise UncleanableError(
                f"{self.plan.name}: the key map holds {self.offsets.capacity} keys, "
                "too few for a single batch (log.cleaner.dedupe.buffer.size)"
            )
        self.cleaned_until = latest + 1
        self.groups = grouped(self.plan, self.cleaned_until)

    def _map_segment(
        self, number: int, transactions: CleanedTransactions
    ) -> Generator[int, None, bool]:
        """Whether the map is full."""
        plan, offsets = self.plan, self.offsets
        worked = 0
        for stored in self._batches(plan.segments[number]):
            head = stored.head
            worked += head.size
            if head.attributes & CONTROL_FLAG:
                transactions.is_marker_idle(head, _marker(stored))
            elif head.last_offset < plan.first_dirty:
                transactions.is_aborted(head)
            elif not transactions.is_aborted(head) and head.records:
                spans = _spans(stored)
                if not offsets.put_all(head.base_offset, spans, plan.first_dirty):
                    return True
            if head.last_offset >= plan.first_dirty:
                offsets.latest_offset = head.last_offset
            if worked >= _STEP_BYTES:
                yield worked
                worked = 0
        offsets.latest_offset = max(offsets.latest_offset, plan.ends[number] - 1)
        yield worked
        return False

    def rewrite(self, group: list[int]) -> Iterator[int]:
        """Write one group's records that stay into a `.cleaned` segment; sets `result`."""
        plan = self.plan
        sources = [plan.segments[number] for number in group]
        base_offset = sources[0].base_offset
        stem = paths.segment_path(plan.directory, base_offset, "")
        self._remove_cleaned(stem)
        self._transactions.kept.clear()
        target = LogSegment(
            self._fs,
            plan.directory,
            base_offset,
            created_ms=max(source.created_ms for source in sources),
            index_interval_bytes=plan.index_interval_bytes,
            state=paths.CLEANED,
        )
        result = CleanedSegment(
            base_offset,
            tuple(source.base_offset for source in sources),
            target.created_ms,
            [],
        )
        is_done = False
        try:
            for source in sources:
                yield from self._copy(source, target, result)
            target.seal()
            target.file.sync()
            result.aborted = list(self._transactions.kept)
            result.bytes_after = target.size
            self._make_durable(stem, result)
            is_done = True
        finally:
            target.release()
            if not is_done:
                self._remove_cleaned(stem)
        self.result = result

    def _copy(
        self, source: SourceSegment, target: LogSegment, result: CleanedSegment
    ) -> Iterator[int]:
        worked = 0
        pieces: list[Buffer] = []
        position = target.size
        result.bytes_before += source.size
        for stored in self._batches(source):
            head = stored.head
            # The last batch before what is not compacted shows followers where the log ends, if
            # nothing comes after it (KAFKA-17076).
            is_last = source is self._last_source and head.position + head.size == source.size
            verdict = self._judge(stored, keeps_empty=is_last or self._is_needed(stored))
            result.dropped_records += verdict.dropped_records
            data: Buffer | None = verdict.data
            if data is None:
                data = memoryview(stored.chunk)[stored.at : stored.at + head.size]
            if data:
                pieces.append(data)
                target.note(head.last_offset, verdict.max_timestamp_ms, position, len(data))
                position += len(data)
            worked += head.size
            if worked >= _STEP_BYTES:
                _write(target, pieces)
                yield worked
                worked = 0
        _write(target, pieces)
        yield worked

    def _judge(self, stored: Stored, *, keeps_empty: bool) -> Verdict:
        head, rewriter = stored.head, self._rewriter
        try:
            if head.attributes & CONTROL_FLAG:
                is_idle = self._transactions.is_marker_idle(head, _marker(stored))
                return rewriter.control(stored, is_idle=is_idle, keeps_empty=keeps_empty)
            if self._transactions.is_aborted(head):
                return rewriter.aborted(stored, keeps_empty=keeps_empty)
            return rewriter.data(stored, keeps_empty=keeps_empty)
        except WireError as error:
            raise UncleanableError(f"{self.plan.name} at {head.base_offset}: {error}") from error

    def _is_needed(self, stored: Stored) -> bool:
        """Whether a batch is its producer's newest, whose sequence or epoch must stay known."""
        head = stored.head
        last = self.plan.last_records.get(head.producer_id) if head.producer_id >= 0 else None
        if last is None:
            return False
        if last.last_offset is not None:
            return head.last_offset == last.last_offset
        return bool(head.attributes & CONTROL_FLAG) and head.producer_epoch == last.epoch

    def _batches(self, segment: SourceSegment) -> Iterator[Stored]:
        file = self._fs.open(segment.path)
        try:
            yield from stored_batches(file, 0, segment.size, self._chunk_bytes)
        finally:
            file.close()

    def _remove_cleaned(self, stem: str) -> None:
        for suffix in paths.SEGMENT_SUFFIXES:
            self._fs.remove(stem + suffix + paths.CLEANED)

    def _make_durable(self, stem: str, result: CleanedSegment) -> None:
        """The swap must never publish what a power cut could still take."""
        if result.aborted:
            write_rows(self._fs, stem + paths.TRANSACTION_INDEX + paths.CLEANED, result.aborted)
        for suffix in paths.SEGMENT_SUFFIXES[1:]:
            if self._fs.exists(stem + suffix + paths.CLEANED):
                file = self._fs.open(stem + suffix + paths.CLEANED)
                try:
                    file.sync()
                finally:
                    file.close()


def _marker(stored: Stored) -> Marker | None:
    end = stored.at + stored.head.size
    try:
        return read_marker(stored.chunk[stored.at : end])
    except KafkaError as error:
        raise UncleanableError(f"marker at {stored.head.base_offset}: {error}") from error


def _spans(stored: Stored) -> list[Span]:
    try:
        return record_spans(body_of(stored), stored.head.records)
    except WireError as error:
        raise UncleanableError(f"batch at {stored.head.base_offset}: {error}") from error


def _write(target: LogSegment, pieces: list[Buffer]) -> None:
    """Several batches in one call: calls cost more than copying."""
    if pieces:
        target.append_unnoted(b"".join(pieces))
        pieces.clear()
