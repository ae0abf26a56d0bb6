"""What appends and reads answer with."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dataplane.log.reading.read_memory import Held
    from dataplane.ports.filesystem import Buffer, File


class AppendInfo(NamedTuple):
    """Outcome of an append. Offsets are inclusive; times in milliseconds, -1 for CreateTime."""

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    log_start_offset: int
    duplicate: bool
    max_timestamp_ms: int
    records: int


class _NoFile:
    """What an empty slice lies in: asking an idle partition for news opens nothing."""

    __slots__ = ()
    path = ""

    def fileno(self) -> int:
        return -1

    def size(self) -> int:
        return 0

    def append(self, *parts: Buffer) -> None:  # noqa: ARG002  # the port's signature
        raise OSError(errno.EBADF, "there is no file")

    def read_at(self, position: int, size: int) -> bytes:  # noqa: ARG002  # the port's signature
        return b""

    def read_into(
        self,
        position: int,  # noqa: ARG002  # the port's signature
        buffer: bytearray | memoryview,  # noqa: ARG002  # the port's signature
    ) -> int:
        return 0

    def reserve(self, size: int) -> None:
        """There is nothing to reserve for."""

    def truncate(self, size: int) -> None:  # noqa: ARG002  # the port's signature
        raise OSError(errno.EBADF, "there is no file")

    def sync(self) -> None:
        """There is nothing to sync."""

    def close(self) -> None:
        """There is nothing to close."""


NO_FILE: File = _NoFile()


class LogSlice(NamedTuple):
    """Whole batches lying in one file, most often not read yet.

    `base_offset` is the offset that was asked for: the first batch may begin before it. The file
    stays open for at least `file.delete.delay.ms` after its segment is deleted; a truncation may
    make a later read shorter than `size`.
    """

    file: File
    position: int
    size: int
    base_offset: int
    held: Held | None = None
    """The bytes, if they were read already and the memory has not been used again."""

    def read(self) -> bytes:
        return self.file.read_at(self.position, self.size) if self.size else b""

    def read_into(self, buffer: bytearray | memoryview) -> int:
        """Read into the front of `buffer`, which must hold `size` bytes."""
        return self.file.read_into(self.position, memoryview(buffer)[: self.size])
