"""Records inside a batch: built by coordinators and read where a record's content matters."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from dataplane.wire.batch_layout import (
    CHECKED_FROM,
    CODEC_MASK,
    CONTROL_FLAG,
    CRC,
    CRC_AT,
    HEADER,
    HEADER_BYTES,
    LENGTH_MIN,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD_BYTES,
    MAGIC_V2,
    TRANSACTIONAL_FLAG,
)
from dataplane.wire.compression import Compression, compress, decompress
from dataplane.wire.crc import crc32c
from dataplane.wire.errors import WireError
from dataplane.wire.primitives import read_varlong, write_varlong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Header = tuple[str, bytes | None]
_INT32_MAX = 2**31 - 1
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


class NewRecord(NamedTuple):
    """A record to be written; the timestamp is in milliseconds since 1970."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[Header] = ()
    timestamp_ms: int = 0


class Record(NamedTuple):
    """A record that was read."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


def build_batch(
    records: Sequence[NewRecord],
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    compression: Compression = Compression.NONE,
    is_transactional: bool = False,
    is_control: bool = False,
) -> bytearray:
    """One whole batch with a valid CRC. `records` may not be empty."""
    if not records:
        raise WireError("a batch holds at least one record")
    base_timestamp_ms = records[0].timestamp_ms
    body = bytearray()
    for number, record in enumerate(records):
        _write_record(body, record, number, record.timestamp_ms - base_timestamp_ms)
    payload = compress(compression, body) if compression is not Compression.NONE else body
    attributes = int(compression)
    if is_transactional:
        attributes |= TRANSACTIONAL_FLAG
    if is_control:
        attributes |= CONTROL_FLAG
    out = bytearray(
        HEADER.pack(
            base_offset,
            LENGTH_MIN + len(payload),
            leader_epoch,
            MAGIC_V2,
            0,
            attributes,
            len(records) - 1,
            base_timestamp_ms,
            max(record.timestamp_ms for record in records),
            producer_id,
            producer_epoch,
            base_sequence,
            len(records),
        )
    )
    out += payload
    with memoryview(out) as view, view[CHECKED_FROM:] as covered:
        CRC.pack_into(out, CRC_AT, crc32c(covered))
    return out


def _write_record(out: bytearray, record: NewRecord, offset_delta: int, time_delta: int) -> None:
    key, value, headers, _timestamp_ms = record
    parts = [
        b"\0",  # attributes: unused
        _varlong(time_delta),
        _varlong(offset_delta),
        _varlong(-1 if key is None else len(key)),
        key or b"",
        _varlong(-1 if value is None else len(value)),
        value or b"",
        _varlong(len(headers)),
    ]
    for name, content in headers:
        encoded = name.encode()
        parts += (_varlong(len(encoded)), encoded)
        parts += (_varlong(-1 if content is None else len(content)), content or b"")
    body = b"".join(parts)
    out += _varlong(len(body))
    out += body


def _encode_varlong(value: int) -> bytes:
    out = bytearray()
    write_varlong(out, value)
    return bytes(out)


_SHORT_VARLONGS = tuple(map(_encode_varlong, range(1024)))


def _varlong(value: int) -> bytes:
    """Nearly every length and delta is a short one."""
    return _SHORT_VARLONGS[value] if 0 <= value < 1024 else _encode_varlong(value)


def iter_records(batch: memoryview | bytes | bytearray, pos: int = 0) -> Iterator[Record]:
    """The records of the batch at `pos`, decompressed if need be.

    Raises WireError on a damaged batch; the CRC is not checked here. Records of a batch with log
    append time all carry the batch's maximum timestamp.
    """
    try:
        header = HEADER.unpack_from(batch, pos)
    except struct.error as error:
        raise WireError("record batch header is cut off") from error
    base_offset, length, attributes, count = header[0], header[1], header[5], header[12]
    base_timestamp_ms = header[7]
    append_time_ms = header[8] if attributes & LOG_APPEND_TIME_FLAG else None
    end = pos + LOG_OVERHEAD_BYTES + length
    if end > len(batch) or length < LENGTH_MIN:
        raise WireError("record batch is cut off")
    body = decompress(attributes & CODEC_MASK, memoryview(batch)[pos + HEADER_BYTES : end])
    at = 0
    for _ in range(count):
        try:
            size, at = read_varlong(body, at)
            record, stop = _read_record(body, at)
        except IndexError as error:
            raise WireError("record is cut off") from error
        if size != stop - at:
            raise WireError(f"record claims {size} bytes and has {stop - at}")
        time_delta, offset_delta, key, value, headers = record
        timestamp_ms = base_timestamp_ms + time_delta if append_time_ms is None else append_time_ms
        if not (0 <= offset_delta <= _INT32_MAX and _INT64_MIN <= timestamp_ms <= _INT64_MAX):
            raise WireError(f"record has offset {offset_delta} and time {timestamp_ms}")
        yield Record(base_offset + offset_delta, timestamp_ms, key, value, headers)
        at = stop


_RecordBody = tuple[int, int, bytes | None, bytes | None, tuple[Header, ...]]


def _read_record(body: bytes, at: int) -> tuple[_RecordBody, int]:
    at += 1  # record attributes
    time_delta, at = read_varlong(body, at)
    offset_delta, at = read_varlong(body, at)
    key, at = _read_bytes(body, at)
    value, at = _read_bytes(body, at)
    count, at = read_varlong(body, at)
    if not 0 <= count <= len(body) - at:
        raise WireError(f"record claims {count} headers")
    headers: list[Header] = []
    for _ in range(count):
        name, at = _read_bytes(body, at)
        content, at = _read_bytes(body, at)
        try:
            headers.append(((name or b"").decode(), content))
        except UnicodeDecodeError as error:
            raise WireError("record header name is not UTF-8") from error
    return (time_delta, offset_delta, key, value, tuple(headers)), at


def _read_bytes(body: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = read_varlong(body, at)
    if size < 0:
        return None, at
    end = at + size
    if end > len(body):
        raise WireError("record is cut off")
    return body[at:end], end
