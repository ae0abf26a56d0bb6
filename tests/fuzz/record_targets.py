"""Record batches as producers send them: parsed, decompressed, appended; and coordinators' records."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from dataplane.groups.records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    decode_group_value,
    decode_key,
    decode_offset_value,
)
from dataplane.log.config import LogConfig
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.batch_layout import CHECKED_FROM, CRC, CRC_AT, HEADER_BYTES, LENGTH_MIN
from dataplane.wire.codec import encode_versioned
from dataplane.wire.compression import Compression, compress, decompress
from dataplane.wire.crc import crc32c
from dataplane.wire.errors import WireError
from dataplane.wire.record_batch import (
    NewRecord,
    build_batch,
    iter_batches,
    iter_records,
    validate_crc,
)
from tests.dataplane.log.support import NOW_MS, World
from tests.fuzz.target import Finding, Target

MIB = 1 << 20
DECOMPRESSED_BYTES_MAX = MIB
APPENDS_PER_LOG = 256
REFUSALS = frozenset(
    {
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_RECORD,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
        ErrorCode.INVALID_TXN_STATE,
    }
)
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


def record_targets() -> list[Target]:
    return [
        Target("(record batch)", _read_batches, _batches, allocation_bytes=8 * MIB),
        # A block of lz4 or zstd is expanded whole; the buffer it goes to grows up to the limit.
        Target("(decompression)", _decompress, _compressed, allocation_bytes=16 * MIB),
        Target("(produced batch)", _Log().append, _batches, allocation_bytes=16 * MIB),
        Target("(coordinator record)", _read_coordinator_record, _coordinator_records),
    ]


def sealed(data: bytearray) -> bytearray:
    """With a length and a checksum that fit, so that what is behind them is reached."""
    if len(data) >= HEADER_BYTES:
        struct.pack_into(">i", data, 8, len(data) - 12)
        with memoryview(data) as view, view[CHECKED_FROM:] as covered:
            checksum = crc32c(covered)
        CRC.pack_into(data, CRC_AT, checksum)
    return data


def _batches() -> list[bytes]:
    records = [
        NewRecord(b"key", b"value", (("name", b"content"), ("none", None)), NOW_MS),
        NewRecord(None, b"x" * 100, (), NOW_MS + 5),
        NewRecord(b"", None, (), NOW_MS - 5),
    ]
    found = [
        build_batch(records[:count], compression=codec) for codec in Compression for count in (1, 3)
    ]
    found.append(build_batch(records, producer_id=3, producer_epoch=1, base_sequence=0))
    found.append(
        build_batch(
            records, producer_id=3, producer_epoch=1, base_sequence=0, is_transactional=True
        )
    )
    marker = NewRecord(struct.pack(">hh", 0, 1), struct.pack(">hi", 0, 5), (), NOW_MS)
    found.append(
        build_batch(
            [marker], producer_id=3, producer_epoch=1, is_transactional=True, is_control=True
        )
    )
    return [bytes([how]) + bytes(each) for how in range(2) for each in found]


def _read_batches(data: bytes) -> bool:
    """The lowest bit of the first byte says whether length and checksum are made to fit."""
    if not data:
        return False
    batch = bytearray(data[1:])
    if data[0] & 1:
        sealed(batch)
    count = 0
    try:
        for position, header in iter_batches(batch):
            if position + header.size_bytes > len(batch) or header.batch_length < LENGTH_MIN:
                raise Finding("overrun", f"a batch of {header.size_bytes} bytes at {position}")
            validate_crc(batch, position, header)
            read = list(iter_records(batch, position))
            for record in read:
                _check_numbers(record)
            if read and not header.is_log_append_time:
                _check_built_again(read)
            count += 1
    except WireError:
        return False
    return count > 0


def _check_numbers(record: Any) -> None:
    """What answers and indexes must be able to hold."""
    for value in (record.offset, record.timestamp_ms):
        if not _INT64_MIN <= value <= _INT64_MAX:
            raise Finding("number", f"{value} does not fit 64 bits")


def _check_built_again(read: list[Any]) -> None:
    spread = [record.timestamp_ms - read[0].timestamp_ms for record in read]
    if not all(_INT64_MIN <= each <= _INT64_MAX for each in spread):
        return
    again = build_batch([NewRecord(r.key, r.value, r.headers, r.timestamp_ms) for r in read])
    for before, after in zip(read, iter_records(again), strict=True):
        if before[1:] != after[1:]:
            raise Finding("round trip", f"{before} came back as {after}")


def _compressed() -> list[bytes]:
    texts = [b"", b"a", b"abc" * 200, bytes(range(256))]
    return [
        bytes([codec]) + compress(codec, text)
        for codec in Compression
        if codec is not Compression.NONE
        for text in texts
    ]


def _decompress(data: bytes) -> bool:
    if not data:
        return False
    codec = data[0] % 6
    try:
        plain = decompress(codec, data[1:], DECOMPRESSED_BYTES_MAX)
    except WireError:
        return False
    if codec and len(plain) > DECOMPRESSED_BYTES_MAX:
        raise Finding("bomb", f"{len(data)} bytes became {len(plain)}")
    return True


class _Log:
    """A real log in memory, in each of several configurations, that is given every input as leader."""

    CONFIGS = (
        LogConfig(),
        LogConfig(compacts=True),
        LogConfig(timestamp_before_max_ms=1000, timestamp_after_max_ms=1000),
        LogConfig(compression_type="zstd"),
        LogConfig(compression_type="uncompressed", stamps_append_time=True),
    )

    def __init__(self) -> None:
        self._logs: dict[int, Any] = {}
        self._appends = 0

    def append(self, data: bytes) -> bool:
        """The lowest bit of the first byte seals, the others choose the configuration."""
        if not data:
            return False
        self._appends += 1
        if self._appends % APPENDS_PER_LOG == 0:
            self._logs.clear()
        which = (data[0] >> 1) % len(self.CONFIGS)
        if which not in self._logs:
            self._logs[which] = World(self.CONFIGS[which]).open()
        log = self._logs[which]
        batch = bytearray(data[1:])
        if data[0] & 1:
            sealed(batch)
        end = log.log_end_offset
        try:
            log.append_as_leader(batch, 0, now_ms=NOW_MS, origin="transaction")
        except KafkaError as error:
            if error.code not in REFUSALS:
                raise Finding("refusal", f"{error.code.name}: {error.message}") from error
            if log.log_end_offset != end:
                raise Finding("append", f"refused, and the log grew from {end}") from error
            return False
        if log.log_end_offset < end:
            raise Finding("append", f"the log's end went back from {end}")
        if log.log_end_offset > end:
            self._check_read(log, end)
        return True

    def _check_read(self, log: Any, offset: int) -> None:
        """What was taken is given out from where it was put."""
        data = log.read(offset, MIB, log.log_end_offset).read()
        position, header = next(iter_batches(data), (0, None))
        if header is None or header.base_offset != offset or position != 0:
            raise Finding("append", f"what was appended at {offset} is not read there")
        if header.next_offset != log.log_end_offset or not validate_crc(data, 0, header):
            raise Finding("append", f"what was appended at {offset} is read as {header}")


_READERS: tuple[Callable[[bytes], Any], ...] = (
    decode_key,
    decode_offset_value,
    decode_group_value,
)


def _read_coordinator_record(data: bytes) -> bool:
    if not data:
        return False
    try:
        return _READERS[data[0] % len(_READERS)](data[1:]) is not None
    except WireError:
        return False


def _coordinator_records() -> list[bytes]:
    keys = [
        encode_versioned(OffsetCommitKey(group="g", topic="t", partition=3), 1),
        encode_versioned(GroupMetadataKey(group="g"), 2),
    ]
    offset = OffsetCommitValue(offset=5, leader_epoch=2, metadata="m", commit_timestamp_ms=NOW_MS)
    member = MemberMetadata(
        member_id="m", client_id="c", client_host="h", subscription=b"s", assignment=b"a"
    )
    group = GroupMetadataValue(
        protocol_type="consumer", generation=2, protocol="range", leader="m", members=[member]
    )
    return [
        *(b"\0" + key for key in keys),
        *(b"\1" + encode_versioned(offset, version) for version in range(5)),
        *(b"\2" + encode_versioned(group, version) for version in range(5)),
    ]
