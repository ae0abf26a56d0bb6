"""Compaction by the clock: picks the filthiest log, drives one round at a time, notes the outcome.

The mapping and rewriting run on the background port; planning and swapping on the log's thread.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
from typing import TYPE_CHECKING

from dataplane.log.cleaner.plan import assess, filthiest, plan_round
from dataplane.log.cleaner.round import Round
from dataplane.log.cleaner.source import UncleanableError
from dataplane.log.opening import NEVER_CLEANED
from dataplane.model.errors import KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from dataplane.log.cleaner.plan import Cleanable
    from dataplane.log.partition_log import PartitionLog
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.background import Background, Pacer
    from dataplane.ports.clock import Clock
    from dataplane.ports.filesystem import FileSystem

_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CleanerSettings:
    """The broker's `log.cleaner.*`; defaults are Kafka's."""

    is_enabled: bool = True
    memory_bytes: int = 128 * 1024 * 1024
    load_factor: float = 0.9
    io_buffer_bytes: int = 512 * 1024
    backoff_ms: int = 15_000


@dataclasses.dataclass(slots=True)
class CleanerStats:
    """Sums since the start of the process."""

    rounds: int = 0
    rounds_aborted: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    dropped_records: int = 0
    last_round_ms: int = 0


class _StoppedError(Exception):
    """The broker is going down: the round is left as it is; the next start begins it again."""


class LogCleaner:
    """One round at a time over all logs. Everything but the rewriting runs on one thread."""

    def __init__(
        self,
        fs: FileSystem,
        clock: Clock,
        background: Background,
        pacer: Pacer | None,
        settings: CleanerSettings,
        *,
        on_round_done: Callable[[], object],
    ) -> None:
        self._fs = fs
        self._clock = clock
        self._background = background
        self.pacer = pacer
        self._on_round_done = on_round_done
        self._logs: Mapping[TopicPartition, PartitionLog] = {}
        self._next_ms = 0
        self._began_ms = 0
        self._is_stopping = False
        self.settings = settings
        self.stats = CleanerStats()
        self.cleaning: TopicPartition | None = None
        self.uncleanable: dict[TopicPartition, str] = {}
        """Logs set aside until the next start, and why."""
        self.dirtiest_ratio = 0.0
        """Largest dirty share at the last look."""

    def tick(self, logs: Mapping[TopicPartition, PartitionLog]) -> None:
        """Begin a round if none is under way, one is due, and a log wants it."""
        self._logs = logs
        if self.cleaning is not None or self._is_stopping or not self.settings.is_enabled:
            return
        if self._clock.monotonic_ms() < self._next_ms:
            return
        self.uncleanable = {tp: why for tp, why in self.uncleanable.items() if tp in logs}
        chosen = self._choose()
        if chosen is None:
            self._back_off()
        else:
            self._begin(chosen)

    def stop(self) -> None:
        """Leave the round under way at its next step. Its temporary files go at the next start."""
        self._is_stopping = True

    def _back_off(self) -> None:
        self._next_ms = self._clock.monotonic_ms() + self.settings.backoff_ms

    def _choose(self) -> Cleanable | None:
        now_ms = self._clock.realtime_ms()
        candidates = []
        for tp, log in list(self._logs.items()):
            if not log.config.compacts or tp in self.uncleanable:
                continue
            try:
                candidates.append(assess(log, now_ms))
            except (OSError, KafkaError) as error:
                self._mark_uncleanable(log, str(error))
        self.dirtiest_ratio = max((each.ratio for each in candidates), default=0.0)
        return filthiest(candidates)

    def _begin(self, cleanable: Cleanable) -> None:
        log, settings = cleanable.log, self.settings
        self.cleaning = log.topic_partition
        self._began_ms = self._clock.monotonic_ms()
        run = Round(
            self._fs,
            plan_round(cleanable, self._clock.realtime_ms()),
            memory_bytes=settings.memory_bytes,
            load_factor=settings.load_factor,
            io_buffer_bytes=settings.io_buffer_bytes,
        )
        self._submit(run.map_keys, functools.partial(self._mapped, log, run))

    def _submit(
        self, steps: Callable[[], Iterator[int]], done: Callable[[BaseException | None], None]
    ) -> None:
        self._background.submit(lambda: self._drain(steps()), done)

    def _drain(self, steps: Iterator[int]) -> None:
        """Runs in a worker: one step after the other, at the pace it is given."""
        for size_bytes in steps:
            if self._is_stopping:
                raise _StoppedError
            if self.pacer is not None:
                self.pacer.spent(size_bytes)

    def _mapped(self, log: PartitionLog, run: Round, error: BaseException | None) -> None:
        if error is not None:
            self._abort(log, error)
        else:
            self._rewrite_next(log, run, 0)

    def _rewrite_next(self, log: PartitionLog, run: Round, number: int) -> None:
        if number == len(run.groups):
            self._finish(log, run)
            return
        self._submit(
            functools.partial(run.rewrite, run.groups[number]),
            functools.partial(self._rewritten, log, run, number),
        )

    def _rewritten(
        self, log: PartitionLog, run: Round, number: int, error: BaseException | None
    ) -> None:
        if error is None and self._logs.get(log.topic_partition) is log:
            try:
                if log.replace_segments(run.result, truncations=run.plan.truncations):
                    self.stats.bytes_before += run.result.bytes_before
                    self.stats.bytes_after += run.result.bytes_after
                    self.stats.dropped_records += run.result.dropped_records
                    self._rewrite_next(log, run, number + 1)
                    return
            except KafkaError as refused:
                error = refused
        self._abort(log, error)

    def _finish(self, log: PartitionLog, run: Round) -> None:
        self.cleaning = None
        log.cleaned_until = max(log.cleaned_until, run.cleaned_until)
        self.stats.rounds += 1
        self.stats.last_round_ms = self._clock.monotonic_ms() - self._began_ms
        _log.info(
            "%s: compacted up to %d in %d ms",
            log.topic_partition,
            run.cleaned_until,
            self.stats.last_round_ms,
        )
        self._on_round_done()

    def _abort(self, log: PartitionLog, error: BaseException | None) -> None:
        """The round ends here. Only what is wrong with the log itself sets it aside."""
        self.cleaning = None
        self.stats.rounds_aborted += 1
        self._back_off()
        is_gone = self._logs.get(log.topic_partition) is not log
        if error is None or is_gone or isinstance(error, _StoppedError | FileNotFoundError):
            _log.info("%s: its segments changed while they were compacted", log.topic_partition)
        elif isinstance(error, OSError | KafkaError):
            _log.warning("%s: compaction failed: %s", log.topic_partition, error)
            if isinstance(error, OSError):
                log.report_storage_error(error)
        else:
            if not isinstance(error, UncleanableError):
                _log.error("%s: compaction failed", log.topic_partition, exc_info=error)
            self._mark_uncleanable(log, str(error) or type(error).__name__)

    def _mark_uncleanable(self, log: PartitionLog, reason: str) -> None:
        _log.warning("%s is set aside, it cannot be compacted: %s", log.topic_partition, reason)
        self.uncleanable[log.topic_partition] = reason


def next_dirty_offset(log: PartitionLog) -> int | None:
    """Where compaction goes on. Every log that may ever have been compacted has an entry."""
    if log.cleaned_until == NEVER_CLEANED and not log.config.compacts:
        return None
    return max(log.cleaned_until, log.log_start_offset)
