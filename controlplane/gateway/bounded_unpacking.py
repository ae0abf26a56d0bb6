"""What batches of records may grow to when the Kafka library unpacks them.

Whoever may write to a topic chooses what its batches unpack to: a mebibyte of gzip may be a
gibibyte of zeros, and the library unpacks all of it. And one look may go through hundreds of such
batches, so it has a bound of its own (`one_look`). Of the other codecs the library has none of its
own: they are cramjam's here, with the same bounds.
"""

import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import cramjam
from kafka import codec
from kafka.errors import CorruptRecordError, KafkaError
from kafka.record import default_records, legacy_records

UNPACKED_MAX_BYTES = 64 * 1024 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_GUESSED_RATIO = 8
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16
_XERIAL_SIZE_BYTES = 4
_look = threading.local()


class TooLargeError(KafkaError):  # type: ignore[misc] # the library has no types
    """A batch that would unpack to more than `UNPACKED_MAX_BYTES`."""


class LookIsFullError(KafkaError):  # type: ignore[misc] # as above
    """The batches of this look are as large as may be: another look goes on from there."""


@contextmanager
def one_look() -> Iterator[None]:
    """Within it this thread unpacks `UNPACKED_MAX_BYTES` and the rest of one batch."""
    _look.unpacked_bytes = 0
    try:
        yield
    finally:
        del _look.unpacked_bytes


def _of_a_look(unpack: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    @wraps(unpack)
    def bounded(payload: Any) -> bytes:
        before = getattr(_look, "unpacked_bytes", None)
        if before is not None and before >= UNPACKED_MAX_BYTES:
            raise LookIsFullError(f"more than {UNPACKED_MAX_BYTES} bytes in one look")
        found = unpack(payload)
        if before is not None:
            _look.unpacked_bytes = before + len(found)
        return found

    return bounded


@_of_a_look
def gunzip(payload: Any) -> bytes:
    """All members of a gzip stream.

    Raises:
        TooLargeError: they would be more than `UNPACKED_MAX_BYTES`.
        LookIsFullError: the look that this thread is in has unpacked as much before.
        zlib.error: it is none.
    """
    found, left = bytearray(), bytes(payload)
    while left:
        unpacker = zlib.decompressobj(_GZIP)
        found += unpacker.decompress(left, UNPACKED_MAX_BYTES + 1 - len(found))
        if len(found) > UNPACKED_MAX_BYTES:
            raise _too_large()
        if not unpacker.eof:
            raise zlib.error("the stream ends in the middle")
        left = unpacker.unused_data
    return bytes(found)


@_of_a_look
def unpack_lz4(payload: Any) -> bytes:
    """An lz4 frame.

    Raises:
        TooLargeError: it would be more than `UNPACKED_MAX_BYTES`.
        LookIsFullError: as `gunzip`.
        CorruptRecordError: it is none.
    """
    return _unpacked(cramjam.lz4.decompress_into, bytes(payload))


@_of_a_look
def unpack_zstd(payload: Any) -> bytes:
    """A zstd stream; raises as `unpack_lz4`."""
    return _unpacked(cramjam.zstd.decompress_into, bytes(payload))


@_of_a_look
def unpack_snappy(payload: Any) -> bytes:
    """One raw block, or the xerial framing of Java clients; raises as `unpack_lz4`."""
    data = bytes(payload)
    if not data.startswith(_XERIAL_MAGIC):
        return _snappy_block(data, UNPACKED_MAX_BYTES)
    found, at = bytearray(), _XERIAL_HEADER_BYTES
    while at < len(data):
        begin = at + _XERIAL_SIZE_BYTES
        at = begin + int.from_bytes(data[at:begin], "big")
        if begin > len(data) or at > len(data):
            raise CorruptRecordError("a snappy block ends in the middle")
        found += _snappy_block(data[begin:at], UNPACKED_MAX_BYTES - len(found))
    return bytes(found)


def _snappy_block(data: bytes, space: int) -> bytes:
    try:
        if cramjam.snappy.decompress_raw_len(data) > space:
            raise _too_large()
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as error:
        raise CorruptRecordError(f"a batch does not unpack: {error}") from error


def _unpacked(unpack_into: Callable[[bytes, bytearray], int], data: bytes) -> bytes:
    """Into a buffer that grows by steps, so that a bomb ends at the bound."""
    space = min(UNPACKED_MAX_BYTES, max(4096, _GUESSED_RATIO * len(data)))
    while True:
        buffer = bytearray(space)
        try:
            return bytes(memoryview(buffer)[: unpack_into(data, buffer)])
        except cramjam.DecompressionError as error:
            if "whole buffer" not in str(error):
                raise CorruptRecordError(f"a batch does not unpack: {error}") from error
            if space >= UNPACKED_MAX_BYTES:
                raise _too_large() from error
        space = min(UNPACKED_MAX_BYTES, space * 4)


def _too_large() -> TooLargeError:
    return TooLargeError(f"a batch unpacks to more than {UNPACKED_MAX_BYTES} bytes")


def bound_unpacking() -> None:
    """Have the library unpack by these, in this process."""
    for module in (default_records, legacy_records):
        module.gzip_decode = gunzip
        module.lz4_decode = unpack_lz4
        module.snappy_decode = unpack_snappy
    default_records.zstd_decode = unpack_zstd
    # What the library asks before it unpacks.
    codec.has_lz4 = codec.has_snappy = codec.has_zstd = lambda: True
