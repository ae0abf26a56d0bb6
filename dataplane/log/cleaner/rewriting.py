"""Which records of a batch stay, and the batch made of them.

Offsets and their order never change. What stays of a batch keeps its base offset, its span of
offsets, its producer and its sequence, so that nothing but the missing records shows the
difference. A tombstone, or a marker whose transaction is gone, gets its delete horizon (KIP-534)
when it is first met: the time from which it may go, kept in the base timestamp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataplane.log.cleaner.source import body_of
from dataplane.log.cleaner.spans import record_spans
from dataplane.wire.batch_layout import (
    BASE_TIMESTAMP_AT,
    CHECKED_FROM,
    CODEC_MASK,
    CONTROL_FLAG,
    CRC,
    CRC_AT,
    DELETE_HORIZON_FLAG,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD_BYTES,
    MAGIC_V2,
    NO_TIMESTAMP,
    TIMESTAMP,
)
from dataplane.wire.compression import Compression, compress
from dataplane.wire.crc import crc32c
from dataplane.wire.primitives import write_varlong

if TYPE_CHECKING:
    from dataplane.log.cleaner.offset_map import OffsetMap
    from dataplane.log.cleaner.source import Stored
    from dataplane.log.cleaner.spans import Span


class Verdict(NamedTuple):
    """What becomes of a batch: as it was (`data` None), other bytes, or nothing (`b""`)."""

    data: bytes | None
    max_timestamp_ms: int
    dropped_records: int


class Rewriter:
    """Filters batches against an offset map, at one moment in time."""

    __slots__ = ("_horizon_ms", "_map", "_now_ms")

    def __init__(self, offsets: OffsetMap, *, now_ms: int, delete_retention_ms: int) -> None:
        self._map = offsets
        self._now_ms = now_ms
        self._horizon_ms = now_ms + delete_retention_ms

    def horizon_of(self, stored: Stored) -> int | None:
        """From when the tombstones or the marker in a batch may go; None if not decided yet."""
        if not stored.head.attributes & DELETE_HORIZON_FLAG:
            return None
        at = stored.at + BASE_TIMESTAMP_AT
        horizon: int = TIMESTAMP.unpack_from(stored.chunk, at)[0]
        return horizon

    def control(self, stored: Stored, *, is_idle: bool, keeps_empty: bool) -> Verdict:
        """A marker: stays while data of its transaction is there, then until its horizon."""
        head = stored.head
        horizon = self.horizon_of(stored)
        if not is_idle or not head.records:
            if not head.records and not keeps_empty:
                return Verdict(b"", NO_TIMESTAMP, 0)
            return Verdict(None, head.max_timestamp_ms, 0)
        if horizon is None:
            spans = record_spans(body_of(stored), head.records)
            return self._built(stored, body_of(stored), spans, spans, stamps_horizon=True)
        if horizon > self._now_ms:
            return Verdict(None, head.max_timestamp_ms, 0)
        return self._emptied(stored, keeps_empty=keeps_empty)

    def aborted(self, stored: Stored, *, keeps_empty: bool) -> Verdict:
        """Data of an aborted transaction: nobody reads it."""
        return self._emptied(stored, keeps_empty=keeps_empty)

    def data(self, stored: Stored, *, keeps_empty: bool) -> Verdict:
        """Keep each key's newest record, and tombstones until their horizon. WireError."""
        head = stored.head
        if head.base_offset > self._map.latest_offset:
            return Verdict(None, head.max_timestamp_ms, 0)
        if not head.records:
            if keeps_empty:
                return Verdict(None, head.max_timestamp_ms, 0)
            return Verdict(b"", NO_TIMESTAMP, 0)
        horizon = self.horizon_of(stored)
        keeps_deletes = horizon is None or self._now_ms < horizon
        body = body_of(stored)
        spans = record_spans(body, head.records)
        kept, has_tombstone = self._map.newest_of(
            spans, head.base_offset, keeps_deletes=keeps_deletes
        )
        if not kept:
            return self._emptied(stored, keeps_empty=keeps_empty)
        stamps_horizon = has_tombstone and horizon is None
        if len(kept) == len(spans) and not stamps_horizon:
            return Verdict(None, head.max_timestamp_ms, 0)
        return self._built(stored, body, spans, kept, stamps_horizon=stamps_horizon)

    def _emptied(self, stored: Stored, *, keeps_empty: bool) -> Verdict:
        """Nothing is left but, where asked, the head with its offsets and its last sequence."""
        head = stored.head
        if not keeps_empty:
            return Verdict(b"", NO_TIMESTAMP, head.records)
        attributes = head.attributes & ~(CODEC_MASK | DELETE_HORIZON_FLAG)
        data = _sealed(stored, attributes, NO_TIMESTAMP, head.max_timestamp_ms, 0, b"")
        return Verdict(data, head.max_timestamp_ms, head.records)

    def _built(
        self,
        stored: Stored,
        body: bytes,
        spans: list[Span],
        kept: list[Span],
        *,
        stamps_horizon: bool,
    ) -> Verdict:
        head = stored.head
        base_ms: int = TIMESTAMP.unpack_from(stored.chunk, stored.at + BASE_TIMESTAMP_AT)[0]
        max_ms = head.max_timestamp_ms
        if not head.attributes & LOG_APPEND_TIME_FLAG:
            max_ms = base_ms + max(span[2] for span in kept)
        attributes = head.attributes
        if stamps_horizon:
            attributes |= DELETE_HORIZON_FLAG
            payload = _moved(body, kept, base_ms - self._horizon_ms)
            base_ms = self._horizon_ms
        else:
            payload = b"".join([body[span[0] : span[1]] for span in kept])
        codec = Compression(attributes & CODEC_MASK)
        if codec:
            payload = compress(codec, payload)
        data = _sealed(stored, attributes, base_ms, max_ms, len(kept), payload)
        return Verdict(data, max_ms, len(spans) - len(kept))


def _moved(body: bytes, kept: list[Span], shift_ms: int) -> bytes:
    """The records with timestamp deltas that count from another base."""
    out = bytearray()
    for start, end, time_delta, _offset_delta, _key, _has_value in kept:
        at = start
        while body[at] > 0x7F:  # the record's size
            at += 1
        record = bytearray(body[at + 1 : at + 2])  # its attributes
        write_varlong(record, time_delta + shift_ms)
        at += 2
        while body[at] > 0x7F:  # the old timestamp delta
            at += 1
        record += body[at + 1 : end]
        write_varlong(out, len(record))
        out += record
    return bytes(out)


def _sealed(  # noqa: PLR0917  # a head's fields in their order
    stored: Stored, attributes: int, base_ms: int, max_ms: int, count: int, payload: bytes
) -> bytes:
    head = stored.head
    batch = bytearray(
        HEADER.pack(
            head.base_offset,
            HEADER_BYTES - LOG_OVERHEAD_BYTES + len(payload),
            head.leader_epoch,
            MAGIC_V2,
            0,
            attributes,
            head.last_offset - head.base_offset,
            base_ms,
            max_ms,
            head.producer_id,
            head.producer_epoch,
            head.base_sequence,
            count,
        )
    )
    batch += payload
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[CHECKED_FROM:]))
    return bytes(batch)


def is_control(stored: Stored) -> bool:
    return bool(stored.head.attributes & CONTROL_FLAG)
