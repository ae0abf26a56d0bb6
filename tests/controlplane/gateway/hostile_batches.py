"""Batches of records as a hostile producer or broker may make them, in Kafka's own bytes."""

import gzip
import struct
import zlib

from crc32c import crc32c

ATTRIBUTES_GZIP = 1
TRANSACTIONAL, CONTROL = 0x10, 0x20


def varint(value):
    value = (value << 1) ^ (value >> 63)
    found = bytearray()
    while value > 0x7F:
        found.append(0x80 | (value & 0x7F))
        value >>= 7
    found.append(value)
    return bytes(found)


def field(value):
    return varint(-1) if value is None else varint(len(value)) + value


def record(delta, *, key=None, value=None, headers=b"", count=0, length=None):
    """`headers`: their bytes; `count`: how many the record says that it has."""
    body = b"\0" + varint(0) + varint(delta) + field(key) + field(value) + varint(count) + headers
    return varint(len(body) if length is None else length) + body


def batch(records, *, count, base=0, last=None, is_packed=True, attributes=0):
    """A batch of format 2 with the right checksum; `records`: their bytes, as `record` made them."""
    body = gzip.compress(records, 1) if is_packed else records
    kind = attributes | (ATTRIBUTES_GZIP if is_packed else 0)
    tail = struct.pack(
        ">hiqqqhii", kind, count - 1 if last is None else last, 0, 0, -1, -1, -1, count
    )
    checked = tail + body
    head = struct.pack(">ibI", 0, 2, crc32c(checked))
    return struct.pack(">qi", base, len(head) + len(checked)) + head + checked


def legacy_set(messages, *, base=0):
    """A message of format 1 that holds others, packed; `messages`: their bytes."""
    packed = gzip.compress(messages, 1)
    tail = struct.pack(">bbqii", 1, ATTRIBUTES_GZIP, 0, -1, len(packed)) + packed
    body = struct.pack(">I", _crc(tail)) + tail
    return struct.pack(">qi", base, len(body)) + body


def legacy_message(offset, *, length=None):
    tail = struct.pack(">bbqii", 1, 0, 0, -1, -1)
    body = struct.pack(">I", _crc(tail)) + tail
    return struct.pack(">qi", offset, len(body) if length is None else length) + body


def _crc(data):
    return zlib.crc32(data) & 0xFFFFFFFF
