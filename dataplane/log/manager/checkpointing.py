"""Writing checkpoint files: off the event loop, and only when something has moved."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.cleaner.driver import next_dirty_offset

if TYPE_CHECKING:
    from dataplane.log.manager.current_logs import CurrentLogs
    from dataplane.log.manager.log_directory import LogDirectory
    from dataplane.log.partition_log import PartitionLog
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.background import Background

    Offsets = dict[TopicPartition, int]

OFFSETS: dict[str, Callable[[PartitionLog], int | None]] = {
    paths.HIGH_WATERMARK_CHECKPOINT: attrgetter("high_watermark"),
    paths.RECOVERY_POINT_CHECKPOINT: attrgetter("recovery_point"),
    paths.LOG_START_CHECKPOINT: attrgetter("log_start_offset"),
    paths.CLEANER_CHECKPOINT: next_dirty_offset,
}
"""What each checkpoint file holds of a log; None: nothing."""


class Checkpoints:
    """Remembers what each file holds; one write of a file at a time."""

    def __init__(
        self,
        background: Background,
        current: CurrentLogs,
        on_error: Callable[[LogDirectory, OSError], object],
    ) -> None:
        self._current = current
        self._background = background
        self._on_error = on_error
        self._written: dict[tuple[str, str], Offsets] = {}
        self._writing: set[tuple[str, str]] = set()
        self._again: dict[tuple[str, str], tuple[LogDirectory, Offsets]] = {}

    def found(self, directory: LogDirectory, name: str, offsets: Offsets) -> None:
        """A start has read the file: this is what it holds."""
        self._written[directory.path, name] = offsets

    def written_offset(self, directory: LogDirectory, name: str, tp: TopicPartition) -> int | None:
        """What the file holds for a partition."""
        return self._written.get((directory.path, name), {}).get(tp)

    def write_now(self, name: str, directories: Iterable[LogDirectory]) -> None:
        """Replace the file in each directory, on this thread."""
        for directory in directories:
            self._write(directory, name, self._offsets(directory, name))

    def write_soon(self, name: str, directories: Iterable[LogDirectory]) -> None:
        """Replace the file in each directory, in the background, where it holds other offsets."""
        for directory in directories:
            self._submit(directory, name, self._offsets(directory, name))

    def _offsets(self, directory: LogDirectory, name: str) -> Offsets:
        offset_of = OFFSETS[name]
        logs = self._current.in_directory(directory)
        return {tp: at for tp, log in logs.items() if (at := offset_of(log)) is not None}

    def _write(self, directory: LogDirectory, name: str, offsets: Offsets) -> None:
        """Replace the file now; soon, if another thread is just writing it."""
        key = (directory.path, name)
        if key in self._writing:
            self._again[key] = (directory, offsets)
            return
        try:
            directory.write_checkpoint(name, offsets)
        except OSError as error:
            self._on_error(directory, error)
        else:
            self._written[key] = offsets

    def _submit(self, directory: LogDirectory, name: str, offsets: Offsets) -> None:
        key = (directory.path, name)
        # A file that was never needed is not made for the sake of being empty.
        if offsets == self._written.get(key, {}) or key in self._writing:
            return
        self._writing.add(key)
        self._written[key] = offsets
        self._background.submit(
            functools.partial(directory.write_checkpoint, name, offsets),
            functools.partial(self._done, directory, key),
        )

    def _done(
        self, directory: LogDirectory, key: tuple[str, str], error: BaseException | None
    ) -> None:
        self._writing.discard(key)
        if error is not None:
            self._written.pop(key, None)
        waiting = self._again.pop(key, None)
        if isinstance(error, OSError):
            self._on_error(directory, error)
        elif waiting is not None:
            self._write(waiting[0], key[1], waiting[1])
