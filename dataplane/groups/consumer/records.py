"""Consumer groups' records in `__consumer_offsets`, byte for byte Kafka's: keys 3 to 8.

3 the group's epoch, 4 the topics it is subscribed to, 5 a member, 6 the epoch of the target
assignment, 7 a member's part of it, 8 what a member has at present. Keys are not flexible, values
are, and have one version, 0.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, ClassVar, Final

from dataplane.groups.consumer.id_partition import Assignment, by_topic, of_topics
from dataplane.groups.records import CoordinatorRecord
from dataplane.wire.codec import encode_versioned, leading_version, versioned_decoder
from dataplane.wire.schema import (
    BYTES,
    INT8,
    INT32,
    STRING,
    UUID,
    Message,
    array,
    field,
    struct,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_VALUE_VERSION: Final = 0


@struct
class GroupEpochKey(Message):
    """Kafka's ConsumerGroupMetadataKey."""

    VERSIONS: ClassVar[tuple[int, int]] = (3, 3)

    group_id: str = field(STRING, "3")


@struct
class SubscribedTopicsKey(Message):
    """Kafka's ConsumerGroupPartitionMetadataKey."""

    VERSIONS: ClassVar[tuple[int, int]] = (4, 4)

    group_id: str = field(STRING, "4")


@struct
class MemberKey(Message):
    """Kafka's ConsumerGroupMemberMetadataKey."""

    VERSIONS: ClassVar[tuple[int, int]] = (5, 5)

    group_id: str = field(STRING, "5")
    member_id: str = field(STRING, "5")


@struct
class TargetEpochKey(Message):
    """Kafka's ConsumerGroupTargetAssignmentMetadataKey."""

    VERSIONS: ClassVar[tuple[int, int]] = (6, 6)

    group_id: str = field(STRING, "6")


@struct
class TargetKey(Message):
    """Kafka's ConsumerGroupTargetAssignmentMemberKey."""

    VERSIONS: ClassVar[tuple[int, int]] = (7, 7)

    group_id: str = field(STRING, "7")
    member_id: str = field(STRING, "7")


@struct
class CurrentKey(Message):
    """Kafka's ConsumerGroupCurrentMemberAssignmentKey."""

    VERSIONS: ClassVar[tuple[int, int]] = (8, 8)

    group_id: str = field(STRING, "8")
    member_id: str = field(STRING, "8")


ConsumerGroupKey = (
    GroupEpochKey | SubscribedTopicsKey | MemberKey | TargetEpochKey | TargetKey | CurrentKey
)


class _Value(Message):
    __slots__ = ()

    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0


@struct
class GroupEpochValue(_Value):
    epoch: int = field(INT32, "0+")


@struct
class PartitionRacks:
    partition: int = field(INT32, "0+")
    racks: list[str] = field(array(STRING), "0+")


@struct
class SubscribedTopic:
    topic_id: uuid.UUID = field(UUID, "0+")
    topic_name: str = field(STRING, "0+")
    num_partitions: int = field(INT32, "0+")
    partition_metadata: list[PartitionRacks] = field(array(PartitionRacks), "0+")


@struct
class SubscribedTopicsValue(_Value):
    topics: list[SubscribedTopic] = field(array(SubscribedTopic), "0+")


@struct
class ClassicProtocol:
    name: str = field(STRING, "0+")
    metadata: bytes = field(BYTES, "0+")


@struct
class ClassicMember:
    """Only of members that speak the classic protocol in a consumer group."""

    session_timeout_ms: int = field(INT32, "0+")
    supported_protocols: list[ClassicProtocol] = field(array(ClassicProtocol), "0+")


@struct
class MemberValue(_Value):
    instance_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    rack_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    client_id: str = field(STRING, "0+")
    client_host: str = field(STRING, "0+")
    subscribed_topic_names: list[str] = field(array(STRING), "0+")
    subscribed_topic_regex: str | None = field(STRING, "0+", nullable="0+", default=None)
    rebalance_timeout_ms: int = field(INT32, "0+", default=-1)
    server_assignor: str | None = field(STRING, "0+", nullable="0+", default=None)
    classic_member: ClassicMember | None = field(
        ClassicMember, "0+", nullable="0+", default=None, tag=0
    )


@struct
class TargetEpochValue(_Value):
    assignment_epoch: int = field(INT32, "0+")


@struct
class TopicPartitions:
    topic_id: uuid.UUID = field(UUID, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class TargetValue(_Value):
    topic_partitions: list[TopicPartitions] = field(array(TopicPartitions), "0+")


@struct
class CurrentValue(_Value):
    member_epoch: int = field(INT32, "0+")
    previous_member_epoch: int = field(INT32, "0+")
    state: int = field(INT8, "0+")
    assigned_partitions: list[TopicPartitions] = field(array(TopicPartitions), "0+")
    partitions_pending_revocation: list[TopicPartitions] = field(array(TopicPartitions), "0+")


ConsumerGroupValue = (
    GroupEpochValue
    | SubscribedTopicsValue
    | MemberValue
    | TargetEpochValue
    | TargetValue
    | CurrentValue
)

_VALUES: Final[dict[type, type]] = {
    GroupEpochKey: GroupEpochValue,
    SubscribedTopicsKey: SubscribedTopicsValue,
    MemberKey: MemberValue,
    TargetEpochKey: TargetEpochValue,
    TargetKey: TargetValue,
    CurrentKey: CurrentValue,
}
_KEY_VERSIONS: Final[dict[type, int]] = {
    key: version for version, key in enumerate(_VALUES, start=3)
}
_LOWEST, _HIGHEST = 3, 8

_decode_key: Callable[[memoryview | bytes], ConsumerGroupKey] = versioned_decoder(*_VALUES)
_DECODE_VALUE: Final[dict[type, Callable[[memoryview | bytes], Any]]] = {
    key: versioned_decoder(value) for key, value in _VALUES.items()
}


def decode(
    record: CoordinatorRecord,
) -> tuple[ConsumerGroupKey, ConsumerGroupValue | None] | None:
    """Key and value (None: a tombstone); None for a record that is no consumer group's.

    WireError when the bytes are not of their version.
    """
    if not _LOWEST <= leading_version(record.key) <= _HIGHEST:
        return None
    key = _decode_key(record.key)
    if record.value is None:
        return key, None
    return key, _DECODE_VALUE[type(key)](record.value)


def encode(key: ConsumerGroupKey, value: ConsumerGroupValue | None) -> CoordinatorRecord:
    """What is appended; a value of None is a tombstone."""
    return CoordinatorRecord(
        encode_versioned(key, _KEY_VERSIONS[type(key)]),
        None if value is None else encode_versioned(value, _VALUE_VERSION),
    )


def packed(partitions: Assignment) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic_id=topic_id, partitions=indexes)
        for topic_id, indexes in by_topic(partitions).items()
    ]


def unpacked(topics: Iterable[TopicPartitions]) -> Assignment:
    return of_topics((topic.topic_id, topic.partitions) for topic in topics)
