"""What a batch of records may grow to when the Kafka library unpacks it.

Whoever may write to a topic chooses what its batches unpack to: a mebibyte of gzip may be a
gibibyte of zeros, and the library unpacks all of it.
"""

import zlib
from typing import Any

from kafka.errors import KafkaError
from kafka.record import default_records, legacy_records

UNPACKED_MAX_BYTES = 64 * 1024 * 1024
_GZIP = 16 + zlib.MAX_WBITS


class TooLargeError(KafkaError):  # type: ignore[misc] # the library has no types
    """A batch that would unpack to more than `UNPACKED_MAX_BYTES`."""


def gunzip(payload: Any) -> bytes:
    """All members of a gzip stream.

    Raises:
        TooLargeError: they would be more than `UNPACKED_MAX_BYTES`.
        zlib.error: it is none.
    """
    found, left = bytearray(), bytes(payload)
    while left:
        unpacker = zlib.decompressobj(_GZIP)
        found += unpacker.decompress(left, UNPACKED_MAX_BYTES + 1 - len(found))
        if len(found) > UNPACKED_MAX_BYTES:
            raise TooLargeError(f"a batch unpacks to more than {UNPACKED_MAX_BYTES} bytes")
        if not unpacker.eof:
            raise zlib.error("the stream ends in the middle")
        left = unpacker.unused_data
    return bytes(found)


def bound_unpacking() -> None:
    """Have the library unpack by `gunzip`, in this process."""
    for module in (default_records, legacy_records):
        module.gzip_decode = gunzip
