"""All logs of one broker, over several log directories."""

from __future__ import annotations

import contextlib
import functools
import logging
from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.cleaner.driver import LogCleaner
from dataplane.log.config import LogConfig
from dataplane.log.manager.checkpointing import OFFSETS, Checkpoints
from dataplane.log.manager.current_logs import CurrentLogs
from dataplane.log.manager.full_disks import FullDisks
from dataplane.log.manager.future_replica import FutureReplicas, epoch_and_end
from dataplane.log.manager.housekeeping import Housekeeping
from dataplane.log.manager.log_directory import LogDirectory
from dataplane.log.manager.pending_deletion import DirectoriesPendingDeletion
from dataplane.log.manager.reports import (
    DirectoryReport,
    LogManagerSettings,
    LogReport,
    describe,
)
from dataplane.log.opening import CheckpointedState, LogEnvironment, LogListeners
from dataplane.log.partition_log import PartitionLog
from dataplane.log.partition_metadata import write_topic_id
from dataplane.log.recovery.load_progress import Progress
from dataplane.log.recovery.loading import DirectoryLoading
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable, Sequence

    from dataplane.log.manager.future_replica import FutureReplica
    from dataplane.log.recovery.load_progress import LoadProgress
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.background import Background, Pacer
    from dataplane.ports.clock import Clock
    from dataplane.ports.entropy import Entropy
    from dataplane.ports.filesystem import DiskUsage, FileSystem

__all__ = ["DirectoryReport", "LogManager", "LogManagerSettings", "LogReport"]

_log = logging.getLogger(__name__)

NO_FILES = CheckpointedState(is_clean=True)
"""Of a log that begins: there is nothing to scan."""


class LogManager:
    """Finds, creates, deletes and looks after the logs.

    Everything is called from one thread. `config_for(topic)` gives a topic's settings while its
    log is loaded.
    """

    def __init__(
        self,
        fs: FileSystem,
        clock: Clock,
        entropy: Entropy,
        background: Background,
        *,
        log_dirs: Sequence[str],
        broker_id: int,
        config_for: Callable[[str], LogConfig] | None = None,
        settings: LogManagerSettings | None = None,
        pacer: Pacer | None = None,
    ) -> None:
        self._environment = LogEnvironment(fs, clock, background)
        self._fs = fs
        self._clock = clock
        self._entropy = entropy
        self._background = background
        self._broker_id = broker_id
        self._config_for = config_for or (lambda _topic: LogConfig())
        self._settings = settings or LogManagerSettings()
        self._directories = [LogDirectory(fs, path) for path in log_dirs]
        self._current = CurrentLogs()
        self._pending_deletion = DirectoriesPendingDeletion(fs, clock, background)
        self._loading: dict[str, DirectoryLoading] = {}
        self._on_failure: list[Callable[[str, list[TopicPartition]], None]] = []
        self._checkpoints = Checkpoints(background, self._current, self.fail_directory)
        self.full_disks = FullDisks(clock)
        # The logs of a directory share one: there may be thousands.
        self._on_storage_error = {
            each.path: self.full_disks.watcher(functools.partial(self._storage_failed, each))
            for each in self._directories
        }
        self.future_replicas = FutureReplicas(self, fs, entropy)
        self.previous_broker_epoch = -1
        self.progress = Progress()
        self.cleaner = LogCleaner(
            fs,
            clock,
            background,
            pacer,
            self._settings.cleaner,
            on_round_done=self._checkpoint_cleaning,
        )
        self._housekeeping = Housekeeping(
            clock,
            self._settings,
            self._current,
            self._checkpoints,
            pending_deletion=self._pending_deletion,
            cleaner=self.cleaner,
            live_directories=self._live_directories,
            on_failure=self._log_failed,
        )

    # --- start ---

    def load(self) -> dict[TopicPartition, PartitionLog]:
        """Lock the directories and open every log in them, recovering after an unclean stop.

        `DirectoryInUseError`. A directory that cannot be read is marked failed; if all are,
        KafkaError(KAFKA_STORAGE_ERROR).
        """
        started_ms = self._clock.monotonic_ms()
        threads = self._settings.recovery_threads
        for directory in self._directories:
            loading = DirectoryLoading(self._fs, directory, self.make_log, threads=threads)
            self.progress.directories[directory.path] = loading.progress
            self._loading[directory.path] = loading
            loading.survey(self._config_for)
        loadings = list(self._loading.values())
        self._background.run_together([work for each in loadings for work in each.workers])
        self._loading.clear()
        for loading in loadings:
            if loading.error is not None:
                loading.release()
                self.fail_directory(loading.directory, loading.error)
            else:
                self._take_over(loading)
                loading.report(took_ms=self._clock.monotonic_ms() - started_ms)
        if all(directory.failure is not None for directory in self._directories):
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "No log directory can be used.")
        return dict(self._current.by_partition)

    def stamp_identity(self, cluster_id: str) -> None:
        """Write or check `meta.properties` everywhere. `InconsistentIdentityError`."""
        for directory in self._live_directories():
            directory.stamp_identity(self._broker_id, cluster_id, self._entropy.uuid4())

    def directory_ids(self) -> set[str]:
        """The `directory.id` of each log directory in use. `InconsistentIdentityError`."""
        found = (each.read_identity().get("directory.id", "") for each in self._live_directories())
        return {directory_id for directory_id in found if directory_id}

    def _take_over(self, loading: DirectoryLoading) -> None:
        """Put what was found in one directory into service."""
        directory = loading.directory
        if loading.stop.was_clean:
            self.previous_broker_epoch = max(self.previous_broker_epoch, loading.stop.broker_epoch)
        for path in loading.pending_deletion:
            self._pending_deletion.add(path)
        for tp, path in loading.unfinished:
            self._pending_deletion.add(path)
            self.future_replicas.unfinished.append((tp, directory))
        for name, offsets in loading.checkpoints.items():
            self._checkpoints.found(directory, name, offsets)
        for tp, log, topic_id in loading.opened():
            if self._prevails(tp, log, directory) and topic_id is not None:
                self._current.set_topic_id(tp, topic_id)

    def _prevails(self, tp: TopicPartition, log: PartitionLog, directory: LogDirectory) -> bool:
        """Register a log that was found, unless another directory has a better one.

        Two happen when a crash, or a failing disk, came between the two renames of a promotion:
        the longer log of the newer epoch is the one that went on.
        """
        other = self._current.get(tp)
        if other is not None:
            _log.warning("%s is in %s and in %s", tp, other.directory, log.directory)
            if epoch_and_end(other) >= epoch_and_end(log):
                if log.log_end_offset == 0:
                    self.delete_directory_async(directory, log.directory, tp, log)
                    return False
                log.release()
                name = paths.stray_directory_name(tp, self._entropy.uuid4())
                self._fs.rename(log.directory, f"{directory.path}/{name}")
                return False
            self.set_aside(tp)
        self._current.put(tp, log, directory)
        return True

    def make_log(
        self,
        tp: TopicPartition,
        path: str,
        directory: LogDirectory,
        config: LogConfig,
        *,
        checkpointed: CheckpointedState = NO_FILES,
        progress: LoadProgress | None = None,
    ) -> PartitionLog:
        """Open or create a log, without taking it into service. `OSError`.

        Several threads may be in here while `load` goes on.
        """
        return PartitionLog(
            self._environment,
            tp,
            path,
            config,
            checkpointed=checkpointed,
            listeners=LogListeners(
                on_storage_error=self._on_storage_error[directory.path],
                on_recovery_point_lowered=lambda: self._recovery_point_lowered(tp, directory),
            ),
            progress=progress or self.progress.later,
            producer_expiration_ms=self._settings.producer_expiration_ms,
        )

    def _storage_failed(self, directory: LogDirectory, error: OSError) -> None:
        loading = self._loading.get(directory.path)
        if loading is not None:
            loading.fail(error)
        else:
            self.fail_directory(directory, error)

    def _recovery_point_lowered(self, tp: TopicPartition, directory: LogDirectory) -> None:
        """The log was truncated: the checkpoint must not cover what is written there next."""
        name = paths.RECOVERY_POINT_CHECKPOINT
        written = self._checkpoints.written_offset(directory, name, tp)
        log = self._current.get(tp)
        if written is None or log is None or self.parent_dir_of(tp) is not directory:
            return
        if written > log.recovery_point:
            self._checkpoints.write_now(name, [directory])

    # --- logs ---

    def get(self, tp: TopicPartition) -> PartitionLog | None:
        return self._current.get(tp)

    def all(self) -> dict[TopicPartition, PartitionLog]:
        return dict(self._current.by_partition)

    def topic_id(self, tp: TopicPartition) -> uuid.UUID | None:
        return self._current.topic_id(tp)

    def get_or_create(
        self,
        tp: TopicPartition,
        topic_id: uuid.UUID | None,
        config: LogConfig,
        *,
        is_new: bool = True,
    ) -> PartitionLog:
        """The log of `tp`, created in the directory with the fewest partitions if absent.

        `is_new` is the controller's word that no replica may exist yet; without it a log is only
        created while no directory has failed, for it might lie in the failed one.
        KafkaError: INCONSISTENT_TOPIC_ID, INVALID_TOPIC_EXCEPTION, KAFKA_STORAGE_ERROR.
        """
        log = self._current.get(tp)
        if log is not None:
            self._check_topic_id(tp, topic_id, log)
            return log
        live = self._live_directories()
        if not live or (not is_new and len(live) < len(self._directories)):
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"No place for the log of {tp}.")
        name = paths.partition_directory_name(tp)
        directory = self._place_for(tp, live)
        path = f"{directory.path}/{name}"
        try:
            self._fs.make_dirs(path)
            log = self.make_log(tp, path, directory, config)
            self._current.put(tp, log, directory)
            # An earlier log of this name may still be in the checkpoints.
            for kept in OFFSETS:
                if self._checkpoints.written_offset(directory, kept, tp):
                    self._checkpoints.write_now(kept, [directory])
            if topic_id is not None:
                write_topic_id(self._fs, path, topic_id)
                self._current.set_topic_id(tp, topic_id)
        except OSError as error:
            self.fail_directory(directory, error)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        return log

    def _place_for(self, tp: TopicPartition, live: list[LogDirectory]) -> LogDirectory:
        if len(live) == 1:
            return live[0]
        preferred = self.future_replicas.preferred_log_dirs.pop(tp, None)
        return min(live, key=lambda each: (each.path != preferred, self._current.count_in(each)))

    def _check_topic_id(
        self, tp: TopicPartition, topic_id: uuid.UUID | None, log: PartitionLog
    ) -> None:
        if topic_id is None:
            return
        known = self._current.topic_id(tp)
        if known is None:
            write_topic_id(self._fs, log.directory, topic_id)
            self._current.set_topic_id(tp, topic_id)
        elif known != topic_id:
            raise KafkaError(
                ErrorCode.INCONSISTENT_TOPIC_ID, f"The log of {tp} belongs to topic id {known}."
            )

    def delete_async(self, tp: TopicPartition) -> bool:
        """Take the log out of service at once; its files go after `file.delete.delay.ms`.

        False when its directory fails in that: the log is there again with the directory.
        """
        if self._current.get(tp) is None:
            return True
        name = paths.deleted_directory_name(tp, self._entropy.uuid4())
        retired = self._retire(tp, name)
        if retired is None:
            return False
        self._pending_deletion.add(*retired, delay_ms=self._settings.file_delete_delay_ms)
        return True

    def set_aside(self, tp: TopicPartition) -> None:
        """Take a log out of service that the cluster does not know any more; its files stay.

        One that never held a record is deleted: a disk failed while it was made, and there is
        nothing in it to look at.
        """
        log = self._current.get(tp)
        if log is not None and log.log_end_offset == 0:
            self.delete_async(tp)
            return
        retired = self._retire(tp, paths.stray_directory_name(tp, self._entropy.uuid4()))
        if retired is not None:
            retired[1].release()

    def _retire(self, tp: TopicPartition, name: str) -> tuple[str, PartitionLog] | None:
        """Forget a log and give its directory another name; that path and the log."""
        self.future_replicas.cancel(tp)
        removed = self._current.remove(tp)
        if removed is None:
            return None
        log, directory = removed
        path = f"{directory.path}/{name}"
        try:
            self._fs.rename(log.directory, path)
            log.relocate(path)  # what is opened later shall not be a new log's of this name
        except OSError as error:
            log.fail(error)
            log.release()
            self.fail_directory(directory, error)
            return None
        return path, log

    # --- future replicas ---

    def live_directory(self, path: str) -> LogDirectory:
        """One of `log.dirs`. KafkaError: LOG_DIR_NOT_FOUND, KAFKA_STORAGE_ERROR if it failed."""
        for directory in self._directories:
            if directory.path == path.rstrip("/"):
                if directory.failure is not None:
                    raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{path} has failed.")
                return directory
        raise KafkaError(ErrorCode.LOG_DIR_NOT_FOUND, f"{path} is none of log.dirs.")

    def parent_dir_of(self, tp: TopicPartition) -> LogDirectory | None:
        return self._current.parent_dir_of(tp)

    def promote(self, tp: TopicPartition, future: FutureReplica) -> None:
        """A future replica becomes the current one. KafkaError; then both stay as they are."""
        old, log, parent = future.current, future.log, future.target
        old_parent = self.parent_dir_of(tp)
        path = f"{parent.path}/{tp}"
        try:
            self._fs.rename(log.directory, path)
            log.relocate(path)
        except OSError as error:
            self.fail_directory(parent, error)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        self._current.put(tp, log, parent)
        if old_parent is not None:
            self.delete_directory_async(old_parent, old.directory, tp, old)
        self.checkpoint_high_watermarks()
        self.checkpoint_recovery_points()

    def delete_directory_async(
        self, parent: LogDirectory, path: str, tp: TopicPartition, log: PartitionLog | None = None
    ) -> None:
        """Rename a directory out of the way; it goes after `log.segment.delete.delay.ms`."""
        renamed = f"{parent.path}/{paths.deleted_directory_name(tp, self._entropy.uuid4())}"
        try:
            self._fs.rename(path, renamed)
        except OSError as error:
            self.fail_directory(parent, error)
            return
        if log is not None:
            log.relocate(renamed)
        self._pending_deletion.add(renamed, log, delay_ms=self._settings.file_delete_delay_ms)

    # --- housekeeping ---

    def tick(self, now_ms: int) -> None:
        """Whatever is due, by wall-clock time `now_ms`. Call once a second or so."""
        self._housekeeping.tick(now_ms)

    def checkpoint_high_watermarks(self) -> None:
        """Write `replication-offset-checkpoint` now, on this thread."""
        self._housekeeping.checkpoint_high_watermarks()

    def checkpoint_recovery_points(self) -> None:
        """Write recovery points, log start and cleaner offsets now, on this thread."""
        self._housekeeping.checkpoint_recovery_points()

    def _checkpoint_cleaning(self) -> None:
        self._checkpoints.write_soon(paths.CLEANER_CHECKPOINT, self._live_directories())

    def _log_failed(self, tp: TopicPartition, error: OSError) -> None:
        parent = self.parent_dir_of(tp)
        if parent is not None:
            self.fail_directory(parent, error)

    # --- trouble ---

    def on_directory_failure(self, callback: Callable[[str, list[TopicPartition]], None]) -> None:
        """Call back with a failed directory and the partitions that it took along."""
        self._on_failure.append(callback)

    def fail_directory(self, directory: LogDirectory, error: OSError) -> None:
        if directory.failure is not None:
            return
        _log.error("log directory %s failed: %s", directory.path, error)
        directory.failure = error
        self.future_replicas.on_directory_failure(directory)
        lost = self._current.in_directory(directory)
        for tp, log in lost.items():
            self._current.remove(tp)
            log.fail(error)
        for callback in self._on_failure:
            callback(directory.path, list(lost))

    @property
    def has_failed_directory(self) -> bool:
        """Whether there may be logs that this process does not know of."""
        return any(directory.failure is not None for directory in self._directories)

    def _live_directories(self) -> list[LogDirectory]:
        return [directory for directory in self._directories if directory.failure is None]

    # --- reports ---

    def directories(self) -> list[DirectoryReport]:
        """Every log directory with its logs, for DescribeLogDirs."""
        return [
            describe(
                self._fs,
                directory.path,
                directory.failure,
                self._current.in_directory(directory),
                {
                    tp: future.log
                    for tp, future in self.future_replicas.all().items()
                    if future.target is directory
                },
            )
            for directory in self._directories
        ]

    def disk_usage(self) -> dict[str, DiskUsage]:
        """Of the volumes of the directories that have not failed, by the directory's path."""
        found = {}
        for directory in self._directories:
            if directory.failure is None:
                with contextlib.suppress(OSError):  # what uses the directory next reports it
                    found[directory.path] = self._fs.usage(directory.path)
        return found

    # --- stop ---

    def shutdown(self, broker_epoch: int = -1) -> None:
        """Close every log, write the checkpoints and, where all went well, the clean marker.

        Background work must have ended before: the caller closes its threads first.
        """
        self.future_replicas.release()
        for log in self._current.all():
            self._housekeeping.guarded(log, PartitionLog.close)
        self.checkpoint_high_watermarks()
        self.checkpoint_recovery_points()
        for directory in self._live_directories():
            try:
                directory.write_clean_stop(broker_epoch)
            except OSError as error:
                self.fail_directory(directory, error)
        self._pending_deletion.release()
        for directory in self._directories:
            directory.close()
        self._current.clear()
