"""What a leader checks on a batch, and the rarer ways in which it changes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log.appending.end_marker import read_marker
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.batch_layout import (
    ATTRIBUTES,
    ATTRIBUTES_AT,
    BASE_OFFSET_AND_LENGTH,
    CHECKED_FROM,
    CODEC_MASK,
    CONTROL_FLAG,
    CRC,
    CRC_AT,
    HEADER_BYTES,
    LENGTH_MIN,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD_BYTES,
    MAGIC_AT,
    MAGIC_V2,
    NO_TIMESTAMP,
    TRANSACTIONAL_FLAG,
)
from dataplane.wire.compression import Compression, compress, decompress
from dataplane.wire.crc import crc32c
from dataplane.wire.errors import WireError
from dataplane.wire.record_batch import iter_records, set_log_append_time

if TYPE_CHECKING:
    from dataplane.log.config import LogConfig
    from dataplane.log.producers.producer_state import Marker
    from dataplane.ports.filesystem import Buffer

RECORD_ERRORS_MAX = 1_000
"""How many bad records of one batch an answer lists."""

_CODECS = {
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}


def malformed(records: Buffer) -> KafkaError:
    """Why these bytes are not exactly one batch of magic 2."""
    size = len(records)
    if size > MAGIC_AT and records[MAGIC_AT] != MAGIC_V2:
        # Messages of the formats before may be shorter than a batch's head.
        return KafkaError(
            ErrorCode.INVALID_RECORD, f"Record batch has magic {records[MAGIC_AT]}, not 2."
        )
    if size < HEADER_BYTES:
        return KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{size} bytes are not a record batch.")
    length = BASE_OFFSET_AND_LENGTH.unpack_from(records)[1]
    if length < LENGTH_MIN or length + LOG_OVERHEAD_BYTES > size:
        return KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"Record batch claims a length of {length} in {size} bytes."
        )
    return KafkaError(
        ErrorCode.INVALID_RECORD, "Produce requests carry exactly one record batch per partition."
    )


def too_large(size: int, max_message_bytes: int) -> KafkaError:
    return KafkaError(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"Batch of {size} bytes; max.message.bytes is {max_message_bytes}.",
    )


def check_unusual(records: Buffer, attributes: int, origin: str, producer_id: int) -> Marker | None:
    """Refuse flags that not everybody may set, and codecs that do not exist.

    `origin`: `client`, `transaction` (a client that named its transactional id and may use it) or
    `coordinator`. Returns the marker if the batch ends a transaction.
    """
    if attributes & CONTROL_FLAG and origin != "coordinator":
        raise KafkaError(ErrorCode.INVALID_RECORD, "Clients may not write control batches.")
    if attributes & TRANSACTIONAL_FLAG:
        if origin == "client":
            raise KafkaError(
                ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                "The batch is part of a transaction; the request names no transactional id.",
            )
        if producer_id < 0:
            raise KafkaError(
                ErrorCode.INVALID_RECORD, "The batch is part of a transaction of no producer id."
            )
    if attributes & CODEC_MASK > Compression.ZSTD:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"There is no compression codec {attributes & CODEC_MASK}.",
        )
    if attributes & LOG_APPEND_TIME_FLAG and origin != "coordinator":
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP, "Producers must not set the timestamp type LogAppendTime."
        )
    return read_marker(records) if attributes & CONTROL_FLAG else None


def rework(
    records: bytearray | memoryview, config: LogConfig, now_ms: int, *, is_own: bool = False
) -> bytearray | memoryview:
    """Apply the settings that need the records: keys, time bounds, codec, append time.

    `is_own`: a coordinator has just made them, each with a key and the time of this clock.
    Returns the batch, in place or rebuilt, with a valid CRC. KafkaError on refusal.
    """
    attributes = ATTRIBUTES.unpack_from(records, ATTRIBUTES_AT)[0]
    try:
        if not is_own and (
            config.compacts or (config.bounds_timestamps and not config.stamps_append_time)
        ):
            _check_records(records, config, now_ms)
        if config.compression_type != "producer":
            wanted = _CODECS[config.compression_type]
            if attributes & CODEC_MASK != wanted:
                records = _recompress(records, attributes, wanted, config.compression_level)
    except WireError as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    if len(records) > config.max_message_bytes:
        raise too_large(len(records), config.max_message_bytes)
    if config.stamps_append_time:
        set_log_append_time(records, 0, now_ms)
    return records


def _check_records(records: Buffer, config: LogConfig, now_ms: int) -> None:
    """Refuse the batch for every record that is at fault, so that the others are not blamed."""
    earliest_ms = now_ms - config.timestamp_before_max_ms
    latest_ms = now_ms + config.timestamp_after_max_ms
    checks_time = config.bounds_timestamps and not config.stamps_append_time
    faults: _Faults | None = None
    for number, record in enumerate(iter_records(records)):
        if config.compacts and record.key is None:
            faults = faults or _Faults()
            faults.add(number, "Compacted topic cannot accept message without key.")
        elif checks_time and not earliest_ms <= record.timestamp_ms <= latest_ms:
            if record.timestamp_ms == NO_TIMESTAMP:
                continue
            faults = faults or _Faults()
            faults.code = ErrorCode.INVALID_TIMESTAMP
            faults.add(
                number,
                f"Timestamp {record.timestamp_ms} of message with offset {record.offset} is out of"
                f" range. The timestamp should be within [{earliest_ms}, {latest_ms}]",
            )
    if faults is not None:
        raise faults.refusal()


class _Faults:
    """What is wrong with the records of one batch; one bad timestamp decides the code, as in Kafka.

    Kafka lists every bad record. Here the list is bounded: a batch of a megabyte may hold more than
    a hundred thousand, and the answer would be many times its size.
    """

    def __init__(self) -> None:
        self.code = ErrorCode.INVALID_RECORD
        self._total = 0
        self._listed: list[tuple[int, str]] = []

    def add(self, number: int, message: str) -> None:
        self._total += 1
        if self._total <= RECORD_ERRORS_MAX:
            self._listed.append((number, message))

    def refusal(self) -> KafkaError:
        if self.code is ErrorCode.INVALID_TIMESTAMP:
            message = "One or more records have been rejected due to invalid timestamp"
        else:
            first = "; ".join(f"record {number}: {text}" for number, text in self._listed[:3])
            message = (
                f"One or more records have been rejected due to {self._total} record errors in"
                f" total, and only showing the first three errors at most: [{first}]"
            )
        if self._total > RECORD_ERRORS_MAX:
            message += f"; listed are the first {RECORD_ERRORS_MAX} of {self._total} bad records"
        return KafkaError(self.code, message, record_errors=self._listed)


def _recompress(
    records: Buffer, attributes: int, wanted: Compression, level: int | None
) -> bytearray:
    plain = decompress(attributes & CODEC_MASK, memoryview(records)[HEADER_BYTES:])
    payload = compress(wanted, plain, level)
    batch = bytearray(memoryview(records)[:HEADER_BYTES]) + payload
    base_offset = BASE_OFFSET_AND_LENGTH.unpack_from(batch)[0]
    BASE_OFFSET_AND_LENGTH.pack_into(batch, 0, base_offset, len(batch) - LOG_OVERHEAD_BYTES)
    ATTRIBUTES.pack_into(batch, ATTRIBUTES_AT, (attributes & ~CODEC_MASK) | wanted)
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[CHECKED_FROM:]))
    return batch
