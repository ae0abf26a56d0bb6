"""A small disk of its own for one broker, that the test can fill up and free again."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
from collections.abc import Iterator

LEFT_BYTES = 64 * 1024
"""What a full disk still holds: less than a few seconds of traffic."""
BALLAST = "ballast"


class NoMountError(Exception):
    """This machine does not let us mount; the message says what was tried."""


class SmallDisk:
    """A tmpfs with a size."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    def free_bytes(self) -> int:
        volume = os.statvfs(self.path)
        return volume.f_bavail * volume.f_frsize

    def size_bytes(self) -> int:
        volume = os.statvfs(self.path)
        return volume.f_blocks * volume.f_frsize

    def fill(self, but_bytes: int = LEFT_BYTES) -> None:
        """Take all space but that."""
        with (self.path / BALLAST).open("ab") as ballast:
            while (left := self.free_bytes() - but_bytes) > 0:
                ballast.write(bytes(min(left, 1 << 20)))
                ballast.flush()

    def free(self) -> None:
        (self.path / BALLAST).unlink(missing_ok=True)


@contextlib.contextmanager
def small_disk(path: pathlib.Path, size_mib: int) -> Iterator[SmallDisk]:
    """Mounted at `path` for as long as the block lasts. NoMountError."""
    path.mkdir(parents=True, exist_ok=True)
    _run("mount", "-t", "tmpfs", "-o", f"size={size_mib}m", "penstock-small", str(path))
    try:
        yield SmallDisk(path)
    finally:
        _run("umount", "--lazy", str(path))


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NoMountError(f"`{command[0]}` is not installed") from error
    if done.returncode:
        raise NoMountError(f"{' '.join(command)}: {done.stderr.strip()}")
