"""What batches of records may become as Python's objects when the Kafka library takes them apart.

The producer chooses how many headers a record has and how many records a batch holds, and a header
of two bytes is an object of hundreds: a batch within its 64 MiB would be gigabytes. So of each
record `HEADERS_MAX` headers are decoded and the others counted, batches of more than
`BATCH_RECORDS_MAX` records are refused, and those in front of the offset that is asked for are
passed over without being decoded. Offsets that do not ascend would send a reader round in circles,
so they are refused as well.
"""

from collections.abc import Iterator
from typing import Any

from kafka.consumer import fetcher
from kafka.errors import CorruptRecordError, KafkaError
from kafka.record import memory_records
from kafka.record.default_records import ControlRecord, DefaultRecord, DefaultRecordBatch
from kafka.record.legacy_records import LegacyRecordBatch
from kafka.record.util import decode_varint

from controlplane.gateway.record_port import HEADERS_MAX

BATCH_RECORDS_MAX = 250_000
"""Clients put some ten thousand into a batch at most."""
LEGACY_RECORDS_MAX = 50_000
"""Of the formats before 2, whose messages the library lists all at once."""
HEADER_MIN_BYTES = 2
"""Of the lengths of a name and a value that are empty."""
NOTHING_BEFORE = -1


class TooManyRecordsError(KafkaError):  # type: ignore[misc] # the library has no types
    """A batch of more than `BATCH_RECORDS_MAX` records."""


class Headers(list[tuple[str, bytes | None]]):
    """The first headers of a record; `left_out`: how many more it has."""

    left_out = 0


class BoundedBatch(DefaultRecordBatch):  # type: ignore[misc] # the library has no types
    """A batch of format 2, as the library reads it, within the bounds above."""

    _pos: int  # the library's own, which has no types

    def __init__(self, buffer: Any) -> None:
        super().__init__(buffer)
        self._last_delta = -1
        self.wanted_from = NOTHING_BEFORE
        """Records in front of this offset are passed over."""

    def __iter__(self) -> Iterator[Any]:
        if self.records_count > BATCH_RECORDS_MAX:
            raise _too_many(
                self.base_offset, self.records_count, BATCH_RECORDS_MAX, self.next_offset
            )
        if self.last_offset_delta < 0:
            raise CorruptRecordError("A batch ends before it begins.")
        super().__iter__()
        try:
            while self._next_record_index < self._num_records and self._passed_over():
                self._next_record_index += 1
        except (ValueError, IndexError) as error:
            raise CorruptRecordError(f"Found invalid record structure: {error!r}") from error
        return self

    def _passed_over(self) -> bool:
        """Whether the next record lies before what is wanted; then it is behind us."""
        buffer = self._buffer
        length, start = decode_varint(buffer, self._pos)
        _, at = decode_varint(buffer, start + 1)
        delta, _ = decode_varint(buffer, at)
        if self.base_offset + delta >= self.wanted_from:
            return False
        self._pos = self._end_of(start, length)
        self._note(delta)
        return True

    def _read_msg(self, decode_varint: Any = decode_varint) -> DefaultRecord:
        buffer = self._buffer
        length, start = decode_varint(buffer, self._pos)
        end = self._end_of(start, length)
        time_delta, at = decode_varint(buffer, start + 1)
        delta, at = decode_varint(buffer, at)
        self._note(delta)
        key, at = _bytes(buffer, at, end)
        value, at = _bytes(buffer, at, end)
        headers, at = _headers(buffer, at, end)
        if not headers.left_out and at != end:
            raise CorruptRecordError("A record is not as long as it says.")
        self._pos = end
        is_broker_time = self.timestamp_type == self.LOG_APPEND_TIME
        made = ControlRecord if self.is_control_batch else DefaultRecord
        return made(
            length,
            self.base_offset + delta,
            self.max_timestamp if is_broker_time else self.first_timestamp + time_delta,
            self.timestamp_type,
            key,
            value,
            headers,
        )

    def _end_of(self, start: int, length: int) -> int:
        end: int = start + length
        if length <= 0 or end > len(self._buffer):
            raise CorruptRecordError("A record is longer than its batch.")
        return end

    def _note(self, delta: int) -> None:
        if not self._last_delta < delta <= self.last_offset_delta:
            raise CorruptRecordError("The offsets of a batch do not ascend.")
        self._last_delta = delta


def _bytes(buffer: Any, at: int, end: int) -> tuple[bytes | None, int]:
    length, at = decode_varint(buffer, at)
    if length < 0:
        return None, at
    if at + length > end:
        raise CorruptRecordError("A record ends in the middle.")
    return bytes(buffer[at : at + length]), at + length


def _headers(buffer: Any, at: int, end: int) -> tuple[Headers, int]:
    """The first of them; those left out are counted by what the record says, and may be there."""
    count, at = decode_varint(buffer, at)
    if not 0 <= count <= (end - at) // HEADER_MIN_BYTES:
        raise CorruptRecordError("A record has no room for its headers.")
    found = Headers()
    for _ in range(min(count, HEADERS_MAX)):
        name, at = _bytes(buffer, at, end)
        if name is None:
            raise CorruptRecordError("A header has no name.")
        value, at = _bytes(buffer, at, end)
        found.append((name.decode(), value))
    found.left_out = count - len(found)
    return found, at


class BoundedLegacyBatch(LegacyRecordBatch):  # type: ignore[misc] # the library has no types
    """A message set of format 0 or 1: the library lists all its messages at once."""

    __slots__ = ()

    def _read_all_headers(self) -> list[Any]:
        least = self.RECORD_OVERHEAD_V1 if self._magic else self.RECORD_OVERHEAD_V0
        found: list[Any] = []
        at, size = 0, len(self._buffer)
        while at < size:
            header = self._read_header(at)
            if header[1] < least or at + self.LOG_OVERHEAD + header[1] > size:
                raise CorruptRecordError("A message is not as long as it says.")
            if len(found) >= LEGACY_RECORDS_MAX:
                raise _too_many(self._offset, len(found) + 1, LEGACY_RECORDS_MAX, self._offset + 1)
            found.append((header, at))
            at += self.LOG_OVERHEAD + header[1]
        if not found:
            raise CorruptRecordError("A message set without a message.")
        return found


def _too_many(offset: int, count: int, most: int, following: int) -> TooManyRecordsError:
    return TooManyRecordsError(
        f"The batch at offset {offset} holds {count} records or more, and up to {most}"
        f" are taken apart: begin at offset {following} to pass over it."
    )


class _From:
    """The library's batches, each told from where its records are wanted."""

    def __init__(self, records: Any, offset: int) -> None:
        self._records, self._offset = records, offset

    def next_batch(self) -> Any:
        found = self._records.next_batch()
        if isinstance(found, BoundedBatch):
            found.wanted_from = self._offset
        return found


class BoundedPartitionRecords(fetcher.Fetcher.PartitionRecords):  # type: ignore[misc] # as above
    def __init__(self, fetch_offset: int, tp: Any, records: Any, **settings: Any) -> None:
        super().__init__(fetch_offset, tp, _From(records, fetch_offset), **settings)


def bound_records() -> None:
    """Have the library take batches apart by these, in this process."""
    memory_records.DefaultRecordBatch = BoundedBatch
    memory_records.LegacyRecordBatch = BoundedLegacyBatch
    fetcher.Fetcher.PartitionRecords = BoundedPartitionRecords
