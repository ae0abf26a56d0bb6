"""What of a log may be compacted now, how much of it is dirty, and in which groups it is done."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.log.cleaner.source import SourceSegment
from dataplane.model.integers import INT32_MAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.log.index.transaction_index import AbortedTransaction
    from dataplane.log.partition_log import PartitionLog
    from dataplane.log.segment.log_segment import LogSegment


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cleanable:
    """A log's dirt. Offsets: [first dirty, first uncleanable); bytes of whole segments."""

    log: PartitionLog
    first_dirty: int
    first_uncleanable: int
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool
    """Whether a record has waited longer than `max.compaction.lag.ms`."""

    @property
    def ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    @property
    def is_due(self) -> bool:
        if not self.dirty_bytes:
            return False
        return self.is_overdue or self.ratio > self.log.config.min_cleanable_dirty_ratio


@dataclasses.dataclass(frozen=True, slots=True)
class LastRecord:
    """A producer's newest data batch and epoch: what its state is rebuilt from."""

    last_offset: int | None
    epoch: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that one round needs to know, taken from the log at one moment."""

    name: str
    directory: str
    first_dirty: int
    first_uncleanable: int
    segments: tuple[SourceSegment, ...]
    ends: tuple[int, ...]
    """Where each segment ends: the base offset of the next one."""
    aborted: tuple[AbortedTransaction, ...]
    last_records: dict[int, LastRecord]
    now_ms: int
    delete_retention_ms: int
    segment_bytes: int
    index_bytes: int
    index_interval_bytes: int
    truncations: int
    """How often the log was truncated before: once more in between makes the result worthless."""


def assess(log: PartitionLog, now_ms: int) -> Cleanable:
    """How dirty a log is. Only heads of segments are looked at."""
    config = log.config
    segments = log.closed_segments()
    first_dirty = max(log.cleaned_until, log.log_start_offset)
    if first_dirty > log.log_end_offset:
        first_dirty = log.log_start_offset
    bound = min(log.last_stable_offset, log.active_base_offset)
    if config.min_compaction_lag_ms > 0:
        young_ms = now_ms - config.min_compaction_lag_ms
        for segment, end in _with_ends(log, segments):
            if end > first_dirty and segment.max_timestamp_ms > young_ms:
                bound = min(bound, segment.base_offset)
                break
    first_uncleanable = _segment_floor(log, segments, bound)
    earliest_ms = min(
        (
            segment.first_timestamp_ms
            for segment, end in _with_ends(log, segments)
            if end > first_dirty and segment.first_timestamp_ms > 0
        ),
        default=None,
    )
    clean = dirty = 0
    for segment, end in _with_ends(log, segments):
        if segment.base_offset >= first_uncleanable:
            break
        if end <= first_dirty:
            clean += segment.size
        else:
            dirty += segment.size
    return Cleanable(
        log=log,
        first_dirty=first_dirty,
        first_uncleanable=first_uncleanable,
        clean_bytes=clean,
        dirty_bytes=dirty,
        is_overdue=earliest_ms is not None and earliest_ms < now_ms - config.max_compaction_lag_ms,
    )


def filthiest(candidates: Sequence[Cleanable]) -> Cleanable | None:
    """The log to compact next: of those that are due, the one with the largest dirty share."""
    due = [each for each in candidates if each.is_due]
    return max(due, key=lambda each: each.ratio, default=None)


def plan_round(cleanable: Cleanable, now_ms: int) -> Plan:
    log, config = cleanable.log, cleanable.log.config
    chosen = [
        (segment, end)
        for segment, end in _with_ends(log, log.closed_segments())
        if segment.base_offset < cleanable.first_uncleanable
    ]
    return Plan(
        name=str(log.topic_partition),
        directory=log.directory,
        first_dirty=cleanable.first_dirty,
        first_uncleanable=cleanable.first_uncleanable,
        segments=tuple(
            SourceSegment(segment.base_offset, segment.path, segment.size, segment.created_ms)
            for segment, _end in chosen
        ),
        ends=tuple(end for _segment, end in chosen),
        aborted=tuple(
            each
            for each in log.aborted_transactions(log.log_start_offset, cleanable.first_uncleanable)
            if each.last_offset < cleanable.first_uncleanable
        ),
        last_records={
            producer_id: LastRecord(
                entry.last_offset if entry.batches else None,
                entry.epoch,
            )
            for producer_id, entry in log.producers.entries.items()
        },
        now_ms=now_ms,
        delete_retention_ms=config.delete_retention_ms,
        segment_bytes=config.segment_bytes,
        index_bytes=config.segment_index_bytes,
        index_interval_bytes=config.index_interval_bytes,
        truncations=log.truncations,
    )


def grouped(plan: Plan, end_offset: int) -> list[list[int]]:
    """Numbers of the plan's segments before `end_offset`, in groups that make one segment each.

    A group stays within `segment.bytes` and within offsets that an index entry can hold, both
    taken before anything is dropped.
    """
    groups: list[list[int]] = []
    size = 0
    for number, segment in enumerate(plan.segments):
        if segment.base_offset >= end_offset:
            break
        fits = (
            bool(groups)
            and size + segment.size <= plan.segment_bytes
            and plan.ends[number] - 1 - plan.segments[groups[-1][0]].base_offset <= INT32_MAX
        )
        if fits:
            groups[-1].append(number)
            size += segment.size
        else:
            groups.append([number])
            size = segment.size
    return groups


def _with_ends(log: PartitionLog, segments: list[LogSegment]) -> list[tuple[LogSegment, int]]:
    ends = [segment.base_offset for segment in segments[1:]] + [log.active_base_offset]
    return list(zip(segments, ends, strict=False))


def _segment_floor(log: PartitionLog, segments: list[LogSegment], bound: int) -> int:
    """Segments are compacted whole: the largest segment boundary at or before `bound`."""
    bases = [segment.base_offset for segment in segments] + [log.active_base_offset]
    return max((base for base in bases if base <= bound), default=log.log_start_offset)
