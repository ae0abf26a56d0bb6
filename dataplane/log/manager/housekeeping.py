"""What a broker's logs need by the clock: retention, checkpoints, flushes, unlinking."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.partition_log import PartitionLog
from dataplane.model.errors import KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.log.cleaner.driver import LogCleaner
    from dataplane.log.manager.checkpointing import Checkpoints
    from dataplane.log.manager.current_logs import CurrentLogs
    from dataplane.log.manager.log_directory import LogDirectory
    from dataplane.log.manager.pending_deletion import DirectoriesPendingDeletion
    from dataplane.log.manager.reports import LogManagerSettings
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.clock import Clock

_log = logging.getLogger(__name__)

OF_THE_LOGS = (
    paths.RECOVERY_POINT_CHECKPOINT,
    paths.LOG_START_CHECKPOINT,
    paths.CLEANER_CHECKPOINT,
)
"""The checkpoints whose offsets the logs move by themselves."""


class Housekeeping:
    """Looks after the logs in service. `on_failure` gets the error of a log's disk."""

    def __init__(
        self,
        clock: Clock,
        settings: LogManagerSettings,
        current: CurrentLogs,
        checkpoints: Checkpoints,
        *,
        pending_deletion: DirectoriesPendingDeletion,
        cleaner: LogCleaner,
        live_directories: Callable[[], list[LogDirectory]],
        on_failure: Callable[[TopicPartition, OSError], None],
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._current = current
        self._checkpoints = checkpoints
        self._pending_deletion = pending_deletion
        self._cleaner = cleaner
        self._live_directories = live_directories
        self._on_failure = on_failure
        self._last_run_ms: dict[str, int] = {}

    def tick(self, now_ms: int) -> None:
        """`now_ms` is wall-clock time, for retention; periods go by the monotonic clock."""
        settings = self._settings
        if self._is_due("housekeeping", settings.housekeeping_interval_ms):
            self._pending_deletion.purge()
            for log in self._current.all():
                self.guarded(log, PartitionLog.tick)
            self._cleaner.tick(self._current.by_partition)
        if self._is_due("retention", settings.retention_check_interval_ms):
            for log in self._current.all():
                self.guarded(log, lambda each: each.apply_retention(now_ms))
        if self._is_due("high watermarks", settings.high_watermark_checkpoint_interval_ms):
            self._checkpoints.write_soon(paths.HIGH_WATERMARK_CHECKPOINT, self._live_directories())
        if self._is_due("offsets", settings.offset_checkpoint_interval_ms):
            for name in OF_THE_LOGS:
                self._checkpoints.write_soon(name, self._live_directories())

    def checkpoint_high_watermarks(self) -> None:
        """Write `replication-offset-checkpoint` now, on this thread."""
        self._checkpoints.write_now(paths.HIGH_WATERMARK_CHECKPOINT, self._live_directories())

    def checkpoint_recovery_points(self) -> None:
        """Write recovery points, log start and cleaner offsets now, on this thread."""
        for name in OF_THE_LOGS:
            self._checkpoints.write_now(name, self._live_directories())

    def guarded(self, log: PartitionLog, work: Callable[[PartitionLog], object]) -> None:
        """One log's trouble must not keep the others from being looked after."""
        try:
            work(log)
        except KafkaError as error:
            _log.warning("%s: %s", log.topic_partition, error)
        except OSError as error:
            self._on_failure(log.topic_partition, error)

    def _is_due(self, task: str, interval_ms: int) -> bool:
        now_ms = self._clock.monotonic_ms()
        last_ms = self._last_run_ms.setdefault(task, now_ms)
        if now_ms - last_ms < interval_ms:
            return False
        self._last_run_ms[task] = now_ms
        return True
