"""The checksum in the head of lz4 frames, which clients of message format 0 compute wrongly.

They take it over the frame's magic number as well (KIP-57). Format 1 and later have it right.
"""

from __future__ import annotations

from dataplane.wire.errors import WireError

_MAGIC = b"\x04\x22\x4d\x18"
_FLAGS_AT = len(_MAGIC)
_HAS_CONTENT_SIZE, _HAS_DICTIONARY = 0x08, 0x01
_PRIMES = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
_MASK = 0xFFFFFFFF
_LANES_FROM_BYTES = 16


def with_right_checksum(frame: bytes) -> bytes:
    """The frame, whatever checksum its head had. WireError if there is no head."""
    at = _checksum_at(frame)
    return frame[:at] + bytes([_checksum(frame[_FLAGS_AT:at])]) + frame[at + 1 :]


def with_wrong_checksum(frame: bytes) -> bytes:
    """The frame as clients of format 0 want it. WireError if there is no head."""
    at = _checksum_at(frame)
    return frame[:at] + bytes([_checksum(frame[:at])]) + frame[at + 1 :]


def _checksum_at(frame: bytes) -> int:
    if len(frame) <= _FLAGS_AT or not frame.startswith(_MAGIC):
        raise WireError("an lz4 frame does not begin as one")
    flags = frame[_FLAGS_AT]
    if flags & _HAS_DICTIONARY:
        raise WireError("an lz4 frame wants a dictionary")
    at = _FLAGS_AT + 2 + (8 if flags & _HAS_CONTENT_SIZE else 0)
    if at >= len(frame):
        raise WireError("the head of an lz4 frame is cut off")
    return at


def _checksum(head: bytes) -> int:
    """The second byte of the xxHash-32 of up to 15 bytes."""
    if len(head) >= _LANES_FROM_BYTES:
        raise ValueError(f"{len(head)} bytes are more than the head of a frame has")
    first, second, third, fourth, fifth = _PRIMES
    digest = fifth + len(head)
    whole = len(head) & ~3
    for at in range(0, whole, 4):
        digest = digest + int.from_bytes(head[at : at + 4], "little") * third & _MASK
        digest = _rotated(digest, 17) * fourth & _MASK
    for byte in head[whole:]:
        digest = digest + byte * fifth & _MASK
        digest = _rotated(digest, 11) * first & _MASK
    digest = (digest ^ digest >> 15) * second & _MASK
    digest = (digest ^ digest >> 13) * third & _MASK
    digest ^= digest >> 16
    return digest >> 8 & 0xFF


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> (32 - bits)) & _MASK
