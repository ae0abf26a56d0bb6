"""Message sets: the formats of magic 0 and 1, before the record batch. Only for old clients.

A message set is messages one behind the other; a compressed message holds a message set of its
own. Produce before version 3 sends them, Fetch before version 4 reads them; logs hold batches of
magic 2 alone. All of it is converted here in memory, within the bounds that callers give.

A message: offset (int64), size (int32), CRC-32 of what follows, magic, attributes, in magic 1 the
timestamp, key and value (int32 length, -1 for null). A message of magic 1 that is compressed counts
the offsets inside from 0, relative to its own, which is the last one's; magic 0 has them in full.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

from dataplane.wire.batch_layout import CODEC_MASK, LOG_APPEND_TIME_FLAG, NO_TIMESTAMP
from dataplane.wire.compression import Compression, compress, decompress
from dataplane.wire.errors import WireError
from dataplane.wire.lz4_frames import with_right_checksum, with_wrong_checksum
from dataplane.wire.record_batch import iter_batches
from dataplane.wire.records import NewRecord, Record, build_batch, iter_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataplane.wire.record_batch import BatchHeader

MAGIC_AT = 16
_OFFSET_AND_SIZE = struct.Struct(">qi")
_CRC = struct.Struct(">I")
_MAGIC_AND_ATTRIBUTES = struct.Struct(">BB")
_TIMESTAMP = struct.Struct(">q")
_LENGTH = struct.Struct(">i")
_OVERHEAD_BYTES = _OFFSET_AND_SIZE.size
_SIZE_MIN = (14, 22)
"""Of a message of either magic, without its offset and size, with null key and value."""


class _Message(NamedTuple):
    magic: int
    attributes: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None


class Converted(NamedTuple):
    """A message set as a batch of magic 2. `claims_append_time`: what only a broker may set."""

    batch: bytearray
    claims_append_time: bool


class TooManyMessagesError(WireError):
    """The set is sound and holds more than the caller allows."""


def to_batch(
    data: memoryview | bytes | bytearray, *, messages_max: int, expanded_bytes_max: int
) -> Converted:
    """One batch of magic 2 with the messages of a set, in the same codec.

    Messages of magic 0 have no timestamp: their records get NO_TIMESTAMP. As in Kafka a set with a
    compressed message holds nothing else. Raises WireError on damage.
    """
    messages = _messages(data, messages_max)
    codec = Compression.NONE
    if any(message.attributes & CODEC_MASK for message in messages):
        if len(messages) > 1:
            raise WireError("a compressed message shares its message set with others")
        outer = messages[0]
        codec, messages = _unwrapped(outer, messages_max, expanded_bytes_max)
        appended = outer.attributes & LOG_APPEND_TIME_FLAG and outer.magic > 0
    else:
        appended = any(m.attributes & LOG_APPEND_TIME_FLAG and m.magic > 0 for m in messages)
    records = [NewRecord(m.key, m.value, (), m.timestamp_ms) for m in messages]
    return Converted(build_batch(records, compression=codec), bool(appended))


def _unwrapped(
    outer: _Message, messages_max: int, expanded_bytes_max: int
) -> tuple[Compression, list[_Message]]:
    """The codec of a compressed message, and what it holds."""
    try:
        codec = Compression(outer.attributes & CODEC_MASK)
    except ValueError as error:
        raise WireError(f"unknown compression codec {outer.attributes & CODEC_MASK}") from error
    if codec is Compression.ZSTD:
        raise WireError("messages before the record batch are never compressed with zstd")
    packed = outer.value or b""
    if codec is Compression.LZ4 and outer.magic == 0:
        packed = with_right_checksum(packed)
    messages = _messages(decompress(codec, packed, expanded_bytes_max), messages_max)
    if any(message.magic != outer.magic for message in messages):
        raise WireError("a compressed message holds messages of another format")
    if any(message.attributes & CODEC_MASK for message in messages):
        raise WireError("a compressed message holds compressed messages")
    return codec, messages


def _messages(data: memoryview | bytes | bytearray, messages_max: int) -> list[_Message]:
    """The messages of a set, whole and with fitting CRCs; at least one."""
    view = memoryview(data)
    found: list[_Message] = []
    at, end = 0, len(view)
    while at < end:
        if len(found) >= messages_max:
            raise TooManyMessagesError(f"more than {messages_max} messages in one set")
        message, at = _message(view, at)
        found.append(message)
    if not found:
        raise WireError("the message set is empty")
    return found


def _message(view: memoryview, at: int) -> tuple[_Message, int]:
    """The message at `at`, and where the next one begins."""
    try:
        _offset, size = _OFFSET_AND_SIZE.unpack_from(view, at)
        at += _OVERHEAD_BYTES
        end = at + size
        (crc,) = _CRC.unpack_from(view, at)
        magic, attributes = _MAGIC_AND_ATTRIBUTES.unpack_from(view, at + 4)
        if magic > 1:
            raise WireError(f"a message has magic {magic}, not 0 or 1")
        if size < _SIZE_MIN[magic] or end > len(view):
            raise WireError(f"a message claims a size of {size}")
        if zlib.crc32(view[at + 4 : end]) != crc:
            raise WireError("the CRC of a message does not fit")
        at += 6
        timestamp_ms = NO_TIMESTAMP
        if magic:
            (timestamp_ms,) = _TIMESTAMP.unpack_from(view, at)
            at += 8
        key, at = _bytes(view, at, end)
        value, at = _bytes(view, at, end)
    except struct.error as error:
        raise WireError("a message is cut off") from error
    if at != end:
        raise WireError(f"a message has {end - at} bytes too many")
    if timestamp_ms < NO_TIMESTAMP:
        raise WireError(f"a message has the timestamp {timestamp_ms}")
    return _Message(magic, attributes, timestamp_ms, key, value), end


def _bytes(view: memoryview, at: int, end: int) -> tuple[bytes | None, int]:
    (length,) = _LENGTH.unpack_from(view, at)
    at += 4
    if length < 0:
        return None, at
    if at + length > end:
        raise WireError("the key or value of a message is cut off")
    return bytes(view[at : at + length]), at + length


# -- down


class ZstdError(WireError):
    """Batches compressed with zstd cannot be said in the old formats."""


def from_batches(
    data: memoryview | bytes, magic: int, *, from_offset: int, bytes_max: int
) -> bytearray:
    """The records of batches as a message set of `magic`, in the codecs of their batches.

    Control records and headers, which the old formats cannot say, are left out, and so is what lies
    before `from_offset`. Whole messages within `bytes_max`; the first one whatever its size. Raises
    ZstdError, WireError.
    """
    out = bytearray()
    for position, header in iter_batches(data):
        if header.is_control:
            continue
        for message in _of_batch(data, position, header, magic, from_offset):
            if out and len(out) + len(message) > bytes_max:
                return out
            out += message
    return out


def _of_batch(
    data: memoryview | bytes, position: int, header: BatchHeader, magic: int, from_offset: int
) -> Iterator[bytes]:
    codec = Compression(header.codec)
    if codec is Compression.ZSTD:
        raise ZstdError("zstd is not for clients this old")
    records = [r for r in iter_records(data, position) if r.offset >= from_offset]
    if not records:
        return
    kind = LOG_APPEND_TIME_FLAG if magic and header.is_log_append_time else 0
    if codec is not Compression.NONE:
        yield _wrapped(records, codec, magic, kind)
        return
    for record in records:
        yield _encoded(record.offset, magic, kind, record.timestamp_ms, record.key, record.value)


def _wrapped(records: Sequence[Record], codec: Compression, magic: int, kind: int) -> bytes:
    """The records as one compressed message."""
    first = records[0].offset if magic else 0
    inner = b"".join(
        _encoded(r.offset - first, magic, kind, r.timestamp_ms, r.key, r.value) for r in records
    )
    packed = compress(codec, inner)
    if codec is Compression.LZ4 and magic == 0:
        packed = with_wrong_checksum(packed)
    newest_ms = max(record.timestamp_ms for record in records)
    return _encoded(records[-1].offset, magic, kind | codec, newest_ms, None, packed)


def _encoded(  # noqa: PLR0917 - called once per record: keywords cost a tenth of a microsecond each
    offset: int,
    magic: int,
    attributes: int,
    timestamp_ms: int,
    key: bytes | None,
    value: bytes | None,
) -> bytes:
    body = b"".join(
        (
            _MAGIC_AND_ATTRIBUTES.pack(magic, attributes),
            _TIMESTAMP.pack(timestamp_ms) if magic else b"",
            _LENGTH.pack(-1 if key is None else len(key)),
            key or b"",
            _LENGTH.pack(-1 if value is None else len(value)),
            value or b"",
        )
    )
    return _OFFSET_AND_SIZE.pack(offset, 4 + len(body)) + _CRC.pack(zlib.crc32(body)) + body
