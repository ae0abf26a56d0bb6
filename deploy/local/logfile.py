"""A part's log file of bounded size, while the part writes to it and across its restarts.

The part appends to the file by itself, so it goes on writing when the launcher is gone. That is why
a full file is not renamed: its last bytes are copied to `NAME.log.1` (the one before becomes
`NAME.log.2`) and the file is cut to nothing, where an appending writer goes on. Lines that are
written between copy and cut are lost; there are few, and a log that fills the disk loses more.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

LOG_BYTES_MAX = 16 * 1024 * 1024
OLD_FILES = 2


class LogFile:
    """At most `bytes_max` in each of `OLD_FILES` old files; `bound` keeps the file itself small."""

    def __init__(self, path: Path, *, bytes_max: int = LOG_BYTES_MAX) -> None:
        self.path = path
        self._bytes_max = bytes_max

    def old(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def bound(self) -> bool:
        """Put the content aside when it is more than `bytes_max`; says whether it was.

        Call it often: between two calls the file may grow past its bound.

        Raises:
            OSError: the directory cannot be written.
        """
        try:
            size_bytes = self.path.stat().st_size
        except FileNotFoundError:
            return False
        if size_bytes <= self._bytes_max:
            return False
        for number in range(OLD_FILES, 1, -1):
            if self.old(number - 1).exists():
                self.old(number - 1).replace(self.old(number))
        with self.path.open("rb") as full, self.old(1).open("wb") as copy:
            full.seek(size_bytes - self._bytes_max)
            shutil.copyfileobj(full, copy)
            copy.truncate(self._bytes_max)
        os.truncate(self.path, 0)
        return True

    def tail(self, lines: int, *, bytes_max: int = 16_384) -> str:
        """The last lines, from the file before when this one has just begun anew."""
        text = self._end_of(self.path, bytes_max)
        if len(text.splitlines()) < lines:
            text = self._end_of(self.old(1), bytes_max) + text
        return "\n".join(text.splitlines()[-lines:])

    @staticmethod
    def _end_of(path: Path, bytes_max: int) -> str:
        try:
            with path.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - bytes_max))
                return log.read().decode(errors="replace")
        except OSError:
            return ""
