"""What the disk refused to one log, and whether the log has ended for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log.manager.full_disks import DISK_FULL
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable


class StorageErrors:
    """A full disk heals; any other error of the disk ends the log until the broker starts again.

    `failure` is that error, None while the log is well.
    """

    __slots__ = ("_directory", "_on_error", "failure")

    def __init__(self, directory: str, on_error: Callable[[str, OSError], None] | None) -> None:
        self._directory = directory
        self._on_error = on_error
        self.failure: OSError | None = None

    def relocate(self, directory: str) -> None:
        self._directory = directory

    def check(self) -> None:
        """KafkaError: KAFKA_STORAGE_ERROR if the log has ended."""
        if self.failure is not None:
            raise refusal(self.failure)

    def note(self, error: OSError) -> KafkaError:
        """Take note of a disk's error and report it. Returns what to raise."""
        if self.failure is None:
            if error.errno not in DISK_FULL:
                self.failure = error
            if self._on_error is not None:
                self._on_error(self._directory, error)
        return refusal(error)

    def end(self, error: OSError) -> None:
        """The directory is lost: refuse everything from now on."""
        self.failure = self.failure or error


def refusal(error: OSError | None) -> KafkaError:
    """The answer to whoever asked for what the disk refused."""
    return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
