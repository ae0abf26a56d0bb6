"""Record batch v2: the header read and patched in place, and batches checked without decoding.

Layout (big endian, 61 bytes): base offset int64, length int32 (bytes after this field), partition
leader epoch int32, magic int8 = 2, CRC-32C uint32 of everything from the attributes on, attributes
int16, last offset delta int32, base and max timestamp int64, producer id int64, producer epoch
int16, base sequence int32, record count int32. Offset and leader epoch lie outside the CRC, so the
leader assigns both by patching 16 bytes.

Attributes: bits 0-2 codec, 3 log append time, 4 transactional, 5 control, 6 delete horizon set.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

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

BASE_OFFSET_AT = 0
LENGTH_AT = 8
LEADER_EPOCH_AT = 12
MAGIC_AT = 16
CRC_AT = 17
ATTRIBUTES_AT = 21
LAST_OFFSET_DELTA_AT = 23
BASE_TIMESTAMP_AT = 27
MAX_TIMESTAMP_AT = 35
PRODUCER_ID_AT = 43
PRODUCER_EPOCH_AT = 51
BASE_SEQUENCE_AT = 53
RECORD_COUNT_AT = 57
HEADER_BYTES = 61
LOG_OVERHEAD_BYTES = 12
"""Base offset and length: what `batch_length` does not count."""
MAGIC_V2 = 2

CODEC_MASK = 0x07
LOG_APPEND_TIME_FLAG = 0x08
TRANSACTIONAL_FLAG = 0x10
CONTROL_FLAG = 0x20
DELETE_HORIZON_FLAG = 0x40

_HEADER = struct.Struct(">qiibIhiqqqhii")
_OFFSET_AND_LENGTH = struct.Struct(">qi")
_OFFSET = struct.Struct(">q")
_EPOCH = struct.Struct(">i")
_CRC = struct.Struct(">I")
_ATTRIBUTES = struct.Struct(">h")


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
            return cls._make(_HEADER.unpack_from(buf, pos))
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
    def has_producer_id(self) -> bool:
        return self.producer_id >= 0

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
        if header.batch_length < HEADER_BYTES - LOG_OVERHEAD_BYTES:
            raise WireError(f"record batch claims a length of {header.batch_length}")
        end = pos + header.batch_length + LOG_OVERHEAD_BYTES
        if end > size:
            return
        yield pos, header
        pos = end


def next_batch_size(buf: memoryview | bytes | bytearray, pos: int) -> int:
    """Size of the batch that starts at `pos`, from its first 12 bytes. Raises WireError."""
    try:
        length: int = _OFFSET_AND_LENGTH.unpack_from(buf, pos)[1]
    except struct.error as error:
        raise WireError("record batch header is cut off") from error
    if length < HEADER_BYTES - LOG_OVERHEAD_BYTES:
        raise WireError(f"record batch claims a length of {length}")
    return length + LOG_OVERHEAD_BYTES


def validate_crc(
    buf: memoryview | bytes | bytearray, pos: int = 0, header: BatchHeader | None = None
) -> bool:
    """Whether the batch at `pos` is whole and its CRC-32C fits."""
    header = header if header is not None else BatchHeader.parse(buf, pos)
    end = pos + header.batch_length + LOG_OVERHEAD_BYTES
    if end > len(buf) or header.batch_length < HEADER_BYTES - LOG_OVERHEAD_BYTES:
        return False
    with memoryview(buf) as view, view[pos + ATTRIBUTES_AT : end] as covered:
        return bool(crc32c(covered) == header.crc)


def assign_offsets_in_place(
    buf: bytearray | memoryview, pos: int, base_offset: int, leader_epoch: int
) -> None:
    """Stamp the leader's offset and epoch into the batch at `pos`; the CRC does not cover them."""
    _OFFSET.pack_into(buf, pos, base_offset)
    _EPOCH.pack_into(buf, pos + LEADER_EPOCH_AT, leader_epoch)


def set_log_append_time(buf: bytearray | memoryview, pos: int, timestamp_ms: int) -> None:
    """Stamp the broker's time into the batch at `pos` (`message.timestamp.type=LogAppendTime`).

    All records of the batch then have this time. The CRC covers it and is computed anew.
    """
    (attributes,) = _ATTRIBUTES.unpack_from(buf, pos + ATTRIBUTES_AT)
    _ATTRIBUTES.pack_into(buf, pos + ATTRIBUTES_AT, attributes | LOG_APPEND_TIME_FLAG)
    _OFFSET.pack_into(buf, pos + MAX_TIMESTAMP_AT, timestamp_ms)
    end = pos + next_batch_size(buf, pos)
    with memoryview(buf) as view, view[pos + ATTRIBUTES_AT : end] as covered:
        _CRC.pack_into(buf, pos + CRC_AT, crc32c(covered))
