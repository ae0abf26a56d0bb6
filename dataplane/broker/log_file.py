"""A process's own log file, kept small by the process itself while it runs.

Whoever starts a process with its output in a file names the file in `LOG_FILE`. Only the process
can put a full file aside and lose no line: it renames the file, opens a new one and puts that in
the place of its standard output and error. Nobody else's help is needed, so it goes on when the
supervisor has died.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Final

LOG_FILE: Final = "PENSTOCK_LOG_FILE"
"""Environment variable: the file that standard output and error go to. Unset: not a file."""
LOG_BYTES_MAX: Final = 16 << 20
"""Of the file, and of the one before it, give or take a line."""

_STDOUT, _STDERR = 1, 2


def set_aside(log_file: Path) -> Path:
    """Where a full log file goes; the one that was there before is overwritten."""
    return log_file.with_name(f"{log_file.name}.1")


class OwnLog(logging.StreamHandler):  # type: ignore[type-arg]  # generic in the stubs alone
    """Logs to standard error, and begins the file behind it anew when it is full."""

    def __init__(self, log_file: Path | None, *, bytes_max: int = LOG_BYTES_MAX) -> None:
        super().__init__(sys.stderr)
        self._log_file = log_file
        self._bytes_max = bytes_max
        self._full_at_bytes = bytes_max

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        if self._log_file is None:
            return
        try:
            size_bytes = os.fstat(_STDERR).st_size
            if size_bytes > self._full_at_bytes:
                # Where this fails it is tried again, but not at every line.
                self._full_at_bytes = size_bytes + self._bytes_max
                self._begin_anew(self._log_file)
                self._full_at_bytes = self._bytes_max
        except OSError:
            self.handleError(record)

    @staticmethod
    def _begin_anew(log_file: Path) -> None:
        full = os.fstat(_STDERR)
        if log_file.exists():
            if not os.path.samestat(full, log_file.stat()):
                return  # our output goes somewhere else, which is not ours to move
            log_file.replace(set_aside(log_file))
        opened = os.open(log_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            if os.path.samestat(full, os.fstat(_STDOUT)):
                os.dup2(opened, _STDOUT)
            os.dup2(opened, _STDERR)
        finally:
            os.close(opened)


def from_environment() -> OwnLog:
    """The handler for what this process was started with."""
    named = os.environ.get(LOG_FILE)
    return OwnLog(Path(named) if named else None)
