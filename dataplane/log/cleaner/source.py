"""Reading closed segments for compaction: whole batches with good CRCs, bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataplane.log.reading.scan import BatchHead
from dataplane.wire.batch_layout import (
    BASE_OFFSET_AND_LENGTH,
    CHECKED_FROM,
    CODEC_MASK,
    HEADER,
    HEADER_BYTES,
    LENGTH_MIN,
    LOG_OVERHEAD_BYTES,
    MAGIC_V2,
)
from dataplane.wire.compression import decompress
from dataplane.wire.crc import crc32c

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.ports.filesystem import File

_unpack = HEADER.unpack_from


class UncleanableError(Exception):
    """The log cannot be compacted as it is; the message says where and why."""


class SourceSegment(NamedTuple):
    """A closed segment as it was when the round was planned."""

    base_offset: int
    path: str
    size: int
    created_ms: int


class Stored(NamedTuple):
    """One batch within a chunk that was read."""

    chunk: bytes
    at: int
    """Where the batch begins in the chunk."""
    head: BatchHead
    crc: int


def stored_batches(file: File, position: int, end: int, chunk_bytes: int) -> Iterator[Stored]:
    """Every batch from `position` to `end`; UncleanableError for anything that is not one."""
    while position < end:
        chunk = file.read_at(position, min(chunk_bytes, end - position))
        size, at = len(chunk), 0
        while at + HEADER_BYTES <= size:
            fields = _unpack(chunk, at)
            base, length, epoch, magic, crc, attributes, delta, _, max_ts, *rest = fields
            if length < LENGTH_MIN or magic != MAGIC_V2 or delta < 0 or base < 0:
                raise UncleanableError(f"{file.path}: no batch at byte {position + at}")
            batch_size = length + LOG_OVERHEAD_BYTES
            if at + batch_size > size:
                break
            if crc32c(memoryview(chunk)[at + CHECKED_FROM : at + batch_size]) != crc:
                raise UncleanableError(f"{file.path}: bad CRC-32C at byte {position + at}")
            last = base + delta
            yield Stored(
                chunk,
                at,
                BatchHead(position + at, batch_size, base, last, epoch, attributes, max_ts, *rest),
                crc,
            )
            at += batch_size
        if at == 0:
            wanted = LOG_OVERHEAD_BYTES
            if size >= wanted:
                wanted = BASE_OFFSET_AND_LENGTH.unpack_from(chunk)[1] + LOG_OVERHEAD_BYTES
            if wanted <= chunk_bytes or position + wanted > end:
                raise UncleanableError(f"{file.path}: a batch is cut off at byte {position}")
            chunk_bytes = wanted  # one batch larger than the buffer: grow to just hold it
        position += at


def body_of(stored: Stored) -> bytes:
    """The records of a batch, decompressed if need be. WireError."""
    chunk, at, head, _crc = stored
    begin, end = at + HEADER_BYTES, at + head.size
    if not head.attributes & CODEC_MASK:
        return chunk[begin:end]
    return decompress(head.attributes & CODEC_MASK, memoryview(chunk)[begin:end])
