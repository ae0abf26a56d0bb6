"""Reading what a leader sent: several batches, perhaps with a partial one at the end."""

from __future__ import annotations

from typing import NamedTuple

from dataplane.log.reading.scan import BatchHead
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.batch_layout import (
    CHECKED_FROM,
    HEADER,
    HEADER_BYTES,
    LENGTH_MIN,
    LOG_OVERHEAD_BYTES,
    MAGIC_V2,
)
from dataplane.wire.crc import crc32c

_unpack_head = HEADER.unpack_from


class Replicated(NamedTuple):
    """Whole batches in their order, and the bytes they take."""

    batches: list[BatchHead]
    size: int


def parse(view: memoryview, log_end_offset: int) -> Replicated:
    """Every whole batch, checked. KafkaError: CORRUPT_MESSAGE, OFFSET_OUT_OF_RANGE."""
    batches: list[BatchHead] = []
    expected = log_end_offset
    at = 0
    size = len(view)
    while at + HEADER_BYTES <= size:
        base, length, epoch, magic, crc, attributes, delta, _, max_ts, pid, pepoch, seq, count = (
            _unpack_head(view, at)
        )
        if length < LENGTH_MIN or magic != MAGIC_V2 or delta < 0:
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"No batch at byte {at} from the leader.")
        end = at + length + LOG_OVERHEAD_BYTES
        if end > size:
            break
        if crc32c(view[at + CHECKED_FROM : end]) != crc:
            raise KafkaError(
                ErrorCode.CORRUPT_MESSAGE, f"CRC-32C of the batch at offset {base} does not match."
            )
        if base < expected:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Batch at offset {base} from the leader; the log ends at {expected}.",
            )
        last = base + delta
        batches.append(
            BatchHead(at, end - at, base, last, epoch, attributes, max_ts, pid, pepoch, seq, count)
        )
        expected = last + 1
        at = end
    return Replicated(batches, at)
