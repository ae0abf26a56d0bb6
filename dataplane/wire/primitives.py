"""The pieces that compiled readers and writers call: varints, tag sections, checked lengths."""

from __future__ import annotations

import struct as _struct

from dataplane.wire.errors import WireError


def read_uvarint(buf: memoryview, pos: int) -> tuple[int, int]:
    """An unsigned varint of at most 32 bits; IndexError at the end of the buffer."""
    byte = buf[pos]
    pos += 1
    if byte < 0x80:
        return byte, pos
    value = byte & 0x7F
    shift = 7
    while True:
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise WireError("varint longer than 5 bytes")
    if value > 0xFFFFFFFF:
        raise WireError("varint above 32 bits")
    return value, pos


def write_uvarint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)


def read_varlong(buf: memoryview | bytes, pos: int) -> tuple[int, int]:
    """A zigzag varint of at most 64 bits, as used inside records."""
    byte = buf[pos]
    pos += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), pos
    value = byte & 0x7F
    shift = 7
    while True:
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            raise WireError("varint longer than 10 bytes")
    if value > 0xFFFFFFFFFFFFFFFF:
        raise WireError("varint above 64 bits")
    return (value >> 1) ^ -(value & 1), pos


def write_varlong(out: bytearray, value: int) -> None:
    zigzag = (value << 1) ^ (value >> 63)
    while zigzag > 0x7F:
        out.append((zigzag & 0x7F) | 0x80)
        zigzag >>= 7
    out.append(zigzag)


def too_long(what: str, size: int) -> WireError:
    return WireError(f"{what} claims {size} more than the buffer holds")


def skip_tags(buf: memoryview, pos: int, size: int) -> int:
    """Skip a tag section whose fields nobody here knows."""
    count, pos = read_uvarint(buf, pos)
    for _ in range(count):
        _tag, pos = read_uvarint(buf, pos)
        length, pos = read_uvarint(buf, pos)
        pos += length
        if pos > size:
            raise too_long("tagged field", length)
    return pos


def read_fixed_array(
    buf: memoryview, pos: int, count: int, code: str, width: int
) -> tuple[list[int], int]:
    """`count` numbers of struct `code`, each `width` bytes."""
    end = pos + count * width
    if end > len(buf):
        raise too_long("array", count)
    return list(_struct.unpack_from(f">{count}{code}", buf, pos)), end
