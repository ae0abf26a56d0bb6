"""The files of one partition in a broker's log directory; none of them is opened."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, Any

from dataplane.agent.questions import QuestionError, SegmentsQuery
from dataplane.agent.segments import FileFacts, holds, read_segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def read(
    log_dir: Path, query: SegmentsQuery, further: Mapping[str, Path] | None = None
) -> dict[str, Any]:
    """Blocking. {directories: [{directory, role, …}]}: the partition's, and one it moves to.

    `further` are the broker's log directories on other disks, by name: those that can be read.

    Raises:
        QuestionError: the broker holds no such partition.
        OSError: the first directory cannot be read.
    """
    try:
        found = [(log_dir.name, *each) for each in sorted(_directories(log_dir, query))]
    except FileNotFoundError as error:
        raise QuestionError("the broker has no log directory on this host") from error
    for name, other in (further or {}).items():
        with contextlib.suppress(OSError):
            found += [(name, *each) for each in sorted(_directories(other, query))]
    if not found:
        raise QuestionError("the broker holds no replica of this partition")
    return {
        "directories": [
            {"directory": name, "role": role, **read_segments(_files(path), query)}
            for name, role, path in sorted(found, key=lambda each: each[1])
        ]
    }


def _directories(log_dir: Path, query: SegmentsQuery) -> Iterator[tuple[str, str]]:
    with os.scandir(log_dir) as entries:
        for entry in entries:
            role = holds(entry.name, query)
            if role is not None and entry.is_dir(follow_symlinks=False):
                yield role, entry.path


def _files(path: str) -> Iterator[FileFacts]:
    with os.scandir(path) as entries:
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # deleted by retention meanwhile
            if stat.S_ISREG(found.st_mode):
                yield FileFacts(entry.name, found.st_size, found.st_mtime_ns // 1_000_000)
