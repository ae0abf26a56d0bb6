"""The four codecs of record batches, with a bound on what a batch may expand to.

A batch is decompressed only where records are needed (coordinator replay, lookup by time,
compaction), never on produce or fetch.
"""

from __future__ import annotations

import enum
import struct
from typing import TYPE_CHECKING

from dataplane.wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DECOMPRESSED_BYTES = 128 * 1024 * 1024
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16
_XERIAL_BLOCK_BYTES = 32 * 1024
# Magic, flags (version 1, independent blocks, no checksums), 64 KiB blocks, header checksum.
_LZ4_FRAME_HEAD = b"\x04\x22\x4d\x18\x60\x40\x82"
_LZ4_BLOCK_BYTES = 64 * 1024
_LZ4_STORED = 1 << 31
_LZ4_FAST_LEVEL = 9
_LZ4_HIGH_LEVEL_MIN = 3


class Compression(enum.IntEnum):
    """Codec numbers as in bits 0-2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: Compression, data: bytes | bytearray, level: int | None = None) -> bytes:
    """Compress as Java clients do: snappy in xerial framing, lz4 as a frame.

    `level` is Kafka's `compression.<codec>.level` (KIP-390), None the codec's own default. As in
    Kafka lz4's default, 9, means the fast compressor and every other level the high one.
    """
    if codec is Compression.NONE:
        return bytes(data)
    import cramjam

    if codec is Compression.GZIP:
        return bytes(cramjam.gzip.compress(data, level=None if level in {None, -1} else level))
    if codec is Compression.LZ4:
        return _lz4_frame(data) if level in {None, _LZ4_FAST_LEVEL} else _lz4_high(data, level)
    if codec is Compression.ZSTD:
        return bytes(cramjam.zstd.compress(data, level=level))
    out = bytearray(_XERIAL_MAGIC + struct.pack(">ii", 1, 1))
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        out += struct.pack(">i", len(block)) + block
    return bytes(out)


def _lz4_frame(data: bytes | bytearray) -> bytes:
    """An lz4 frame of independent blocks: Java clients refuse blocks that lean on earlier ones."""
    import cramjam

    out = bytearray(_LZ4_FRAME_HEAD)
    for start in range(0, len(data), _LZ4_BLOCK_BYTES):
        block = data[start : start + _LZ4_BLOCK_BYTES]
        packed = bytes(cramjam.lz4.compress_block(block, store_size=False))
        if len(packed) < len(block):
            out += struct.pack("<I", len(packed)) + packed
        else:
            out += struct.pack("<I", len(block) | _LZ4_STORED) + block
    return bytes(out + bytes(4))


def _lz4_high(data: bytes | bytearray, level: int) -> bytes:
    """The same frame by the high compressor.

    The library makes it with a checksum behind every block, which all clients would have to check
    and skip: they are left out here.
    """
    import cramjam

    packer = cramjam.lz4.Compressor(max(level, _LZ4_HIGH_LEVEL_MIN), False, False)
    packer.compress(data)
    frame = memoryview(bytes(packer.finish()))
    at = len(_LZ4_FRAME_HEAD)
    out = bytearray(_LZ4_FRAME_HEAD)
    while size := int.from_bytes(frame[at : at + 4], "little") & ~_LZ4_STORED:
        out += frame[at : at + 4 + size]
        at += 4 + size + 4
    return bytes(out + bytes(4))


def decompress(codec: int, data: memoryview | bytes, limit: int = MAX_DECOMPRESSED_BYTES) -> bytes:
    """Undo `compress`. Raises WireError on damage, an unknown codec, or more than `limit` bytes."""
    if codec == Compression.NONE:
        return bytes(data)
    import cramjam

    data = bytes(data)
    if codec == Compression.GZIP:
        return _bounded(cramjam.gzip.decompress_into, data, limit)
    if codec == Compression.SNAPPY:
        return _unsnappy(data, limit)
    if codec == Compression.LZ4:
        return _bounded(cramjam.lz4.decompress_into, data, limit)
    if codec == Compression.ZSTD:
        return _bounded(cramjam.zstd.decompress_into, data, limit)
    raise WireError(f"unknown compression codec {codec}")


def _bounded(decompress_into: Callable[[bytes, bytearray], int], data: bytes, limit: int) -> bytes:
    """Decompress into a buffer that grows by steps, so that a bomb stops at `limit`."""
    import cramjam

    space = min(limit, max(4096, 8 * len(data)))
    while True:
        buffer = bytearray(space)
        try:
            return bytes(memoryview(buffer)[: decompress_into(data, buffer)])
        except cramjam.DecompressionError as error:
            if "whole buffer" not in str(error) or space >= limit:
                raise WireError(f"batch cannot be decompressed: {error}") from error
        space = min(limit, space * 4)


def _unsnappy(data: bytes, limit: int) -> bytes:
    if not data.startswith(_XERIAL_MAGIC):
        return _unsnappy_block(data, limit)
    out = bytearray()
    pos = _XERIAL_HEADER_BYTES
    while pos < len(data):
        if pos + 4 > len(data):
            raise WireError("snappy block header is cut off")
        size = int.from_bytes(data[pos : pos + 4], "big")
        pos += 4
        if pos + size > len(data):
            raise WireError("snappy block is cut off")
        out += _unsnappy_block(data[pos : pos + size], limit - len(out))
        pos += size
    return bytes(out)


def _unsnappy_block(data: bytes, limit: int) -> bytes:
    import cramjam

    try:
        if cramjam.snappy.decompress_raw_len(data) > limit:
            raise WireError("snappy block expands beyond the limit")
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as error:
        raise WireError(f"batch cannot be decompressed: {error}") from error
