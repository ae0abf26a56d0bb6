"""What batches of records may grow to when the Kafka library unpacks them.

Whoever may write to a topic chooses what its batches unpack to: a mebibyte of gzip may be a
gibibyte of zeros, and the library unpacks all of it. And one look may go through hundreds of such
batches, so it has a bound of its own (`one_look`).
"""

import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafka.errors import KafkaError
from kafka.record import default_records, legacy_records

UNPACKED_MAX_BYTES = 64 * 1024 * 1024
_GZIP = 16 + zlib.MAX_WBITS
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


def gunzip(payload: Any) -> bytes:
    """All members of a gzip stream.

    Raises:
        TooLargeError: they would be more than `UNPACKED_MAX_BYTES`.
        LookIsFullError: the look that this thread is in has unpacked as much before.
        zlib.error: it is none.
    """
    before = getattr(_look, "unpacked_bytes", None)
    if before is not None and before >= UNPACKED_MAX_BYTES:
        raise LookIsFullError(f"more than {UNPACKED_MAX_BYTES} bytes in one look")
    found = _unpacked(payload)
    if before is not None:
        _look.unpacked_bytes = before + len(found)
    return found


def _unpacked(payload: Any) -> bytes:
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
