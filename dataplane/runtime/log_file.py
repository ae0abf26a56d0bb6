"""Log files of bounded size: a process's own, and those of programs that others wrote.

Whoever starts a process of ours with its output in a file names the file in `LOG_FILE`. Only the
process can put a full file aside and lose no line: it renames the file, opens a new one and puts
that in the place of its standard output and error (`OwnLog`). Nobody else's help is needed, so it
goes on when the supervisor has died.

A program of others appends to its file by itself and would go on in a renamed one. Its full file
is copied instead and truncated to 0, where an appending writer goes on (`LogFile.copy`). Lines
written between copy and truncation are lost; there are few, and a log that fills the disk loses
more.
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
"""Of the file, and of each one before it, give or take a line."""

_STDOUT, _STDERR = 1, 2


class LogFile:
    """A file that somebody appends to, and up to `old_files` before it: `NAME.1` is the latest."""

    def __init__(self, path: Path, *, bytes_max: int = LOG_BYTES_MAX, old_files: int = 1) -> None:
        self.path = path
        self.bytes_max = bytes_max
        self._old_files = old_files

    def old(self, number: int = 1) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def rename(self) -> bool:
        """Rename the file when it is full, for who opens it again next; says whether it was.

        Raises:
            OSError: the directory cannot be written.
        """
        if self._excess_bytes() <= 0:
            return False
        self.put_aside()
        return True

    def copy(self) -> bool:
        """Copy the end of the file when it is full, and empty it; says whether it was.

        Call it often: between two calls the file may grow past its bound.

        Raises:
            OSError: the directory cannot be written.
        """
        excess_bytes = self._excess_bytes()
        if excess_bytes <= 0:
            return False
        import shutil

        self._make_way()
        with self.path.open("rb") as full, self.old().open("wb") as copy:
            full.seek(excess_bytes)
            shutil.copyfileobj(full, copy)
            copy.truncate(self.bytes_max)
        os.truncate(self.path, 0)
        return True

    def put_aside(self) -> None:
        """Rename the file, full or not; the oldest one is overwritten. `OSError`."""
        self._make_way()
        self.path.replace(self.old())

    def tail(self, lines: int = 20, *, bytes_max: int = 16_384) -> list[str]:
        """The last lines, from the file before when this one has only just been started."""
        found = _end_of(self.path, bytes_max)
        if len(found) < lines:
            found = _end_of(self.old(), bytes_max) + found
        return found[-lines:]

    def _excess_bytes(self) -> int:
        try:
            return self.path.stat().st_size - self.bytes_max
        except FileNotFoundError:
            return 0

    def _make_way(self) -> None:
        for number in range(self._old_files, 1, -1):
            if self.old(number - 1).exists():
                self.old(number - 1).replace(self.old(number))


def _end_of(path: Path, bytes_max: int) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - bytes_max))
            return file.read().decode(errors="replace").splitlines()
    except OSError:
        return []


class OwnLog(logging.StreamHandler):  # type: ignore[type-arg]  # generic in the stubs alone
    """Logs to standard error, and starts the file behind it again when it is full."""

    def __init__(self, log_file: LogFile | None) -> None:
        super().__init__(sys.stderr)
        self._log_file = log_file
        self._full_at_bytes = log_file.bytes_max if log_file else 0

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        log_file = self._log_file
        if log_file is None:
            return
        try:
            size_bytes = os.fstat(_STDERR).st_size
            if size_bytes > self._full_at_bytes:
                # Where this fails it is tried again, but not at every line.
                self._full_at_bytes = size_bytes + log_file.bytes_max
                _start_again(log_file)
                self._full_at_bytes = log_file.bytes_max
        except OSError:
            self.handleError(record)


class AppendedLog(logging.FileHandler):
    """Logs to a file of its own, nothing but the messages, and starts it again when it is full."""

    def __init__(self, log_file: LogFile) -> None:
        """OSError: the file cannot be written."""
        super().__init__(log_file.path, encoding="utf-8")
        self.setFormatter(logging.Formatter("%(message)s"))
        self._log_file = log_file
        self.failures = 0
        """Lines that could not be written, and full files that could not be put aside."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        self.failures += 1
        super().handleError(record)

    def emit(self, record: logging.LogRecord) -> None:
        failures = self.failures
        super().emit(record)
        if self.failures > failures:
            return  # to ask how full the file is would only fail once more
        try:
            if self.stream is not None and self.stream.tell() > self._log_file.bytes_max:
                self.close()
                self._log_file.put_aside()  # the next line opens the file
        except OSError:
            self.handleError(record)


def beside_own_log(name: str) -> Path | None:
    """Where a further log of this process goes: `broker.log` has `broker.audit.log` beside it."""
    named = os.environ.get(LOG_FILE)
    return Path(named).with_suffix(f".{name}.log") if named else None


def _start_again(log_file: LogFile) -> None:
    full = os.fstat(_STDERR)
    if log_file.path.exists():
        if not os.path.samestat(full, log_file.path.stat()):
            return  # our output goes somewhere else, which is not ours to move
        log_file.put_aside()
    opened = os.open(log_file.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        if os.path.samestat(full, os.fstat(_STDOUT)):
            os.dup2(opened, _STDOUT)
        os.dup2(opened, _STDERR)
    finally:
        os.close(opened)


def from_environment(*, bytes_max: int = LOG_BYTES_MAX) -> OwnLog:
    """The handler for what this process was started with."""
    named = os.environ.get(LOG_FILE)
    return OwnLog(LogFile(Path(named), bytes_max=bytes_max) if named else None)
