"""Who holds a host's data directory: one agent, or whoever stops the host."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILE = ".lock"


class HostLock:
    """A lock of the kernel's on a file that says whose it is."""

    def __init__(self, data_dir: Path) -> None:
        # Not "w": that would wipe out what the holder has written.
        self._file = (data_dir / FILE).open("a+")

    def take(self) -> bool:
        """False while another process holds it."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def sign(self) -> None:
        """For the holder: write its pid down."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(str(os.getpid()))
        self._file.flush()

    def holder(self) -> int | None:
        """The pid that the last holder wrote; it may be gone."""
        self._file.seek(0)
        said = self._file.read(20).strip()
        return int(said) if said.isdigit() else None

    def close(self) -> None:
        """What was taken is given back."""
        self._file.close()
