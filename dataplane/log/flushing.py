"""Making a log durable, and remembering up to where it is: the recovery point."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from dataplane.log import paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.log.epochs import LeaderEpochs
    from dataplane.log.local_log import LocalLog
    from dataplane.log.opening import LogEnvironment
    from dataplane.log.storage_errors import StorageErrors


class Flusher:
    """Syncs a log in a worker thread; the recovery point moves when that is done.

    Files are synced by name: a file that is deleted meanwhile needs no syncing any more.
    """

    __slots__ = (
        "_background",
        "_clock",
        "_directory",
        "_epochs",
        "_fs",
        "_generation",
        "_in_flight",
        "_local",
        "_on_lowered",
        "_storage",
        "last_flush_ms",
        "recovery_point",
    )

    def __init__(
        self,
        environment: LogEnvironment,
        local: LocalLog,
        epochs: LeaderEpochs,
        storage: StorageErrors,
        *,
        recovery_point: int,
        on_lowered: Callable[[], None] | None,
    ) -> None:
        """`on_lowered` is called when the recovery point goes back.

        A checkpoint that still has the old one would cover what is written there next.
        """
        self._fs = environment.fs
        self._background = environment.background
        self._clock = environment.clock
        self._directory = local.directory
        self._local = local
        self._epochs = epochs
        self._storage = storage
        self._on_lowered = on_lowered
        self._generation = 0
        self._in_flight = False
        self.recovery_point = recovery_point
        self.last_flush_ms = self._clock.monotonic_ms()

    def flush(self, log_end_offset: int) -> None:
        """Sync everything now, on this thread. KafkaError: KAFKA_STORAGE_ERROR."""
        try:
            self._epochs.settle(log_end_offset)
            self._sync(self._targets())
        except OSError as error:
            raise self._storage.note(error) from error
        self.recovery_point = max(self.recovery_point, log_end_offset)
        self.last_flush_ms = self._clock.monotonic_ms()

    def flush_in_background(self, log_end_offset: int) -> None:
        """Sync in a worker thread; one at a time, so a slow disk gathers what came meanwhile.

        KafkaError: KAFKA_STORAGE_ERROR when the epochs or the indexes cannot be written.
        """
        try:
            self._epochs.settle(log_end_offset)
            if self._in_flight:
                return
            self._in_flight = True
            self.last_flush_ms = self._clock.monotonic_ms()
            targets = self._targets()
        except OSError as error:
            raise self._storage.note(error) from error
        self._background.submit(
            lambda: self._sync(targets),
            functools.partial(self._flushed, log_end_offset, self._generation),
        )

    def sync_directory(self) -> None:
        """Make renames durable, in a worker thread."""
        self._background.submit(self._sync_directory, self._directory_synced)

    def _sync_directory(self) -> None:
        if self._fs.exists(self._directory):
            self._fs.sync_dir(self._directory)

    def _directory_synced(self, error: BaseException | None) -> None:
        if isinstance(error, OSError):
            self._storage.note(error)

    def truncated(self, offset: int) -> None:
        """What lies from `offset` on is gone, or is new and not synced."""
        self._generation += 1
        self._lower_to(offset)

    def restart(self, offset: int) -> None:
        """The log starts again, empty, at `offset`."""
        self._generation += 1
        self._lower_to(offset)
        self.recovery_point = offset

    def _lower_to(self, offset: int) -> None:
        if offset < self.recovery_point:
            self.recovery_point = offset
            if self._on_lowered is not None:
                self._on_lowered()

    def relocate(self, directory: str) -> None:
        """The files lie in another directory now: a flush under way may have missed them."""
        self._directory = directory
        self._generation += 1

    def _flushed(self, log_end_offset: int, generation: int, error: BaseException | None) -> None:
        self._in_flight = False
        if isinstance(error, OSError):
            self._storage.note(error)
        elif error is None and generation == self._generation:
            self.recovery_point = max(self.recovery_point, log_end_offset)

    def _targets(self) -> list[str]:
        targets = [f"{self._directory}/{paths.LEADER_EPOCH_CHECKPOINT}"]
        for segment in self._local.unsynced(self.recovery_point):
            segment.close_indexes()
            stem = segment.path.removesuffix(paths.LOG)
            targets += [segment.path, segment.offset_index.path, segment.time_index.path]
            targets.append(stem + paths.TRANSACTION_INDEX)
        return targets

    def _sync(self, targets: list[str]) -> None:
        for path in targets:
            try:
                file = self._fs.open(path)
            except FileNotFoundError:
                continue
            try:
                file.sync()
            finally:
                file.close()
        self._sync_directory()
