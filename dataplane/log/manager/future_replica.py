"""AlterReplicaLogDirs: a replica goes to another log directory of the same broker (KIP-113).

A future replica in `topic-N.<uuid>-future` catches up with the current one, is made durable, and
is promoted in one step between two appends; the old files go like those of a deleted log. A start
removes an unfinished future replica and begins again: what it holds may have been truncated from
the current one since.
"""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING, Protocol

from dataplane.log import paths
from dataplane.log.opening import CheckpointedState
from dataplane.log.partition_metadata import write_topic_id
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable

    from dataplane.log.config import LogConfig
    from dataplane.log.manager.log_directory import LogDirectory
    from dataplane.log.partition_log import PartitionLog
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.entropy import Entropy
    from dataplane.ports.filesystem import FileSystem

_log = logging.getLogger(__name__)

STEP_BYTES = 1024 * 1024
_NEARLY_BYTES = 4 * STEP_BYTES


class ReplicaLogs(Protocol):
    """The logs of one broker and where they lie: `LogManager`, as future replicas see it."""

    def live_directory(self, path: str) -> LogDirectory: ...

    def get(self, tp: TopicPartition) -> PartitionLog | None: ...

    def parent_dir_of(self, tp: TopicPartition) -> LogDirectory | None: ...

    def topic_id(self, tp: TopicPartition) -> uuid.UUID | None: ...

    def make_log(
        self,
        tp: TopicPartition,
        path: str,
        directory: LogDirectory,
        config: LogConfig,
        *,
        checkpointed: CheckpointedState,
    ) -> PartitionLog: ...

    def promote(self, tp: TopicPartition, future: FutureReplica) -> None: ...

    def delete_directory_async(
        self, parent: LogDirectory, path: str, tp: TopicPartition, log: PartitionLog | None = None
    ) -> None: ...

    def fail_directory(self, directory: LogDirectory, error: OSError) -> None: ...


@dataclasses.dataclass(slots=True)
class FutureReplica:
    """One replica that shall take the place of the current one."""

    current: PartitionLog
    log: PartitionLog
    target: LogDirectory
    truncations: int
    """Those of the current replica that this one has followed."""
    durable_from: int | None = None
    """It may be promoted once it is synced up to here."""


class FutureReplicas:
    """All of one broker. `step` copies a little; the shell calls it while `is_busy`."""

    def __init__(self, manager: ReplicaLogs, fs: FileSystem, entropy: Entropy) -> None:
        self._manager = manager
        self._fs = fs
        self._entropy = entropy
        self._futures: dict[TopicPartition, FutureReplica] = {}
        self._on_promoted: list[Callable[[TopicPartition, PartitionLog], None]] = []
        self.preferred_log_dirs: dict[TopicPartition, str] = {}
        """Where replicas shall be made that are not here yet."""
        self.unfinished: list[tuple[TopicPartition, LogDirectory]] = []
        """Those that the last stop interrupted: `resume` begins them again."""

    @property
    def is_busy(self) -> bool:
        return bool(self._futures)

    def all(self) -> dict[TopicPartition, FutureReplica]:
        return dict(self._futures)

    def on_promoted(self, callback: Callable[[TopicPartition, PartitionLog], None]) -> None:
        """Call back when a replica has another log object, with the same content."""
        self._on_promoted.append(callback)

    def begin(self, tp: TopicPartition, path: str) -> None:
        """Make a future replica of `tp` in the log directory `path`.

        Where the current one is already, this only cancels another. KafkaError: LOG_DIR_NOT_FOUND,
        KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE; in the last case a replica that is made later
        will be made there.
        """
        target = self._manager.live_directory(path)
        current = self._manager.get(tp)
        if current is None:
            self.preferred_log_dirs[tp] = target.path
            raise KafkaError(ErrorCode.REPLICA_NOT_AVAILABLE, f"No replica of {tp} here.")
        future = self._futures.get(tp)
        if future is not None:
            if future.target is target:
                return
            self.cancel(tp)
        if self._manager.parent_dir_of(tp) is target:
            return
        self._create(tp, current, target)

    def resume(self) -> None:
        """Begin again what the last stop interrupted."""
        unfinished, self.unfinished = self.unfinished, []
        for tp, target in unfinished:
            try:
                self.begin(tp, target.path)
            except KafkaError as error:
                _log.warning("%s is not moved to %s any more: %s", tp, target.path, error)

    def _create(self, tp: TopicPartition, current: PartitionLog, target: LogDirectory) -> None:
        name = paths.future_directory_name(tp, self._entropy.uuid4())
        path = f"{target.path}/{name}"
        try:
            self._fs.make_dirs(path)
            log = self._manager.make_log(
                tp,
                path,
                target,
                current.config,
                checkpointed=CheckpointedState(
                    log_start_offset=current.log_start_offset, is_clean=True
                ),
            )
            topic_id = self._manager.topic_id(tp)
            if topic_id is not None:
                write_topic_id(self._fs, path, topic_id)
        except OSError as error:
            self._manager.fail_directory(target, error)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        self._futures[tp] = FutureReplica(current, log, target, current.truncations)
        _log.info("%s: moving to %s", tp, target.path)

    def step(self, max_bytes: int = STEP_BYTES) -> int:
        """Copy up to `max_bytes` for one replica, promote it when done. Returns bytes copied."""
        if not self._futures:
            return 0
        tp = next(iter(self._futures))
        future = self._futures.pop(tp)
        self._futures[tp] = future  # the others' turn comes first next time
        try:
            return self._catch_up(tp, future, max_bytes)
        except KafkaError as error:
            _log.warning("%s: moving to %s failed: %s", tp, future.target.path, error)
            self.cancel(tp)
        except OSError as error:
            self._manager.fail_directory(future.target, error)
        return 0

    def _catch_up(self, tp: TopicPartition, future: FutureReplica, max_bytes: int) -> int:
        current, log = future.current, future.log
        if (
            current.truncations != future.truncations
            or log.log_end_offset < current.log_start_offset
        ):
            log.truncate_fully_and_start_at(current.log_start_offset)
            future.truncations, future.durable_from = current.truncations, None
        at = log.log_end_offset
        data = current.read(at, max_bytes, current.log_end_offset).read()
        if data:
            log.append_as_follower(data)
        left = current.size_bytes - log.size_bytes
        is_caught_up = log.log_end_offset == current.log_end_offset
        if future.durable_from is None and (is_caught_up or 0 <= left < _NEARLY_BYTES):
            future.durable_from = log.log_end_offset
            log.flush_in_background()
        durable_from = future.durable_from
        if is_caught_up and durable_from is not None and log.recovery_point >= durable_from:
            self._promote(tp, future)
        return len(data)

    def _promote(self, tp: TopicPartition, future: FutureReplica) -> None:
        future.log.adopt_bounds(future.current)
        del self._futures[tp]
        self._manager.promote(tp, future)
        _log.info("%s: moved to %s", tp, future.target.path)
        for callback in self._on_promoted:
            callback(tp, future.log)

    def cancel(self, tp: TopicPartition) -> None:
        """The replica stays where it is, or is going altogether; the future one goes."""
        self.preferred_log_dirs.pop(tp, None)
        future = self._futures.pop(tp, None)
        if future is not None:
            future.log.release()
            self._manager.delete_directory_async(future.target, future.log.directory, tp)

    def on_directory_failure(self, directory: LogDirectory) -> None:
        """Future replicas there, and those of current ones there, are dropped."""
        for tp, future in list(self._futures.items()):
            if future.target is directory:
                self._futures.pop(tp).log.release()
            elif future.current.directory.rpartition("/")[0] == directory.path:
                self.cancel(tp)

    def release(self) -> None:
        """The broker stops: the next start begins them again."""
        for future in self._futures.values():
            future.log.release()
        self._futures.clear()


def epoch_and_end(log: PartitionLog) -> tuple[int, int]:
    """How far a replica's log went, to compare two of the same partition."""
    return (-1 if log.latest_epoch is None else log.latest_epoch, log.log_end_offset)
