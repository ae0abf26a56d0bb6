"""Walking over the batches of a segment file by their heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataplane.wire.batch_layout import (
    BASE_OFFSET_AND_LENGTH,
    CHECKED_FROM,
    HEADER,
    HEADER_BYTES,
    LENGTH_MIN,
    LOG_OVERHEAD_BYTES,
    MAGIC_V2,
    SPAN,
    SPAN_AND_MAGIC,
)
from dataplane.wire.crc import crc32c

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.ports.filesystem import File

_CHUNK_BYTES = 256 * 1024
_HOP_CHUNK_BYTES = 8 * 1024
_HOPS_MAX = 32


class BatchHead(NamedTuple):
    """One batch as it lies in a segment file."""

    position: int
    size: int
    base_offset: int
    last_offset: int
    leader_epoch: int
    attributes: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int


def heads(
    file: File, position: int, end: int, *, check_crc: bool = False, chunk_bytes: int = _CHUNK_BYTES
) -> Iterator[BatchHead]:
    """Batches from `position` to `end`; stops before the first that is cut, damaged or foreign.

    The caller sees where it stopped: position + size of the last one. Memory is bounded by the
    larger of the chunk and the largest batch.
    """
    chunk = memoryview(b"")
    chunk_start = position
    while position + HEADER_BYTES <= end:
        at = position - chunk_start
        if at + HEADER_BYTES > len(chunk):
            chunk = memoryview(file.read_at(position, min(chunk_bytes, end - position)))
            chunk_start, at = position, 0
            if len(chunk) < HEADER_BYTES:
                return
        base, length, epoch, magic, crc, attributes, delta, _, max_ts, pid, pepoch, seq, count = (
            HEADER.unpack_from(chunk, at)
        )
        size = length + LOG_OVERHEAD_BYTES
        if (
            length < LENGTH_MIN
            or position + size > end
            or magic != MAGIC_V2
            or delta < 0
            or base < 0
        ):
            return
        if check_crc:
            if at + size > len(chunk):
                chunk = memoryview(
                    file.read_at(position, max(size, min(chunk_bytes, end - position)))
                )
                chunk_start, at = position, 0
                if len(chunk) < size:
                    return
            if crc32c(chunk[at + CHECKED_FROM : at + size]) != crc:
                return
        yield BatchHead(
            position, size, base, base + delta, epoch, attributes, max_ts, pid, pepoch, seq, count
        )
        position += size


def find_offset(file: File, position: int, end: int, offset: int) -> BatchHead | None:
    """The first batch from `position` on whose last offset is `offset` or later."""
    for head in heads(file, position, end, chunk_bytes=_HOP_CHUNK_BYTES):
        if head.last_offset >= offset:
            return head
    return None


def last_boundary(file: File, position: int, limit: int) -> int:
    """The last batch boundary at or before `limit`, walking from the boundary `position`.

    A bounded number of small reads: far from `limit` the answer may be an earlier boundary.
    """
    for _ in range(_HOPS_MAX):
        if position == limit:
            break
        chunk = file.read_at(position, min(limit - position, _HOP_CHUNK_BYTES))
        at = 0
        while at + LOG_OVERHEAD_BYTES <= len(chunk):
            length = BASE_OFFSET_AND_LENGTH.unpack_from(chunk, at)[1]
            following = at + length + LOG_OVERHEAD_BYTES
            if length < LENGTH_MIN or position + following > limit:
                return position + at
            at = following
        position += at
        if not at:
            break
    return position


def whole_batches(data: memoryview, most: int) -> tuple[int, int]:
    """How many bytes of `data`, which begins with a batch, are whole batches, and the last offset.

    (0, -1) if none is whole, or after `most` batches: somebody else finds the way faster then.
    """
    end, last_offset, size = 0, -1, len(data)
    for _ in range(most):
        if end + SPAN.size > size:
            return end, last_offset
        base, length, delta = SPAN.unpack_from(data, end)
        following = end + length + LOG_OVERHEAD_BYTES
        if length < LENGTH_MIN or following > size:
            return end, last_offset
        end, last_offset = following, base + delta
    return 0, -1


def probe(file: File, position: int, end: int) -> int:
    """Base offset of the batch that begins at `position` and ends by `end`; -1 if none does.

    For positions of uncertain origin: one small read, the checksum is not looked at.
    """
    raw = file.read_at(position, SPAN_AND_MAGIC.size)
    if len(raw) < SPAN_AND_MAGIC.size:
        return -1
    base, length, magic, delta = SPAN_AND_MAGIC.unpack(raw)
    is_batch = (
        base >= 0
        and delta >= 0
        and magic == MAGIC_V2
        and length >= LENGTH_MIN
        and position + length + LOG_OVERHEAD_BYTES <= end
    )
    return base if is_batch else -1


def batch_size_at(file: File, position: int) -> int:
    """Size in bytes of the batch that begins at `position`."""
    raw = file.read_at(position, LOG_OVERHEAD_BYTES)
    length: int = BASE_OFFSET_AND_LENGTH.unpack(raw)[1]
    return length + LOG_OVERHEAD_BYTES


def base_offset_at(file: File, position: int) -> int:
    """Base offset of the batch that begins at `position`."""
    offset: int = BASE_OFFSET_AND_LENGTH.unpack(file.read_at(position, LOG_OVERHEAD_BYTES))[0]
    return offset
