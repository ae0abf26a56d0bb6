"""A broker's logs as pieces: files that are held open while they are read, so none is two files."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, Final

from dataplane.agent.pieces import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextlib.contextmanager
def opened(path: Path, *, old_files: int) -> Iterator[list[Piece]]:
    """Blocking. The newest first; what is not there, or is no plain file, is left out. OSError."""
    with contextlib.ExitStack() as stack:
        found: dict[str, Piece] = {}
        for number in range(old_files + 1):
            piece = _piece(path.with_name(f"{path.name}.{number}") if number else path, stack)
            # One that is renamed between two looks is met under both names.
            if piece is not None:
                found.setdefault(piece.id, piece)
        yield list(found.values())


def _piece(path: Path, stack: contextlib.ExitStack) -> Piece | None:
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    stack.callback(os.close, descriptor)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        return None
    return Piece(
        id=str(found.st_ino),
        size=found.st_size,
        written_at_ms=found.st_mtime_ns // 1_000_000,
        read=lambda offset, length: os.pread(descriptor, length, offset),
    )
