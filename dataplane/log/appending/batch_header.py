"""The fixed head of a record batch (magic 2), unpacked in one call.

`log` needs every field of the head of every batch and nothing behind it, so it works on plain
tuples and never builds objects on the way.
"""

from __future__ import annotations

import struct

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE_BYTES = HEADER.size
LOG_OVERHEAD_BYTES = 12
"""Base offset and length, which the length field does not count."""
LENGTH_MIN = HEADER_SIZE_BYTES - LOG_OVERHEAD_BYTES
MAGIC = 2

CRC_POSITION = 17
CHECKED_POSITION = 21
"""The CRC covers everything from here: base offset and leader epoch may change freely."""
ATTRIBUTES_POSITION = 21
MAX_TIMESTAMP_POSITION = 35

BASE_AND_LENGTH = struct.Struct(">qi")
LENGTH_AND_EPOCH = struct.Struct(">ii")
CRC = struct.Struct(">I")
ATTRIBUTES = struct.Struct(">h")
TIMESTAMP = struct.Struct(">q")

CODEC_MASK = 0x07
LOG_APPEND_TIME_FLAG = 0x08
TRANSACTIONAL_FLAG = 0x10
CONTROL_FLAG = 0x20

NO_TIMESTAMP = -1
NO_EPOCH = -1
NO_SEQUENCE = -1

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
