"""Fetch (key 1) requests, read by hand: versions 0 to 17, by topic name to 12, by topic id from 13.

The generic codec reads the same bytes; tests hold the two against each other.
"""

from __future__ import annotations

import struct
import uuid
from typing import NamedTuple

from dataplane.wire.errors import WireError
from dataplane.wire.fragments import uuid_from_bytes
from dataplane.wire.primitives import read_fixed_array, read_uvarint, skip_tags, too_long

TopicKey = str | uuid.UUID

_FLEXIBLE_FROM = 12
_TOPIC_IDS_FROM = 13
_REPLICA_STATE_FROM = 15
_H = struct.Struct(">h").unpack_from
_I = struct.Struct(">i").unpack_from
_REPLICA_STATE = struct.Struct(">iq")
_INT32_MAX = 0x7FFFFFFF


class FetchedFrom(NamedTuple):
    """One partition of a request; -1 where the version does not say."""

    partition: int
    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int = -1
    last_fetched_epoch: int = -1
    log_start_offset: int = -1


class FetchParts(NamedTuple):
    """A parsed Fetch request. `topics` is [(name or id, [FetchedFrom])]."""

    replica_id: int
    replica_epoch: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    topics: list[tuple[TopicKey, list[FetchedFrom]]]
    forgotten: list[tuple[TopicKey, list[int]]]
    rack_id: str
    cluster_id: str | None


def _make_head(version: int) -> struct.Struct:
    codes = ">" + ("i" if version < _REPLICA_STATE_FROM else "") + "ii"
    return struct.Struct(
        codes
        + ("i" if version >= 3 else "")
        + ("b" if version >= 4 else "")
        + "ii" * (version >= 7)
    )


_HEADS = [_make_head(version) for version in range(18)]
# index, [leader epoch 9+], fetch offset, [last fetched epoch 12+], [log start offset 5+], max bytes
_PARTITION_V0 = struct.Struct(">iqi")
_PARTITION_V5 = struct.Struct(">iqqi")
_PARTITION_V9 = struct.Struct(">iiqqi")
_PARTITION_V12 = struct.Struct(">iiqiqi")


def parse_fetch(version: int, buf: memoryview, pos: int = 0) -> FetchParts:
    """Read the body of a Fetch request of version 0 to 17. Raises WireError."""
    try:
        return _parse(version, buf, pos)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError(f"Fetch v{version}: {error}") from error


def _parse(version: int, buf: memoryview, pos: int) -> FetchParts:
    head = _HEADS[version]
    values = list(head.unpack_from(buf, pos))
    pos += head.size
    replica_id = values.pop(0) if version < _REPLICA_STATE_FROM else -1
    max_wait_ms, min_bytes = values[:2]
    max_bytes = values[2] if version >= 3 else _INT32_MAX
    isolation_level = values[3] if version >= 4 else 0
    session_id, session_epoch = (values[4], values[5]) if version >= 7 else (0, -1)
    flexible = version >= _FLEXIBLE_FROM
    count, pos = _read_count(buf, pos, flexible)
    topics = []
    for _ in range(count):
        topic, pos = _read_topic(version, buf, pos)
        partitions, pos = _read_partitions(version, buf, pos)
        if flexible:
            pos = pos + 1 if buf[pos] == 0 else skip_tags(buf, pos, len(buf))
        topics.append((topic, partitions))
    forgotten: list[tuple[TopicKey, list[int]]] = []
    rack_id, cluster_id, replica_epoch = "", None, -1
    if version >= 7:
        forgotten, pos = _read_forgotten(version, buf, pos)
    if version >= 11:
        rack_id, pos = _read_string(buf, pos, flexible)
    if flexible and buf[pos]:
        replica_id, replica_epoch, cluster_id = _read_tags(version, buf, pos, replica_id)
    return FetchParts(
        replica_id,
        replica_epoch,
        max_wait_ms,
        min_bytes,
        max_bytes,
        isolation_level,
        session_id,
        session_epoch,
        topics,
        forgotten,
        rack_id,
        cluster_id,
    )


def _read_count(buf: memoryview, pos: int, flexible: bool) -> tuple[int, int]:
    if flexible:
        count, pos = read_uvarint(buf, pos)
        count -= 1
    else:
        (count,) = _I(buf, pos)
        pos += 4
    if count > len(buf) - pos:
        raise too_long("array", count)
    return count, pos


def _read_string(buf: memoryview, pos: int, flexible: bool) -> tuple[str, int]:
    if flexible:
        length, pos = read_uvarint(buf, pos)
        length -= 1
    else:
        (length,) = _H(buf, pos)
        pos += 2
    if not 0 <= length <= len(buf) - pos:
        raise too_long("string", length)
    return str(buf[pos : pos + length], "utf-8"), pos + length


def _read_topic(version: int, buf: memoryview, pos: int) -> tuple[TopicKey, int]:
    if version < _TOPIC_IDS_FROM:
        return _read_string(buf, pos, version >= _FLEXIBLE_FROM)
    if pos + 16 > len(buf):
        raise too_long("topic id", 16)
    return uuid_from_bytes(bytes(buf[pos : pos + 16])), pos + 16


def _read_partitions(version: int, buf: memoryview, pos: int) -> tuple[list[FetchedFrom], int]:
    partitions: list[FetchedFrom] = []
    if version >= _FLEXIBLE_FROM:
        count, pos = _read_count(buf, pos, True)
        for _ in range(count):
            index, epoch, offset, fetched, start, limit = _PARTITION_V12.unpack_from(buf, pos)
            pos += 32
            pos = pos + 1 if buf[pos] == 0 else skip_tags(buf, pos, len(buf))
            partitions.append(FetchedFrom(index, offset, limit, epoch, fetched, start))
        return partitions, pos
    count, pos = _read_count(buf, pos, False)
    for _ in range(count):
        if version >= 9:
            index, epoch, offset, start, limit = _PARTITION_V9.unpack_from(buf, pos)
            pos += 28
            partitions.append(FetchedFrom(index, offset, limit, epoch, -1, start))
        elif version >= 5:
            index, offset, start, limit = _PARTITION_V5.unpack_from(buf, pos)
            pos += 24
            partitions.append(FetchedFrom(index, offset, limit, -1, -1, start))
        else:
            index, offset, limit = _PARTITION_V0.unpack_from(buf, pos)
            pos += 16
            partitions.append(FetchedFrom(index, offset, limit))
    return partitions, pos


def _read_forgotten(
    version: int, buf: memoryview, pos: int
) -> tuple[list[tuple[TopicKey, list[int]]], int]:
    flexible = version >= _FLEXIBLE_FROM
    count, pos = _read_count(buf, pos, flexible)
    forgotten = []
    for _ in range(count):
        topic, pos = _read_topic(version, buf, pos)
        partition_count, pos = _read_count(buf, pos, flexible)
        partitions, pos = read_fixed_array(buf, pos, partition_count, "i", 4)
        if flexible:
            pos = skip_tags(buf, pos, len(buf))
        forgotten.append((topic, partitions))
    return forgotten, pos


def _read_tags(
    version: int, buf: memoryview, pos: int, replica_id: int
) -> tuple[int, int, str | None]:
    replica_epoch, cluster_id = -1, None
    count, pos = read_uvarint(buf, pos)
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        length, pos = read_uvarint(buf, pos)
        end = pos + length
        if end > len(buf):
            raise too_long("tagged field", length)
        if tag == 0 and buf[pos]:  # 0 is null
            cluster_id, _ = _read_string(buf[:end], pos, True)
        elif tag == 1 and version >= _REPLICA_STATE_FROM:
            replica_id, replica_epoch = _REPLICA_STATE.unpack_from(buf[:end], pos)
        pos = end
    return replica_id, replica_epoch, cluster_id
