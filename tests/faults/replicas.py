"""Whether replicas hold the same bytes below the high watermark, straight from their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

HEAD_BYTES = 61
LAST_OFFSET_DELTA_AT = 23


def batches(directory: Path) -> Iterator[tuple[int, int, bytes]]:
    """(first offset, end offset, bytes) of every whole batch, in file order over all segments."""
    for path in sorted(directory.glob("*.log")):
        content = path.read_bytes()
        position = 0
        while position + HEAD_BYTES <= len(content):
            base = int.from_bytes(content[position : position + 8], "big")
            size = 12 + int.from_bytes(content[position + 8 : position + 12], "big")
            if position + size > len(content):
                break  # still being written
            at = position + LAST_OFFSET_DELTA_AT
            end = base + int.from_bytes(content[at : at + 4], "big") + 1
            yield base, end, content[position : position + size]
            position += size


def first_difference(directories: Sequence[Path], high_watermark: int) -> str | None:
    """Where the first replica that is not like the first one parts from it; None when none does.

    Segments may roll at other offsets, so contents are compared batch by batch.
    """
    whole = [
        {base: data for base, _, data in batches(directory) if base < high_watermark}
        for directory in directories
    ]
    for directory, mine in zip(directories[1:], whole[1:], strict=True):
        for offset in sorted(whole[0].keys() | mine.keys()):
            if whole[0].get(offset) != mine.get(offset):
                ours, theirs = len(whole[0].get(offset, b"")), len(mine.get(offset, b""))
                return (
                    f"batch at offset {offset}: {ours} bytes in {directories[0]}, "
                    f"{theirs} other bytes in {directory}"
                )
    return None


def end_offset(directory: Path) -> int:
    """Where the log in `directory` ends, by its files; 0 when it is empty."""
    return max((end for _, end, _ in batches(directory)), default=0)
