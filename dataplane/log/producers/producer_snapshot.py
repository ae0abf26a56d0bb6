"""`.snapshot`: all producer entries as of an offset, in Kafka's format.

int16 version 1, uint32 CRC-32C of what follows, int32 count, then per producer: int64 id, int16
epoch, int32 last sequence, int64 last offset, int32 offset delta, int64 timestamp, int32
coordinator epoch, int64 first offset of the open transaction (-1 none).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from dataplane.log.producers.producer_entry import NO_OFFSET, ProducerEntry, sequence_minus
from dataplane.wire.crc import crc32c

if TYPE_CHECKING:
    from collections.abc import Iterable

_VERSION = 1
_HEAD = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")


class SnapshotDamagedError(Exception):
    """The bytes are not a producer snapshot."""


def encode(entries: Iterable[ProducerEntry]) -> bytes:
    rows = []
    for entry in entries:
        last = entry.batches[-1] if entry.batches else None
        rows.append(
            _ENTRY.pack(
                entry.producer_id,
                entry.epoch,
                entry.last_sequence,
                entry.last_offset,
                last.offset_delta if last else 0,
                entry.last_timestamp_ms,
                entry.coordinator_epoch,
                entry.transaction_first_offset,
            )
        )
    body = _COUNT.pack(len(rows)) + b"".join(rows)
    return _HEAD.pack(_VERSION, crc32c(body)) + body


def decode(raw: bytes) -> list[ProducerEntry]:
    """The entries of a snapshot; `SnapshotDamagedError`."""
    if len(raw) < _HEAD.size + _COUNT.size:
        raise SnapshotDamagedError("too short")
    version, crc = _HEAD.unpack_from(raw)
    body = memoryview(raw)[_HEAD.size :]
    if version != _VERSION:
        raise SnapshotDamagedError(f"version {version}")
    if crc32c(body) != crc:
        raise SnapshotDamagedError("checksum mismatch")
    (count,) = _COUNT.unpack_from(body)
    if len(body) != _COUNT.size + count * _ENTRY.size:
        raise SnapshotDamagedError(f"{len(body)} bytes for {count} entries")
    entries = []
    for row in _ENTRY.iter_unpack(body[_COUNT.size :]):
        producer_id, epoch, sequence, offset, delta, timestamp_ms, coordinator_epoch, first = row
        entry = ProducerEntry(producer_id, epoch, coordinator_epoch, timestamp_ms, first)
        if offset != NO_OFFSET:
            entry.remember(sequence_minus(sequence, delta), offset, delta, timestamp_ms)
            entry.is_from_snapshot = True
        entries.append(entry)
    return entries
