"""The records of `__consumer_offsets`, byte for byte Kafka's (versions of a 3.9 broker).

Keys: int16 version, then for 0 and 1 group, topic, partition; for 2 the group. Values: offsets are
written in version 3 (version 1 when an explicit expiry is stored), groups in version 3; every
older version is read, and the flexible version 4 of both too.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from dataplane.groups.cursor import Cursor, put_bytes, put_string

OFFSET_KEY_VERSION: Final = 1
GROUP_KEY_VERSION: Final = 2
NO_LEADER_EPOCH: Final = -1
NO_TIMESTAMP: Final = -1

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_VERSION_AND_LENGTH = struct.Struct(">hh")
_VALUE_V3_HEAD = struct.Struct(">hqih")


class OffsetCommitKey(NamedTuple):
    group_id: str
    topic: str
    partition: int


class GroupMetadataKey(NamedTuple):
    group_id: str


class OffsetCommitValue(NamedTuple):
    """One committed offset. `expire_timestamp_ms` is only set by clients that ask for retention."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int = NO_TIMESTAMP


class MemberMetadata(NamedTuple):
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class GroupMetadataValue(NamedTuple):
    """A group as of its last stable generation, or empty."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_timestamp_ms: int
    members: tuple[MemberMetadata, ...]


class Record(NamedTuple):
    """What is appended: `value` None is a tombstone."""

    key: bytes
    value: bytes | None


def encode_offset_key(group_id: str, topic: str, partition: int) -> bytes:
    out = bytearray(_INT16.pack(OFFSET_KEY_VERSION))
    put_string(out, group_id)
    put_string(out, topic)
    out += _INT32.pack(partition)
    return bytes(out)


def encode_group_key(group_id: str) -> bytes:
    out = bytearray(_INT16.pack(GROUP_KEY_VERSION))
    put_string(out, group_id)
    return bytes(out)


def decode_key(data: bytes | memoryview) -> OffsetCommitKey | GroupMetadataKey | None:
    """The key; None for the versions of later protocols, which are skipped on replay."""
    found = _decode_offset_key_fast(data) if len(data) > _VERSION_AND_LENGTH.size else None
    if found is not None:
        return found
    cursor = Cursor(data)
    version = cursor.int16()
    if version in (0, 1):
        return OffsetCommitKey(cursor.string(), cursor.string(), cursor.int32())
    if version == GROUP_KEY_VERSION:
        return GroupMetadataKey(cursor.string())
    return None


def _decode_offset_key_fast(data: bytes | memoryview) -> OffsetCommitKey | None:
    """Nearly every key of the topic, without a cursor: a coordinator loads millions of them.

    None sends the caller the long way, which says what is wrong.
    """
    version, group_length = _VERSION_AND_LENGTH.unpack_from(data)
    if version not in (0, 1) or group_length < 0:
        return None
    topic_at = 4 + group_length + 2
    try:
        (topic_length,) = _INT16.unpack_from(data, topic_at - 2)
        if topic_length < 0:
            return None
        (partition,) = _INT32.unpack_from(data, topic_at + topic_length)
    except struct.error:
        return None
    group_id = str(data[4 : topic_at - 2], "utf-8")
    return OffsetCommitKey(
        group_id, str(data[topic_at : topic_at + topic_length], "utf-8"), partition
    )


def encode_offset_value(value: OffsetCommitValue) -> bytes:
    explicit_expiry = value.expire_timestamp_ms != NO_TIMESTAMP
    out = bytearray(_INT16.pack(1 if explicit_expiry else 3))
    out += _INT64.pack(value.offset)
    if not explicit_expiry:
        out += _INT32.pack(value.leader_epoch)
    put_string(out, value.metadata)
    out += _INT64.pack(value.commit_timestamp_ms)
    if explicit_expiry:
        out += _INT64.pack(value.expire_timestamp_ms)
    return bytes(out)


def decode_offset_value(data: bytes | memoryview) -> OffsetCommitValue:
    """ValueError for a version this release does not know, or bytes that end too early."""
    found = _decode_offset_value_fast(data) if len(data) >= _VALUE_V3_HEAD.size else None
    if found is not None:
        return found
    cursor = Cursor(data)
    version = cursor.int16()
    _check_version("offset commit", version, 4)
    cursor.flexible = version >= 4
    offset = cursor.int64()
    leader_epoch = cursor.int32() if version >= 3 else NO_LEADER_EPOCH
    metadata = cursor.string()
    commit_timestamp_ms = cursor.int64()
    expire_timestamp_ms = cursor.int64() if version == 1 else NO_TIMESTAMP
    return OffsetCommitValue(
        offset, leader_epoch, metadata, commit_timestamp_ms, expire_timestamp_ms
    )


def _decode_offset_value_fast(data: bytes | memoryview) -> OffsetCommitValue | None:
    """Version 3, which is what is written now; None sends the caller the long way."""
    version, offset, leader_epoch, length = _VALUE_V3_HEAD.unpack_from(data)
    metadata_at = _VALUE_V3_HEAD.size
    if version != 3 or length < 0:
        return None
    try:
        (commit_timestamp_ms,) = _INT64.unpack_from(data, metadata_at + length)
    except struct.error:
        return None
    metadata = str(data[metadata_at : metadata_at + length], "utf-8") if length else ""
    return OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp_ms)


def encode_group_value(value: GroupMetadataValue) -> bytes:
    out = bytearray(_INT16.pack(3))
    put_string(out, value.protocol_type)
    out += _INT32.pack(value.generation)
    put_string(out, value.protocol)
    put_string(out, value.leader)
    out += _INT64.pack(value.state_timestamp_ms)
    out += _INT32.pack(len(value.members))
    for member in value.members:
        put_string(out, member.member_id)
        put_string(out, member.group_instance_id)
        put_string(out, member.client_id)
        put_string(out, member.client_host)
        out += _INT32.pack(member.rebalance_timeout_ms)
        out += _INT32.pack(member.session_timeout_ms)
        put_bytes(out, member.subscription)
        put_bytes(out, member.assignment)
    return bytes(out)


def decode_group_value(data: bytes | memoryview) -> GroupMetadataValue:
    """ValueError for a version this release does not know, or bytes that end too early."""
    cursor = Cursor(data)
    version = cursor.int16()
    _check_version("group metadata", version, 4)
    cursor.flexible = version >= 4
    protocol_type = cursor.string()
    generation = cursor.int32()
    protocol = cursor.nullable_string()
    leader = cursor.nullable_string()
    state_timestamp_ms = cursor.int64() if version >= 2 else NO_TIMESTAMP
    members = tuple(_decode_member(cursor, version) for _ in range(cursor.array_length()))
    return GroupMetadataValue(
        protocol_type, generation, protocol, leader, state_timestamp_ms, members
    )


def _decode_member(cursor: Cursor, version: int) -> MemberMetadata:
    member_id = cursor.string()
    group_instance_id = cursor.nullable_string() if version >= 3 else None
    client_id = cursor.string()
    client_host = cursor.string()
    rebalance_timeout_ms = cursor.int32() if version >= 1 else -1
    session_timeout_ms = cursor.int32()
    if rebalance_timeout_ms < 0:
        rebalance_timeout_ms = session_timeout_ms
    subscription = cursor.blob()
    assignment = cursor.blob()
    cursor.skip_tags()
    return MemberMetadata(
        member_id,
        group_instance_id,
        client_id,
        client_host,
        rebalance_timeout_ms,
        session_timeout_ms,
        subscription,
        assignment,
    )


def _check_version(what: str, version: int, highest: int) -> None:
    if not 0 <= version <= highest:
        raise ValueError(f"{what} value has version {version}, known are 0 to {highest}")


def offset_record(key: OffsetCommitKey, value: OffsetCommitValue) -> Record:
    return Record(encode_offset_key(*key), encode_offset_value(value))


def offset_tombstone(key: OffsetCommitKey) -> Record:
    return Record(encode_offset_key(*key), None)


def group_record(group_id: str, value: GroupMetadataValue) -> Record:
    return Record(encode_group_key(group_id), encode_group_value(value))


def group_tombstone(group_id: str) -> Record:
    return Record(encode_group_key(group_id), None)
