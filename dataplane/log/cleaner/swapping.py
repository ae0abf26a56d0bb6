"""How a rewritten segment takes the place of those that it stands for, whatever crashes when.

`X.log.cleaned` is being written; `X.log.swap` is complete and durable and replaces every segment
that begins within its offsets; then it becomes `X.log`. The `.log` is always renamed last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.reading.scan import heads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.ports.filesystem import FileSystem

_HOP_BYTES = 4096


def publish(fs: FileSystem, stem: str, old_state: str, new_state: str) -> None:
    """Rename a segment's files from one state to the next, the `.log` last."""
    for suffix in (*paths.SEGMENT_SUFFIXES[1:], paths.LOG):
        if fs.exists(stem + suffix + old_state):
            fs.rename(stem + suffix + old_state, stem + suffix + new_state)


def finish_swaps(fs: FileSystem, directory: str, names: Iterable[str]) -> None:
    """Complete the swaps that a crash interrupted. Doing it again after a crash is harmless."""
    found = sorted(names)
    for name in found:
        base = paths.parse_base_offset(name, paths.LOG + paths.SWAP)
        if base is None:
            continue
        end = _end_of(fs, f"{directory}/{name}", base)
        for other in found:
            replaced = paths.parse_base_offset(other, paths.LOG)
            if replaced is not None and base <= replaced < max(end, base + 1):
                _remove_segment(fs, directory, replaced, keeps_snapshot=replaced == base)
        publish(fs, paths.segment_path(directory, base, ""), paths.SWAP, "")


def _end_of(fs: FileSystem, path: str, base: int) -> int:
    file = fs.open(path)
    try:
        end = base
        for head in heads(file, 0, file.size(), chunk_bytes=_HOP_BYTES):
            end = head.last_offset + 1
    finally:
        file.close()
    return end


def _remove_segment(fs: FileSystem, directory: str, base: int, *, keeps_snapshot: bool) -> None:
    for suffix in reversed(paths.SEGMENT_SUFFIXES):
        fs.remove(paths.segment_path(directory, base, suffix))
    if not keeps_snapshot:
        fs.remove(paths.segment_path(directory, base, paths.SNAPSHOT))
