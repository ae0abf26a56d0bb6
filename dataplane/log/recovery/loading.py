"""Opening all logs of one directory, by several workers at a time."""

from __future__ import annotations

import functools
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dataplane.log import paths
from dataplane.log.manager.reports import report_loading
from dataplane.log.opening import NEVER_CLEANED, CheckpointedState
from dataplane.log.partition_metadata import read_topic_id
from dataplane.log.recovery.load_progress import DirectoryProgress
from dataplane.model.errors import KafkaError

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable

    from dataplane.log.config import LogConfig
    from dataplane.log.manager.log_directory import LogDirectory
    from dataplane.log.partition_log import PartitionLog
    from dataplane.log.recovery.load_progress import LoadProgress
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.filesystem import FileSystem


class OpenLog(Protocol):
    """`LogManager.make_log`, of which this is a part."""

    def __call__(
        self,
        tp: TopicPartition,
        path: str,
        directory: LogDirectory,
        config: LogConfig,
        *,
        checkpointed: CheckpointedState,
        progress: LoadProgress,
    ) -> PartitionLog: ...


class Opened(NamedTuple):
    """One log that was found and opened."""

    tp: TopicPartition
    log: PartitionLog
    topic_id: uuid.UUID | None


class DirectoryLoading:
    """What a start finds in one directory.

    `survey` looks at the directory; then every one of `workers` takes one log after another, and
    `opened` has them in the order of their names whoever opened which. Workers share nothing but
    the list of what is left.
    """

    def __init__(
        self, fs: FileSystem, directory: LogDirectory, open_log: OpenLog, *, threads: int
    ) -> None:
        self._fs = fs
        self._open_log = open_log
        self._left: deque[tuple[TopicPartition, str]] = deque()
        self._opened: dict[str, Opened] = {}
        self._configs: dict[str, LogConfig] = {}
        self.directory = directory
        self.progress = DirectoryProgress(threads)
        self.pending_deletion: list[str] = []
        self.unfinished: list[tuple[TopicPartition, str]] = []
        """Future replicas that were on their way here, with their paths."""
        self.error: OSError | None = None

    def survey(self, config_for: Callable[[str], LogConfig]) -> None:
        """Lock the directory, read its checkpoints and list its logs. DirectoryInUseError."""
        try:
            self.directory.open()
            self._survey(config_for)
        except OSError as error:
            self.fail(error)

    def _survey(self, config_for: Callable[[str], LogConfig]) -> None:
        directory = self.directory
        self.stop = directory.take_clean_stop()
        self._recovery_points = directory.recovery_points()
        self._log_starts = directory.log_start_offsets()
        self._high_watermarks = directory.high_watermarks()
        self._cleaner_offsets = directory.cleaner_offsets()
        self.checkpoints = {
            paths.RECOVERY_POINT_CHECKPOINT: self._recovery_points,
            paths.LOG_START_CHECKPOINT: self._log_starts,
            paths.HIGH_WATERMARK_CHECKPOINT: self._high_watermarks,
            paths.CLEANER_CHECKPOINT: self._cleaner_offsets,
        }
        self.progress.damaged_files = directory.damaged_files
        files = self._fs.file_sizes(directory.path)
        for name in self._fs.list_dir(directory.path):
            if name in files:
                continue
            path = f"{directory.path}/{name}"
            if name.endswith(paths.DELETE_DIRECTORY):
                self.pending_deletion.append(path)
            elif (future_of := paths.parse_future_directory(name)) is not None:
                self.unfinished.append((future_of, path))
            elif (tp := paths.parse_partition_directory(name)) is not None:
                self._left.append((tp, path))
                if tp.topic not in self._configs:
                    self._configs[tp.topic] = config_for(tp.topic)
            # Others (-stray, lost+found) are not ours to open.
        self.progress.logs_found = len(self._left)

    @property
    def workers(self) -> list[Callable[[], None]]:
        """At most as many as there are logs."""
        shares = self.progress.workers[: max(1, len(self._left))]
        return [functools.partial(self._work, share) for share in shares]

    def opened(self) -> list[Opened]:
        return [self._opened[path] for path in sorted(self._opened)]

    def release(self) -> None:
        """Close what was opened: the directory has failed."""
        for each in self._opened.values():
            each.log.release()

    def report(self, *, took_ms: int) -> None:
        report_loading(
            self.directory.path,
            [each.log.recovered for each in self._opened.values()],
            took_ms=took_ms,
            was_clean=self.stop.was_clean,
        )

    def fail(self, error: OSError) -> None:
        """The disk refused: what is left need not be tried. From any worker."""
        self.error = self.error or error
        self._left.clear()

    def _work(self, share: LoadProgress) -> None:
        while self._left:
            try:
                tp, path = self._left.popleft()
            except IndexError:  # another worker was quicker
                return
            # A compacted log without an entry: its checkpoint is lost, or nothing was cleaned yet.
            unnoted = 0 if self._configs[tp.topic].compacts else NEVER_CLEANED
            try:
                log = self._open_log(
                    tp,
                    path,
                    self.directory,
                    self._configs[tp.topic],
                    checkpointed=CheckpointedState(
                        recovery_point=self._recovery_points.get(tp, 0),
                        log_start_offset=self._log_starts.get(tp, 0),
                        cleaned_until=self._cleaner_offsets.get(tp, unnoted),
                        high_watermark=self._high_watermarks.get(tp),
                        is_clean=self.stop.was_clean,
                    ),
                    progress=share,
                )
                self._opened[path] = Opened(tp, log, read_topic_id(self._fs, path))
                log.update_high_watermark(self._high_watermarks.get(tp, 0))
            except OSError as error:
                self.fail(error)
            except KafkaError as error:
                cause = error.__cause__
                self.fail(cause if isinstance(cause, OSError) else OSError(str(error)))
            share.logs_opened += 1
