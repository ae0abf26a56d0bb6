"""The lz4 frames that we write can be read by Java clients."""

from __future__ import annotations

import cramjam
import pytest

from dataplane.wire.compression import Compression, compress, decompress

INDEPENDENT_BLOCKS = 1 << 5
BLOCK_CHECKSUMS = 1 << 4


@pytest.mark.parametrize(
    "data",
    [b"", b"a", b"abc" * 100_000, b"x" * 65_536, b"x" * 65_537, bytes(range(256)) * 1000],
    ids=["empty", "one byte", "long", "one block", "a block and a byte", "little repetition"],
)
@pytest.mark.parametrize("level", [None, 1, 9, 17])
def test_round_trip(data: bytes, level: int | None) -> None:
    frame = compress(Compression.LZ4, data, level)
    assert decompress(Compression.LZ4, frame) == data
    assert bytes(cramjam.lz4.decompress(frame)) == data


@pytest.mark.parametrize("level", [None, 17])
def test_blocks_are_independent_and_have_no_checksums(level: int | None) -> None:
    """Java's reader refuses a frame whose blocks refer to earlier ones."""
    flags = compress(Compression.LZ4, b"abc" * 100_000, level)[4]
    assert flags & (INDEPENDENT_BLOCKS | BLOCK_CHECKSUMS) == INDEPENDENT_BLOCKS


@pytest.mark.parametrize("level", [None, 17])
def test_what_does_not_shrink_is_stored(level: int | None) -> None:
    import hashlib

    noise = b"".join(hashlib.sha512(bytes([n])).digest() for n in range(256)) * 5
    frame = compress(Compression.LZ4, noise[: 64 * 256], level)
    assert len(frame) < 64 * 256 + 20
    assert decompress(Compression.LZ4, frame) == noise[: 64 * 256]
