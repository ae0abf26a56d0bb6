"""Record batch v2: the header read and patched in place, and batches checked without decoding.

The layout is in `batch_layout`. Offset and leader epoch lie outside the CRC, so the leader assigns
both by patching 16 bytes.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from dataplane.wire.batch_layout import (
    ATTRIBUTES,
    ATTRIBUTES_AT,
    BASE_OFFSET,
    BASE_OFFSET_AND_LENGTH,
    CHECKED_FROM,
    CODEC_MASK,
    CONTROL_FLAG,
    CRC,
    CRC_AT,
    HEADER,
    HEADER_BYTES,
    LEADER_EPOCH,
    LEADER_EPOCH_AT,
    LENGTH_MIN,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD_BYTES,
    MAGIC_V2,
    MAX_TIMESTAMP_AT,
    TIMESTAMP,
    TRANSACTIONAL_FLAG,
)
from dataplane.wire.crc import crc32c
from dataplane.wire.errors import WireError
from dataplane.wire.records import NewRecord, Record, build_batch, iter_records

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BatchHeader",
    "NewRecord",
    "Record",
    "assign_offsets_in_place",
    "build_batch",
    "iter_batches",
    "iter_records",
    "set_log_append_time",
    "validate_crc",
]


class BatchHeader(NamedTuple):
    """The fixed part of one batch."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @classmethod
    def parse(cls, buf: memoryview | bytes | bytearray, pos: int = 0) -> BatchHeader:
        """Read the header at `pos`; nothing but its presence is checked. Raises WireError."""
        try:
            return cls._make(HEADER.unpack_from(buf, pos))
        except struct.error as error:
            raise WireError("record batch header is cut off") from error

    @property
    def size_bytes(self) -> int:
        """Size of the whole batch, from its base offset on."""
        return self.batch_length + LOG_OVERHEAD_BYTES

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & LOG_APPEND_TIME_FLAG)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_FLAG)

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record, wrapping at 2^31; -1 without a producer id."""
        if self.base_sequence < 0:
            return -1
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF


def iter_batches(
    buf: memoryview | bytes | bytearray, pos: int = 0
) -> Iterator[tuple[int, BatchHeader]]:
    """Every whole batch of `buf` with its position; a trailing partial batch ends the iteration.

    Raises WireError when a batch claims an impossible length or another magic than 2.
    """
    size = len(buf)
    while pos + HEADER_BYTES <= size:
        header = BatchHeader.parse(buf, pos)
        if header.magic != MAGIC_V2:
            raise WireError(f"record batch has magic {header.magic}, not 2")
        if header.batch_length < LENGTH_MIN:
            raise WireError(f"record batch claims a length of {header.batch_length}")
        end = pos + header.batch_length + LOG_OVERHEAD_BYTES
        if end > size:
            return
        yield pos, header
        pos = end


def next_batch_size(buf: memoryview | bytes | bytearray, pos: int) -> int:
    """Size of the batch that starts at `pos`, from its first 12 bytes. Raises WireError."""
    try:
        length: int = BASE_OFFSET_AND_LENGTH.unpack_from(buf, pos)[1]
    except struct.error as error:
        raise WireError("record batch header is cut off") from error
    if length < LENGTH_MIN:
        raise WireError(f"record batch claims a length of {length}")
    return length + LOG_OVERHEAD_BYTES


def validate_crc(
    buf: memoryview | bytes | bytearray, pos: int = 0, header: BatchHeader | None = None
) -> bool:
    """Whether the batch at `pos` is whole and its CRC-32C fits."""
    header = header if header is not None else BatchHeader.parse(buf, pos)
    end = pos + header.batch_length + LOG_OVERHEAD_BYTES
    if end > len(buf) or header.batch_length < LENGTH_MIN:
        return False
    with memoryview(buf) as view, view[pos + CHECKED_FROM : end] as covered:
        return bool(crc32c(covered) == header.crc)


def assign_offsets_in_place(
    buf: bytearray | memoryview, pos: int, base_offset: int, leader_epoch: int
) -> None:
    """Stamp the leader's offset and epoch into the batch at `pos`; the CRC does not cover them."""
    BASE_OFFSET.pack_into(buf, pos, base_offset)
    LEADER_EPOCH.pack_into(buf, pos + LEADER_EPOCH_AT, leader_epoch)


def set_log_append_time(buf: bytearray | memoryview, pos: int, timestamp_ms: int) -> None:
    """Stamp the broker's time into the batch at `pos` (`message.timestamp.type=LogAppendTime`).

    All records of the batch then have this time. The CRC covers it and is computed again.
    """
    (attributes,) = ATTRIBUTES.unpack_from(buf, pos + ATTRIBUTES_AT)
    ATTRIBUTES.pack_into(buf, pos + ATTRIBUTES_AT, attributes | LOG_APPEND_TIME_FLAG)
    TIMESTAMP.pack_into(buf, pos + MAX_TIMESTAMP_AT, timestamp_ms)
    end = pos + next_batch_size(buf, pos)
    with memoryview(buf) as view, view[pos + CHECKED_FROM : end] as covered:
        CRC.pack_into(buf, pos + CRC_AT, crc32c(covered))
