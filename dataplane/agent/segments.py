"""The segments of one partition, of the names and sizes in its directory. Pure.

A directory is found by looking at what there is and comparing names: nothing that was asked for
becomes part of a path.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.agent.questions import SegmentsQuery

_SEGMENT: Final = re.compile(r"([0-9]{20})\.log")
_FUTURE: Final = re.compile(r"\.[0-9a-f]{32}-future")


class FileFacts(NamedTuple):
    """A plain file in a directory."""

    name: str
    size: int
    modified_ms: int


def holds(directory: str, query: SegmentsQuery) -> str | None:
    """Whether a directory of this name holds the partition: `current`, `future`, or not (None)."""
    name = f"{query.topic}-{query.partition}"
    if directory == name:
        return "current"
    is_future = directory.startswith(name) and _FUTURE.fullmatch(directory[len(name) :])
    return "future" if is_future else None


def read_segments(files: Iterable[FileFacts], query: SegmentsQuery) -> dict[str, Any]:
    """{segments, total, total_bytes, other_bytes, next} of one directory, the newest first.

    A segment is {base_offset, size_bytes, modified_ms}, its size that of its records alone;
    `other_bytes` are the indexes and whatever else is there. `next` is the base offset that
    `before` takes for those before, None where there are none.
    """
    found: list[tuple[int, int, int]] = []
    other_bytes = 0
    for name, size, modified_ms in files:
        segment = _SEGMENT.fullmatch(name)
        if segment is None:
            other_bytes += size
        else:
            found.append((int(segment[1]), size, modified_ms))
    found.sort(reverse=True)
    before = query.before
    wanted = [row for row in found if before is None or row[0] < before]
    shown = wanted[: query.segments]
    return {
        "segments": [
            {"base_offset": base, "size_bytes": size, "modified_ms": modified_ms}
            for base, size, modified_ms in shown
        ],
        "total": len(found),
        "total_bytes": sum(size for _, size, _ in found),
        "other_bytes": other_bytes,
        "next": shown[-1][0] if len(wanted) > len(shown) else None,
    }
