"""How far opening the logs has come, for whoever watches a start."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(slots=True)
class LoadProgress:
    """One worker's share. Only that worker writes it; anybody may read while it grows."""

    logs_opened: int = 0
    remaining_segments: int = 0
    """Segments of the log it is at that are still to be checked."""
    scanned_bytes: int = 0
    truncated_bytes: int = 0
    rebuilt_segments: int = 0
    """Segments whose indexes were rebuilt."""
    damaged_files: int = 0
    """Checkpoints, epoch files, snapshots and indexes that made no sense and were rebuilt."""


class DirectoryProgress:
    """One log directory: as many workers as `num.recovery.threads.per.data.dir`."""

    def __init__(self, threads: int) -> None:
        self.logs_found = 0
        self.damaged_files = 0
        self.workers = [LoadProgress() for _ in range(threads)]

    @property
    def remaining_logs(self) -> int:
        return self.logs_found - sum(worker.logs_opened for worker in self.workers)


class Progress:
    """All log directories by path; sums over them."""

    def __init__(self) -> None:
        self.directories: dict[str, DirectoryProgress] = {}
        self.later = LoadProgress()
        """Logs that are opened after the start."""

    @property
    def logs_found(self) -> int:
        return sum(each.logs_found for each in self._all())

    @property
    def logs_opened(self) -> int:
        return sum(worker.logs_opened for worker in self._workers())

    @property
    def scanned_bytes(self) -> int:
        return sum(worker.scanned_bytes for worker in self._workers())

    @property
    def truncated_bytes(self) -> int:
        return sum(worker.truncated_bytes for worker in self._workers())

    @property
    def rebuilt_segments(self) -> int:
        return sum(worker.rebuilt_segments for worker in self._workers())

    @property
    def damaged_files(self) -> int:
        return sum(each.damaged_files for each in self._all()) + sum(
            worker.damaged_files for worker in self._workers()
        )

    def _all(self) -> list[DirectoryProgress]:
        # A copy: directories are added while somebody looks.
        return list(self.directories.values())

    def _workers(self) -> list[LoadProgress]:
        return [worker for each in self._all() for worker in each.workers] + [self.later]
