"""Fetch (key 1) responses as lists of parts, so that records go from file to socket uncopied.

A part is bytes-like or a slice of a log file. Small parts are joined; each slice stands alone.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from dataplane.wire.fetch_request import FetchedFrom, FetchParts, TopicKey, parse_fetch
from dataplane.wire.fragments import (
    NodeEndpoint,
    current_leader_tag,
    node_endpoints_tag,
    tag_section,
)
from dataplane.wire.primitives import write_uvarint

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FetchParts",
    "FetchedFrom",
    "FetchedPartition",
    "FileSlice",
    "NodeEndpoint",
    "SingleFetchAnswer",
    "TopicKey",
    "encode_fetch_response",
    "parse_fetch",
]


class FileSlice(Protocol):
    """So many bytes of a log file, to be sent by whatever is fastest."""

    @property
    def size(self) -> int: ...


Records = bytes | bytearray | memoryview
Part = Records | FileSlice


class FetchedPartition(NamedTuple):
    """What one partition answers; None of `records` is an empty set.

    `aborted` is None for read_uncommitted, else [(producer id, first offset)]. `diverging_epoch`
    is (epoch, end offset), `current_leader` is (leader id, epoch);
    both are sent from version 12 on.
    """

    partition: int
    error_code: int = 0
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    aborted: Sequence[tuple[int, int]] | None = None
    preferred_read_replica: int = -1
    records: Part | None = None
    diverging_epoch: tuple[int, int] | None = None
    current_leader: tuple[int, int] | None = None


_BYTES = (bytes, bytearray, memoryview)
_MARK = 0x7EAD_BEEF_7EAD_BEEF  # finds the place of the offsets in an encoded answer
_MARKS = struct.pack(">qqq", _MARK, _MARK, _MARK)
_PUT_SIZE = struct.Struct(">i").pack_into
_COUNT = struct.Struct(">i").pack
_LENGTH = struct.Struct(">h").pack
_HEAD_V0 = struct.Struct(">iii").pack
_HEAD_V1 = struct.Struct(">iiii").pack
_HEAD_V7 = struct.Struct(">iiihii").pack
_HEAD_V12 = struct.Struct(">iiBihi").pack
_PART_V0 = struct.Struct(">ihqi").pack
_PART_V4 = struct.Struct(">ihqq").pack
_PART_V5 = struct.Struct(">ihqqq").pack
_PLAIN_V4 = struct.Struct(">ihqqii").pack
_PLAIN_V5 = struct.Struct(">ihqqqii").pack
_PLAIN_V11 = struct.Struct(">ihqqqiii").pack
_PLAIN_V12 = struct.Struct(">ihqqqBi").pack
_ABORTED = struct.Struct(">qq").pack
_ABORTED_FLEXIBLE = struct.Struct(">qqB").pack
_PREFERRED = struct.Struct(">i").pack
_DIVERGING = struct.Struct(">iqB").pack


def encode_fetch_response(  # noqa: PLR0912 - one pass with few calls, as every fetch needs it
    version: int,
    correlation_id: int,
    topics: Sequence[tuple[TopicKey, Sequence[FetchedPartition]]],
    *,
    throttle_time_ms: int = 0,
    error_code: int = 0,
    session_id: int = 0,
    node_endpoints: Sequence[NodeEndpoint] = (),
) -> list[Part]:
    """The whole frame of a Fetch response as parts, the size prefix first."""
    flexible = version >= 12
    count = len(topics)
    if flexible:
        out = bytearray(_HEAD_V12(0, correlation_id, 0, throttle_time_ms, error_code, session_id))
        write_uvarint(out, count + 1)
    elif version >= 7:
        out = bytearray(
            _HEAD_V7(0, correlation_id, throttle_time_ms, error_code, session_id, count)
        )
    elif version >= 1:
        out = bytearray(_HEAD_V1(0, correlation_id, throttle_time_ms, count))
    else:
        out = bytearray(_HEAD_V0(0, correlation_id, count))
    head = out
    parts: list[Part] = []
    sent = 0
    for topic, partitions in topics:
        _put_topic(out, version, topic, len(partitions))
        for partition in partitions:
            records = partition.records
            if records is None:
                size = 0
            else:
                size = len(records) if isinstance(records, _BYTES) else records.size
            if flexible:
                _put_flexible(out, partition, size)
            else:
                _put_classic(out, version, partition, size)
            if size:
                parts += (out, records)  # type: ignore[arg-type]  # a size means that there are some
                sent += len(out) + size
                out = bytearray()
            if flexible:
                out += _partition_tags(partition)
        if flexible:
            out.append(0)
    if flexible:
        endpoints = node_endpoints if version >= 16 else ()
        out += tag_section([node_endpoints_tag(0, endpoints)] if endpoints else ())
    if out:
        sent += len(out)
        parts.append(out)
    _PUT_SIZE(head, 0, sent - 4)
    return parts


def _put_topic(out: bytearray, version: int, topic: TopicKey, partition_count: int) -> None:
    if isinstance(topic, str):
        encoded = topic.encode()
        if version < 12:
            out += _LENGTH(len(encoded)) + encoded + _COUNT(partition_count)
            return
        write_uvarint(out, len(encoded) + 1)
        out += encoded
    else:
        out += topic.bytes
    write_uvarint(out, partition_count + 1)


def _put_classic(out: bytearray, version: int, part: FetchedPartition, size: int) -> None:
    index, error_code, high_watermark, stable, start, aborted, preferred = part[:7]
    if version < 4:
        out += _PART_V0(index, error_code, high_watermark, size)
        return
    if aborted is None:
        if version >= 11:
            out += _PLAIN_V11(index, error_code, high_watermark, stable, start, -1, preferred, size)
        elif version >= 5:
            out += _PLAIN_V5(index, error_code, high_watermark, stable, start, -1, size)
        else:
            out += _PLAIN_V4(index, error_code, high_watermark, stable, -1, size)
        return
    if version >= 5:
        out += _PART_V5(index, error_code, high_watermark, stable, start)
    else:
        out += _PART_V4(index, error_code, high_watermark, stable)
    out += _COUNT(len(aborted))
    for producer_id, first_offset in aborted:
        out += _ABORTED(producer_id, first_offset)
    if version >= 11:
        out += _PREFERRED(preferred)
    out += _COUNT(size)


def _put_flexible(out: bytearray, part: FetchedPartition, size: int) -> None:
    index, error_code, high_watermark, stable, start, aborted, preferred = part[:7]
    if aborted is None:
        out += _PLAIN_V12(index, error_code, high_watermark, stable, start, 0, preferred)
    else:
        out += _PART_V5(index, error_code, high_watermark, stable, start)
        write_uvarint(out, len(aborted) + 1)
        for producer_id, first_offset in aborted:
            out += _ABORTED_FLEXIBLE(producer_id, first_offset, 0)
        out += _PREFERRED(preferred)
    write_uvarint(out, size + 1)


def _partition_tags(part: FetchedPartition) -> bytes:
    if part.diverging_epoch is None and part.current_leader is None:
        return b"\0"
    tags = []
    if part.diverging_epoch is not None:
        tags.append((0, _DIVERGING(*part.diverging_epoch, 0)))
    if part.current_leader is not None:
        tags.append(current_leader_tag(1, *part.current_leader))
    return tag_section(tags)


class SingleFetchAnswer:
    """The answer to a Fetch of one partition that went well, encoded but for what differs."""

    __slots__ = ("_behind", "_fixed_bytes", "_is_flexible", "_middle", "_pack", "_rest")

    def __init__(self, version: int, topic: TopicKey, answered: FetchedPartition) -> None:
        """Version 5 or later. Of `answered`, offsets and records are of no account."""
        self._is_flexible = version >= 12
        marked = answered._replace(
            high_watermark=_MARK, last_stable_offset=_MARK, log_start_offset=_MARK, records=b"r"
        )
        parts = encode_fetch_response(version, 0, [(topic, [marked])])
        # All of it is bytes, as the records are.
        head, _records, *behind = (bytes(cast("Records", part)) for part in parts)
        marks_at = head.index(_MARKS)
        self._middle = head[8:marks_at]
        self._rest = head[marks_at + len(_MARKS) : -1 if self._is_flexible else -4]
        self._behind = behind
        self._fixed_bytes = 4 + len(self._middle) + len(_MARKS) + len(self._rest)
        self._fixed_bytes += sum(map(len, behind))
        length = "" if self._is_flexible else "i"
        self._pack = struct.Struct(f">ii{len(self._middle)}sqqq{len(self._rest)}s{length}").pack

    def encode(
        self,
        correlation_id: int,
        high_watermark: int,
        last_stable_offset: int,
        log_start_offset: int,
        records: FileSlice,
    ) -> list[Part]:
        """The parts of the whole frame, as `encode_fetch_response` makes them."""
        size = records.size
        fixed = (self._middle, high_watermark, last_stable_offset, log_start_offset, self._rest)
        if not self._is_flexible:
            head = self._pack(self._fixed_bytes + 4 + size, correlation_id, *fixed, size)
            return [head, records, *self._behind]
        length = bytearray()
        write_uvarint(length, size + 1)
        frame_bytes = self._fixed_bytes + len(length) + size
        return [self._pack(frame_bytes, correlation_id, *fixed) + length, records, *self._behind]
