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
_DIRECTORY_IDS_FROM = 17
_UUID_BYTES = 16
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
    """[replica id to 14], max wait, min bytes, [max bytes 3+], [isolation level 4+], [session 7+],
    and to 11 the number of topics.
    """
    return struct.Struct(
        ">"
        + ("i" if version < _REPLICA_STATE_FROM else "")
        + "ii"
        + ("i" if version >= 3 else "")
        + ("b" if version >= 4 else "")
        + "ii" * (version >= 7)
        + ("i" if version < _FLEXIBLE_FROM else "")
    )


_HEADS = [_make_head(version) for version in range(18)]
# index, [leader epoch 9+], fetch offset, [last fetched epoch 12+], [log start offset 5+], max bytes
_PARTITION_V0 = struct.Struct(">iqi").unpack_from
_PARTITION_V5 = struct.Struct(">iqqi").unpack_from
_PARTITION_V9 = struct.Struct(">iiqqi").unpack_from
_PARTITION_V12 = struct.Struct(">iiqiqi").unpack_from


def parse_fetch(version: int, buf: memoryview, pos: int = 0) -> FetchParts:
    """Read the body of a Fetch request of version 0 to 17. Raises WireError."""
    try:
        return _parse(version, buf, pos)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError(f"Fetch v{version}: {error}") from error


def _parse(  # noqa: PLR0912 - one pass with few calls: all fetches of most clients come through it
    version: int, buf: memoryview, pos: int
) -> FetchParts:
    head = _HEADS[version]
    values = head.unpack_from(buf, pos)
    pos += head.size
    if version >= _FLEXIBLE_FROM:
        return _parse_flexible(version, values, buf, pos)
    session_id, session_epoch = 0, -1
    if version >= 7:
        (
            replica_id,
            max_wait_ms,
            min_bytes,
            max_bytes,
            isolation,
            session_id,
            session_epoch,
            count,
        ) = values
    else:
        replica_id, max_wait_ms, min_bytes = values[:3]
        max_bytes = values[3] if version >= 3 else _INT32_MAX
        isolation = values[4] if version >= 4 else 0
        count = values[-1]
    size = len(buf)
    if not 0 <= count <= size - pos:
        raise too_long("array", count)
    topics: list[tuple[TopicKey, list[FetchedFrom]]] = []
    for _ in range(count):
        name, pos = _read_string(buf, pos, False)
        (partition_count,) = _I(buf, pos)
        pos += 4
        if not 0 <= partition_count <= size - pos:
            raise too_long("array", partition_count)
        partitions = []
        if version >= 9:
            for _ in range(partition_count):
                index, epoch, offset, start, limit = _PARTITION_V9(buf, pos)
                pos += 28
                partitions.append(FetchedFrom(index, offset, limit, epoch, -1, start))
        else:
            pos = _read_old_partitions(version, buf, pos, partition_count, partitions)
        topics.append((name, partitions))
    forgotten: list[tuple[TopicKey, list[int]]] = []
    rack_id = ""
    if version >= 7:
        if _I(buf, pos)[0]:
            forgotten, pos = _read_forgotten(version, buf, pos)
        else:
            pos += 4
    if version >= 11:
        rack_id, pos = _read_string(buf, pos, False)
    return FetchParts(
        replica_id,
        -1,
        max_wait_ms,
        min_bytes,
        max_bytes,
        isolation,
        session_id,
        session_epoch,
        topics,
        forgotten,
        rack_id,
        None,
    )


def _read_old_partitions(
    version: int, buf: memoryview, pos: int, count: int, partitions: list[FetchedFrom]
) -> int:
    """Those of versions 0 to 8, which have no leader epoch."""
    for _ in range(count):
        if version >= 5:
            index, offset, start, limit = _PARTITION_V5(buf, pos)
            pos += 24
            partitions.append(FetchedFrom(index, offset, limit, -1, -1, start))
        else:
            index, offset, limit = _PARTITION_V0(buf, pos)
            pos += 16
            partitions.append(FetchedFrom(index, offset, limit))
    return pos


def _parse_flexible(version: int, values: tuple[int, ...], buf: memoryview, pos: int) -> FetchParts:
    replica_id = values[0] if version < _REPLICA_STATE_FROM else -1
    max_wait_ms, min_bytes, max_bytes, isolation, session_id, session_epoch = values[-6:]
    size = len(buf)
    count, pos = _read_count(buf, pos)
    topics: list[tuple[TopicKey, list[FetchedFrom]]] = []
    for _ in range(count):
        topic, pos = _read_topic(version, buf, pos)
        partition_count, pos = _read_count(buf, pos)
        partitions = []
        for _ in range(partition_count):
            index, epoch, offset, fetched, start, limit = _PARTITION_V12(buf, pos)
            pos += 32
            pos = pos + 1 if buf[pos] == 0 else _skip_partition_tags(version, buf, pos)
            partitions.append(FetchedFrom(index, offset, limit, epoch, fetched, start))
        pos = pos + 1 if buf[pos] == 0 else skip_tags(buf, pos, size)
        topics.append((topic, partitions))
    forgotten, pos = _read_forgotten(version, buf, pos)
    rack_id, pos = _read_string(buf, pos, True)
    replica_epoch, cluster_id = -1, None
    if buf[pos]:
        replica_id, replica_epoch, cluster_id = _read_tags(version, buf, pos, replica_id)
    return FetchParts(
        replica_id,
        replica_epoch,
        max_wait_ms,
        min_bytes,
        max_bytes,
        isolation,
        session_id,
        session_epoch,
        topics,
        forgotten,
        rack_id,
        cluster_id,
    )


def _skip_partition_tags(version: int, buf: memoryview, pos: int) -> int:
    """Skip them; the directory's id, which nothing here asks for, has to be one."""
    end = skip_tags(buf, pos, len(buf))
    if version >= _DIRECTORY_IDS_FROM:
        count, pos = read_uvarint(buf, pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            length, pos = read_uvarint(buf, pos)
            if tag == 0 and length != _UUID_BYTES:
                raise WireError("replica_directory_id does not fill its tag")
            pos += length
    return end


def _read_count(buf: memoryview, pos: int) -> tuple[int, int]:
    """Of a compact array."""
    count = buf[pos]
    pos += 1
    if count > 127:  # more than one byte of a varint
        count, pos = read_uvarint(buf, pos - 1)
    count -= 1
    if not 0 <= count <= len(buf) - pos:
        raise too_long("array", count)
    return count, pos


def _read_string(buf: memoryview, pos: int, flexible: bool) -> tuple[str, int]:
    if flexible:
        length, pos = read_uvarint(buf, pos)
        length -= 1
    else:
        (length,) = _H(buf, pos)
        pos += 2
    end = pos + length
    if not pos <= end <= len(buf):
        raise too_long("string", length)
    return str(buf[pos:end], "utf-8"), end


def _read_topic(version: int, buf: memoryview, pos: int) -> tuple[TopicKey, int]:
    if version < _TOPIC_IDS_FROM:
        return _read_string(buf, pos, version >= _FLEXIBLE_FROM)
    end = pos + 16
    if end > len(buf):
        raise too_long("topic id", 16)
    return uuid_from_bytes(bytes(buf[pos:end])), end


def _read_forgotten(
    version: int, buf: memoryview, pos: int
) -> tuple[list[tuple[TopicKey, list[int]]], int]:
    flexible = version >= _FLEXIBLE_FROM
    count, pos = _read_any_count(buf, pos, flexible)
    forgotten = []
    for _ in range(count):
        topic, pos = _read_topic(version, buf, pos)
        partition_count, pos = _read_any_count(buf, pos, flexible)
        partitions, pos = read_fixed_array(buf, pos, partition_count, "i", 4)
        if flexible:
            pos = skip_tags(buf, pos, len(buf))
        forgotten.append((topic, partitions))
    return forgotten, pos


def _read_any_count(buf: memoryview, pos: int, flexible: bool) -> tuple[int, int]:
    if flexible:
        return _read_count(buf, pos)
    (count,) = _I(buf, pos)
    if not 0 <= count <= len(buf) - pos - 4:
        raise too_long("array", count)
    return count, pos + 4


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
        if tag == 0:
            size, after = read_uvarint(buf, pos)  # null may be written longer than it need be
            if size:
                cluster_id, pos = _read_string(buf, pos, True)
            else:
                cluster_id, pos = None, after
        elif tag == 1 and version >= _REPLICA_STATE_FROM:
            replica_id, replica_epoch = _REPLICA_STATE.unpack_from(buf, pos)
            pos = skip_tags(buf, pos + _REPLICA_STATE.size, len(buf))
        else:
            pos = end
        if pos != end:
            raise WireError(f"tagged field {tag} does not fill its length")
    return replica_id, replica_epoch, cluster_id
