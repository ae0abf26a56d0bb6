"""Protobuf's wire format: the fields of some bytes, by number. Pure, and for bytes of strangers.

Nothing is decoded before its length is known to be there, groups nest up to `DEPTH_MAX`, and all
fields that are passed on the way are counted: two bytes may be one.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from controlplane.messages.decoding import Undecodable

DEPTH_MAX = 64
VARINT_BYTES_MAX = 10
FIELD_MAX = 2**29 - 1
MASK_64 = 2**64 - 1


class Wire(IntEnum):
    VARINT = 0
    FIXED64 = 1
    BYTES = 2
    GROUP = 3
    END_GROUP = 4
    FIXED32 = 5


@dataclass(slots=True)
class Budget:
    """Fields that may be passed yet, whatever they lie in."""

    left: int

    def take(self) -> None:
        """Raises Undecodable: there were too many."""
        self.left -= 1
        if self.left < 0:
            raise Undecodable("More values than are taken apart.")


Value = int | bytes
Field = tuple[int, Wire, Value]
"""Number, how it is written, and what: an integer without a sign, or bytes (of a group: within)."""


def varint(raw: bytes, at: int) -> tuple[int, int]:
    """An integer without a sign, of 64 bits, and where it ends. Raises Undecodable."""
    found = shift = 0
    for index in range(at, min(len(raw), at + VARINT_BYTES_MAX)):
        byte = raw[index]
        found |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return found & MASK_64, index + 1
        shift += 7
    raise Undecodable("The bytes end within a number of Protobuf's, or it is too long.")


def zigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


def fields(raw: bytes, budget: Budget) -> Iterator[Field]:
    """All of them, in their order. Raises Undecodable."""
    at = 0
    while at < len(raw):
        number, wire, value, at = _field(raw, at, 0, budget)
        if wire is Wire.END_GROUP:
            raise Undecodable("A group of Protobuf's ends that did not begin.")
        yield number, wire, value


def _field(raw: bytes, at: int, depth: int, budget: Budget) -> tuple[int, Wire, Value, int]:
    budget.take()
    tag, at = varint(raw, at)
    number = tag >> 3
    if not 0 < number <= FIELD_MAX:
        raise Undecodable("The bytes are none of Protobuf's: no field has such a number.")
    try:
        wire = Wire(tag & 7)
    except ValueError as error:
        raise Undecodable("The bytes are none of Protobuf's: no such wire type.") from error
    match wire:
        case Wire.VARINT:
            value, at = varint(raw, at)
            return number, wire, value, at
        case Wire.BYTES:
            length, at = varint(raw, at)
            return number, wire, *_taken(raw, at, length)
        case Wire.FIXED64:
            content, at = _taken(raw, at, 8)
            return number, wire, struct.unpack("<Q", content)[0], at
        case Wire.FIXED32:
            content, at = _taken(raw, at, 4)
            return number, wire, struct.unpack("<I", content)[0], at
        case Wire.GROUP:
            end = _group_end(raw, at, number, depth + 1, budget)
            return number, wire, raw[at : end[0]], end[1]
        case Wire.END_GROUP:
            return number, wire, b"", at


def _taken(raw: bytes, at: int, length: int) -> tuple[bytes, int]:
    if length > len(raw) - at:
        raise Undecodable("The bytes end before what the Protobuf field says.")
    return raw[at : at + length], at + length


def _group_end(raw: bytes, at: int, number: int, depth: int, budget: Budget) -> tuple[int, int]:
    """Where a group's fields end, and where its end does."""
    if depth > DEPTH_MAX:
        raise Undecodable("Nested too deep.")
    while at < len(raw):
        inner, wire, _, after = _field(raw, at, depth, budget)
        if wire is Wire.END_GROUP:
            if inner != number:
                raise Undecodable("A group of Protobuf's ends within another.")
            return at, after
        at = after
    raise Undecodable("A group of Protobuf's does not end.")
