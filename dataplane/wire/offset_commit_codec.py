"""OffsetCommit's answers, written by hand, and where in a request its offsets are."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from dataplane.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from dataplane.wire.primitives import write_uvarint

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIZE = struct.Struct(">i")
_HEAD = struct.Struct(">ii").pack
_INT = _SIZE.pack
_LENGTH = struct.Struct(">h").pack
_PART = struct.Struct(">ih").pack
_FLEXIBLE_PART = struct.Struct(">ihx").pack
_OFFSET = struct.Struct(">q").unpack_from
_THROTTLE_FROM = 3
_PLACES_FROM = 2


def encode_offset_commit_response(
    version: int,
    correlation_id: int,
    topics: Sequence[tuple[str, Sequence[tuple[int, int]]]],
    *,
    throttle_time_ms: int = 0,
) -> bytearray:
    """The whole frame: size, header, body. `topics`: names with (partition, error code) of each."""
    flexible = version >= OffsetCommitResponse.FLEXIBLE
    out = bytearray(_HEAD(0, correlation_id))
    if flexible:
        out.append(0)
    if version >= _THROTTLE_FROM:
        out += _INT(throttle_time_ms)
    if flexible:
        write_uvarint(out, len(topics) + 1)
    else:
        out += _INT(len(topics))
    for name, partitions in topics:
        encoded = name.encode()
        if flexible:
            write_uvarint(out, len(encoded) + 1)
            out += encoded
            write_uvarint(out, len(partitions) + 1)
            for index, error_code in partitions:
                out += _FLEXIBLE_PART(index, error_code)
            out.append(0)
        else:
            out += _LENGTH(len(encoded))
            out += encoded
            out += _INT(len(partitions))
            for index, error_code in partitions:
                out += _PART(index, error_code)
    if flexible:
        out.append(0)
    _SIZE.pack_into(out, 0, len(out) - _SIZE.size)
    return out


def offset_places(
    version: int, frame: memoryview, position: int, request: OffsetCommitRequest
) -> list[int]:
    """Where in `frame` the committed offsets are, in the order of `request`, which was read there.

    Empty if they cannot be found in that way: versions 0 and 1, tagged fields, lengths in more
    bytes than they need.
    """
    if version < _PLACES_FROM:
        return []
    flexible = version >= OffsetCommitRequest.FLEXIBLE
    tags = 1 if flexible else 0
    before = _text_bytes(request.group_id, flexible) + 4 + _text_bytes(request.member_id, flexible)
    if version >= 7:
        before += _text_bytes(request.group_instance_id, flexible)
    if version <= 4:
        before += 8
    at = position + before + _count_bytes(len(request.topics), flexible)
    after_offset = 12 if version >= 6 else 8
    places = []
    asked = []
    for topic in request.topics:
        at += _text_bytes(topic.name, flexible) + _count_bytes(len(topic.partitions), flexible)
        for partition in topic.partitions:
            at += 4
            places.append(at)
            asked.append(partition.committed_offset)
            at += after_offset + _text_bytes(partition.committed_metadata, flexible) + tags
        at += tags
    is_whole = at + tags == len(frame)
    return places if is_whole and asked == [_OFFSET(frame, place)[0] for place in places] else []


def _text_bytes(text: str | None, flexible: bool) -> int:
    size = 0 if text is None else len(text.encode())
    return size + (_varint_bytes(size + 1) if flexible else 2)


def _count_bytes(count: int, flexible: bool) -> int:
    return _varint_bytes(count + 1) if flexible else 4


def _varint_bytes(value: int) -> int:
    return max(1, -(-value.bit_length() // 7))
