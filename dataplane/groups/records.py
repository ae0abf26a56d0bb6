"""The records of `__consumer_offsets`, byte for byte Kafka's (versions of a 3.9 broker).

Every key and value begins with its int16 version. Keys of version 0 and 1 are offsets', of version
2 a group's. Offsets are written in version 3 (version 1 when an explicit expiry is stored), groups
in version 3; every older version is read, and the flexible version 4 of both values too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from dataplane.wire.codec import encode_versioned, leading_version, versioned_decoder
from dataplane.wire.errors import WireError
from dataplane.wire.schema import BYTES, INT32, INT64, STRING, Message, array, field, struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.model.ids import TopicPartition

NO_LEADER_EPOCH: Final = -1
NO_TIMESTAMP: Final = -1

OFFSET_KEY_VERSION: Final = 1
_GROUP_KEY_VERSION: Final = 2
OFFSET_VALUE_VERSION: Final = 3
_EXPIRING_OFFSET_VALUE_VERSION: Final = 1
_GROUP_VALUE_VERSION: Final = 3


@struct
class OffsetCommitKey(Message):
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)

    group: str = field(STRING, "0+")
    topic: str = field(STRING, "0+")
    partition: int = field(INT32, "0+")


@struct
class OffsetCommitValue(Message):
    """One committed offset. `expire_timestamp_ms` is only set by clients that ask for retention."""

    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 4

    offset: int = field(INT64, "0+")
    leader_epoch: int = field(INT32, "3+", default=NO_LEADER_EPOCH)
    metadata: str = field(STRING, "0+")
    commit_timestamp_ms: int = field(INT64, "0+")
    expire_timestamp_ms: int = field(INT64, "1", default=NO_TIMESTAMP)


@struct
class GroupMetadataKey(Message):
    VERSIONS: ClassVar[tuple[int, int]] = (2, 2)

    group: str = field(STRING, "2+")


@struct
class MemberMetadata:
    member_id: str = field(STRING, "0+")
    group_instance_id: str | None = field(STRING, "3+", nullable="3+", default=None)
    client_id: str = field(STRING, "0+")
    client_host: str = field(STRING, "0+")
    rebalance_timeout_ms: int = field(INT32, "1+", default=-1)
    session_timeout_ms: int = field(INT32, "0+")
    subscription: bytes = field(BYTES, "0+")
    assignment: bytes = field(BYTES, "0+")


@struct
class GroupMetadataValue(Message):
    """A group as of its last stable generation, or empty."""

    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 4

    protocol_type: str = field(STRING, "0+")
    generation: int = field(INT32, "0+")
    protocol: str | None = field(STRING, "0+", nullable="0+", default=None)
    leader: str | None = field(STRING, "0+", nullable="0+", default=None)
    current_state_timestamp_ms: int = field(INT64, "2+", default=NO_TIMESTAMP)
    members: list[MemberMetadata] = field(array(MemberMetadata), "0+")


class CoordinatorRecord(NamedTuple):
    """What is appended: `value` None is a tombstone."""

    key: bytes
    value: bytes | None


class OffsetRecord(NamedTuple):
    """One committed offset as it is appended, and what it says: nobody has to decode it again."""

    key: bytes
    value: bytes | None
    group_id: str
    partition: TopicPartition
    stored: OffsetCommitValue


StoredRecord = CoordinatorRecord | OffsetRecord


_decode_known_key: Callable[[memoryview | bytes], OffsetCommitKey | GroupMetadataKey] = (
    versioned_decoder(OffsetCommitKey, GroupMetadataKey)
)
_decode_group_value = versioned_decoder(GroupMetadataValue)


def decode_key(data: bytes | memoryview) -> OffsetCommitKey | GroupMetadataKey | None:
    """The key; None for the versions of later protocols, which are skipped on replay.

    WireError when the bytes are no key of their version.
    """
    try:
        return _decode_known_key(data)
    except WireError:
        if 0 <= leading_version(data) <= _GROUP_KEY_VERSION:
            raise
        return None


decode_offset_value = versioned_decoder(OffsetCommitValue)
"""WireError for a version this release does not know, or bytes not of their version."""


def decode_group_value(data: bytes | memoryview) -> GroupMetadataValue:
    """WireError for a version this release does not know, or bytes not of their version."""
    value = _decode_group_value(data)
    for member in value.members:
        if member.rebalance_timeout_ms < 0:  # version 0 knows one timeout for both
            member.rebalance_timeout_ms = member.session_timeout_ms
    return value


def offset_record(key: OffsetCommitKey, value: OffsetCommitValue) -> CoordinatorRecord:
    expires = value.expire_timestamp_ms != NO_TIMESTAMP
    version = _EXPIRING_OFFSET_VALUE_VERSION if expires else OFFSET_VALUE_VERSION
    return CoordinatorRecord(
        encode_versioned(key, OFFSET_KEY_VERSION), encode_versioned(value, version)
    )


def offset_tombstone(key: OffsetCommitKey) -> CoordinatorRecord:
    return CoordinatorRecord(encode_versioned(key, OFFSET_KEY_VERSION), None)


def group_record(group_id: str, value: GroupMetadataValue) -> CoordinatorRecord:
    return CoordinatorRecord(_group_key(group_id), encode_versioned(value, _GROUP_VALUE_VERSION))


def group_tombstone(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(_group_key(group_id), None)


def _group_key(group_id: str) -> bytes:
    return encode_versioned(GroupMetadataKey(group=group_id), _GROUP_KEY_VERSION)
