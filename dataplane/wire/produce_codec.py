"""Produce (key 0), read and written by hand: the records of a request are views, never copied.

The generic codec reads the same bytes; tests hold the two against each other.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from dataplane.wire.errors import WireError
from dataplane.wire.fragments import (
    NodeEndpoint,
    current_leader_tag,
    node_endpoints_tag,
    optional_string,
    tag_section,
)
from dataplane.wire.primitives import read_uvarint, skip_tags, too_long, write_uvarint

if TYPE_CHECKING:
    from collections.abc import Sequence

_FLEXIBLE_FROM = 9
_H = struct.Struct(">h").unpack_from
_I = struct.Struct(">i").unpack_from
_II = struct.Struct(">ii").unpack_from
_ACKS_TIMEOUT = struct.Struct(">hi").unpack_from
_ACKS_TIMEOUT_COUNT = struct.Struct(">hii").unpack_from
_TOPIC_BYTES_MIN = 3
_PARTITION_BYTES_MIN = 5

PartitionRecords = tuple[int, "memoryview | None"]


class ProduceParts(NamedTuple):
    """A parsed Produce request. `topics` is [(name, [(partition, records)])], records are views."""

    transactional_id: str | None
    acks: int
    timeout_ms: int
    topics: list[tuple[str, list[PartitionRecords]]]


def parse_produce(version: int, buf: memoryview, pos: int = 0) -> ProduceParts:
    """Read the body of a Produce request of version 0 to 11. Raises WireError."""
    try:
        if version >= _FLEXIBLE_FROM:
            return _parse_flexible(buf, pos)
        return _parse_classic(version, buf, pos)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError(f"Produce v{version}: {error}") from error


def _parse_classic(version: int, buf: memoryview, pos: int) -> ProduceParts:
    size = len(buf)
    transactional_id: str | None = None
    if version >= 3:
        (length,) = _H(buf, pos)
        pos += 2
        if length >= 0:
            if pos + length > size:
                raise too_long("transactional id", length)
            transactional_id = str(buf[pos : pos + length], "utf-8")
            pos += length
        elif length < -1:
            raise too_long("transactional id", length)
    acks, timeout_ms, count = _ACKS_TIMEOUT_COUNT(buf, pos)
    pos += 10
    if not 0 <= count * _TOPIC_BYTES_MIN <= size - pos:
        raise too_long("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _H(buf, pos)
        pos += 2
        if not 0 <= length <= size - pos:
            raise too_long("topic name", length)
        name = str(buf[pos : pos + length], "utf-8")
        pos += length
        (partition_count,) = _I(buf, pos)
        pos += 4
        if not 0 <= partition_count * _PARTITION_BYTES_MIN <= size - pos:
            raise too_long("partitions", partition_count)
        partitions: list[PartitionRecords] = []
        for _ in range(partition_count):
            index, length = _II(buf, pos)
            pos += 8
            if length < 0:
                if length < -1:
                    raise too_long("records", length)
                partitions.append((index, None))
                continue
            end = pos + length
            if end > size:
                raise too_long("records", length)
            partitions.append((index, buf[pos:end]))
            pos = end
        topics.append((name, partitions))
    return ProduceParts(transactional_id, acks, timeout_ms, topics)


def _parse_flexible(buf: memoryview, pos: int) -> ProduceParts:
    size = len(buf)
    transactional_id: str | None = None
    length, pos = read_uvarint(buf, pos)
    if length:
        end = pos + length - 1
        if end > size:
            raise too_long("transactional id", length)
        transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    acks, timeout_ms = _ACKS_TIMEOUT(buf, pos)
    count, pos = read_uvarint(buf, pos + 6)
    if not 0 <= (count - 1) * _TOPIC_BYTES_MIN <= size - pos:
        raise too_long("topics", count)
    topics = []
    for _ in range(count - 1):
        length, pos = read_uvarint(buf, pos)
        end = pos + length - 1
        if not pos <= end <= size:
            raise too_long("topic name", length)
        name = str(buf[pos:end], "utf-8")
        partition_count, pos = read_uvarint(buf, end)
        if not 0 <= (partition_count - 1) * _PARTITION_BYTES_MIN <= size - pos:
            raise too_long("partitions", partition_count)
        partitions: list[PartitionRecords] = []
        for _ in range(partition_count - 1):
            (index,) = _I(buf, pos)
            length, pos = read_uvarint(buf, pos + 4)
            if length:
                end = pos + length - 1
                if end > size:
                    raise too_long("records", length)
                partitions.append((index, buf[pos:end]))
                pos = end
            else:
                partitions.append((index, None))
            pos = pos + 1 if buf[pos] == 0 else skip_tags(buf, pos, size)
        pos = pos + 1 if buf[pos] == 0 else skip_tags(buf, pos, size)
        topics.append((name, partitions))
    if buf[pos]:
        skip_tags(buf, pos, size)
    return ProduceParts(transactional_id, acks, timeout_ms, topics)


class ProducedPartition(NamedTuple):
    """The outcome of one partition; -1 means unknown or not applicable, as in the protocol.

    `record_errors` is [(index in the batch, message or None)], sent from version 8 on.
    `current_leader` is (leader id, leader epoch), sent from version 10 on.
    """

    partition: int
    error_code: int = 0
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    error_message: str | None = None
    record_errors: Sequence[tuple[int, str | None]] = ()
    current_leader: tuple[int, int] | None = None


_HEAD = struct.Struct(">iii").pack
_PART_V0 = struct.Struct(">ihq").pack
_PART_V2 = struct.Struct(">ihqq").pack
_PART_V5 = struct.Struct(">ihqqq").pack
_PLAIN_V8 = struct.Struct(">ihqqqih").pack
_PLAIN_V9 = struct.Struct(">ihqqqBBB").pack
_COUNT = struct.Struct(">i").pack
_HEAD_AND_LENGTH = struct.Struct(">iiih").pack
_SINGLE_V5 = struct.Struct(">iihqqqi").pack
_SINGLE_V8 = struct.Struct(">iihqqqihi").pack
_PUT_SIZE = struct.Struct(">i").pack_into
_LENGTH = struct.Struct(">h").pack
_MARK = 0x7EAD_BEEF_7EAD_BEEF  # finds the place of the offsets in an encoded answer
_MARK_BYTES = struct.pack(">q", _MARK)
_NO_TAGS = b"\0\0\0"  # of partition, topic and request


def encode_produce_response(
    version: int,
    correlation_id: int,
    topics: Sequence[tuple[str, Sequence[ProducedPartition]]],
    *,
    throttle_time_ms: int = 0,
    node_endpoints: Sequence[NodeEndpoint] = (),
) -> bytearray:
    """The whole frame of a Produce response: size, header, body."""
    if 5 <= version <= 8 and len(topics) == 1 and len(topics[0][1]) == 1:
        frame = _encode_single(version, correlation_id, throttle_time_ms, *topics[0])
        if frame is not None:
            return frame
    flexible = version >= _FLEXIBLE_FROM
    if flexible:
        out = bytearray(_HEAD(0, correlation_id, 0)[:9])
        write_uvarint(out, len(topics) + 1)
    else:
        out = bytearray(_HEAD(0, correlation_id, len(topics)))
    for name, partitions in topics:
        encoded = name.encode()
        if flexible:
            write_uvarint(out, len(encoded) + 1)
            out += encoded
            write_uvarint(out, len(partitions) + 1)
            for partition in partitions:
                _put_flexible(out, version, partition)
            out.append(0)
        else:
            out += _LENGTH(len(encoded))
            out += encoded
            out += _COUNT(len(partitions))
            for partition in partitions:
                _put_classic(out, version, partition)
    if version >= 1:
        out += _COUNT(throttle_time_ms)
    if flexible:
        tags = [node_endpoints_tag(0, node_endpoints)] if node_endpoints and version >= 10 else ()
        out += tag_section(tags)
    _PUT_SIZE(out, 0, len(out) - 4)
    return out


def _encode_single(
    version: int,
    correlation_id: int,
    throttle_time_ms: int,
    name: str,
    partitions: Sequence[ProducedPartition],
) -> bytearray | None:
    """What nearly every answer is: one partition and nothing to explain. None if it is not."""
    index, code, base_offset, append_time, log_start, message, record_errors, _ = partitions[0]
    topic = name.encode()
    length = len(topic)
    if version < 8:
        body = _SINGLE_V5(1, index, code, base_offset, append_time, log_start, throttle_time_ms)
    elif message is None and not record_errors:
        body = _SINGLE_V8(
            1, index, code, base_offset, append_time, log_start, 0, -1, throttle_time_ms
        )
    else:
        return None
    out = bytearray(_HEAD_AND_LENGTH(10 + length + len(body), correlation_id, 1, length))
    out += topic
    out += body
    return out


def _put_classic(out: bytearray, version: int, part: ProducedPartition) -> None:
    index, error_code, base_offset, append_time, log_start, message, record_errors, _ = part
    if version >= 8:
        if message is None and not record_errors:
            out += _PLAIN_V8(index, error_code, base_offset, append_time, log_start, 0, -1)
            return
        out += _PART_V5(index, error_code, base_offset, append_time, log_start)
        out += _COUNT(len(record_errors))
        for batch_index, text in record_errors:
            out += _COUNT(batch_index) + optional_string(text, flexible=False)
        out += optional_string(message, flexible=False)
    elif version >= 5:
        out += _PART_V5(index, error_code, base_offset, append_time, log_start)
    elif version >= 2:
        out += _PART_V2(index, error_code, base_offset, append_time)
    else:
        out += _PART_V0(index, error_code, base_offset)


def _put_flexible(out: bytearray, version: int, part: ProducedPartition) -> None:
    index, error_code, base_offset, append_time, log_start, message, record_errors, leader = part
    if message is None and not record_errors and leader is None:
        out += _PLAIN_V9(index, error_code, base_offset, append_time, log_start, 1, 0, 0)
        return
    out += _PART_V5(index, error_code, base_offset, append_time, log_start)
    write_uvarint(out, len(record_errors) + 1)
    for batch_index, text in record_errors:
        out += _COUNT(batch_index) + optional_string(text, flexible=True) + b"\0"
    out += optional_string(message, flexible=True)
    tags = [current_leader_tag(0, *leader)] if leader is not None and version >= 10 else ()
    out += tag_section(tags)


class SingleAnswer:
    """The answer to a Produce of one partition that went well, encoded but for what differs."""

    __slots__ = ("_has_log_start", "_head", "_middle", "_pack", "_tail")

    def __init__(self, version: int, topic: str, partition: int) -> None:
        self._has_log_start = version >= 5
        marked = ProducedPartition(partition, 0, _MARK, _MARK, _MARK)
        frame = encode_produce_response(version, 0, [(topic, [marked])])
        marks = _MARK_BYTES * (3 if self._has_log_start else 2)
        offsets_at = frame.index(marks)
        self._head = bytes(frame[:4])
        self._middle = bytes(frame[8:offsets_at])
        self._tail = bytes(frame[offsets_at + len(marks) :])
        numbers = "qqq" if self._has_log_start else "qq"
        self._pack = struct.Struct(f">4si{len(self._middle)}s{numbers}{len(self._tail)}s").pack

    def encode(
        self, correlation_id: int, base_offset: int, log_append_time_ms: int, log_start_offset: int
    ) -> bytes:
        """The whole frame, as `encode_produce_response` makes it. Version 2 or later."""
        if self._has_log_start:
            return self._pack(
                self._head,
                correlation_id,
                self._middle,
                base_offset,
                log_append_time_ms,
                log_start_offset,
                self._tail,
            )
        return self._pack(
            self._head, correlation_id, self._middle, base_offset, log_append_time_ms, self._tail
        )


def position_of_single(version: int, frame_bytes: int, records_bytes: int) -> int:
    """Where the length of the records stands in a request of one partition, if no tags follow."""
    if version < _FLEXIBLE_FROM:
        return frame_bytes - records_bytes - 4
    length = bytearray()
    write_uvarint(length, records_bytes + 1)
    return frame_bytes - len(_NO_TAGS) - records_bytes - len(length)


def records_of_single(version: int, frame: memoryview, position: int) -> memoryview | None:
    """The records of a request's only partition, whose length stands at `position`.

    None if the frame holds anything behind them but empty tag sections, or they are null.
    """
    size = len(frame)
    if version < _FLEXIBLE_FROM:
        if position + 4 > size:
            return None
        (length,) = _I(frame, position)
        return frame[position + 4 :] if length == size - position - 4 else None
    end = size - len(_NO_TAGS)
    try:
        length, position = read_uvarint(frame, position)
    except (WireError, IndexError):
        return None
    if length - 1 != end - position or frame[end:] != _NO_TAGS:
        return None
    return frame[position:end]
