"""Layout of a record batch's header (magic 2), declared once: offsets and structs follow from it.

Attributes: bits 0-2 codec, 3 log append time, 4 transactional, 5 control, 6 delete horizon set.
"""

from __future__ import annotations

import struct
from typing import Final

# In their order, big endian. The length counts the bytes after it. The CRC-32C covers everything
# from the attributes on: base offset and leader epoch may be patched freely.
_FIELDS: Final = {
    "base_offset": "q",
    "length": "i",
    "leader_epoch": "i",
    "magic": "b",
    "crc": "I",
    "attributes": "h",
    "last_offset_delta": "i",
    "base_timestamp": "q",
    "max_timestamp": "q",
    "producer_id": "q",
    "producer_epoch": "h",
    "base_sequence": "i",
    "record_count": "i",
}
_CODES: Final = list(_FIELDS.values())
_NAMES: Final = list(_FIELDS)


def _position(name: str) -> int:
    """Where a field begins, in bytes from the batch's beginning."""
    return struct.calcsize(">" + "".join(_CODES[: _NAMES.index(name)]))


def _struct(*names: str) -> struct.Struct:
    """From the first of these fields to the end of the last; those between are skipped."""
    first, last = _NAMES.index(names[0]), _NAMES.index(names[-1])
    codes = [
        code if name in names else f"{struct.calcsize('>' + code)}x"
        for name, code in zip(_NAMES[first : last + 1], _CODES[first : last + 1], strict=True)
    ]
    return struct.Struct(">" + "".join(codes))


HEADER: Final = _struct(*_NAMES)
HEADER_BYTES: Final = HEADER.size
LOG_OVERHEAD_BYTES: Final = _struct("base_offset", "length").size
"""Base offset and length, which the length field does not count."""
LENGTH_MIN: Final = HEADER_BYTES - LOG_OVERHEAD_BYTES
MAGIC_V2: Final = 2

LEADER_EPOCH_AT: Final = _position("leader_epoch")
MAGIC_AT: Final = _position("magic")
CRC_AT: Final = _position("crc")
ATTRIBUTES_AT: Final = _position("attributes")
CHECKED_FROM: Final = ATTRIBUTES_AT
"""The CRC covers everything from here."""
BASE_TIMESTAMP_AT: Final = _position("base_timestamp")
MAX_TIMESTAMP_AT: Final = _position("max_timestamp")

BASE_OFFSET: Final = _struct("base_offset")
BASE_OFFSET_AND_LENGTH: Final = _struct("base_offset", "length")
LEADER_EPOCH: Final = _struct("leader_epoch")
CRC: Final = _struct("crc")
ATTRIBUTES: Final = _struct("attributes")
TIMESTAMP: Final = _struct("max_timestamp")
ASSIGNED_BY_LEADER: Final = _struct("base_offset", "length", "leader_epoch")
"""What a leader stamps in; with the length, so that it is one write."""
SPAN: Final = _struct("base_offset", "length", "last_offset_delta")
"""How long a batch is, in bytes and in offsets."""
SPAN_AND_MAGIC: Final = _struct("base_offset", "length", "magic", "last_offset_delta")

CODEC_MASK: Final = 0x07
LOG_APPEND_TIME_FLAG: Final = 0x08
TRANSACTIONAL_FLAG: Final = 0x10
CONTROL_FLAG: Final = 0x20
DELETE_HORIZON_FLAG: Final = 0x40

NO_TIMESTAMP: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
