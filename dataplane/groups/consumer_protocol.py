"""The embedded protocol of consumer groups: what members of the classic protocol tell each other.

Subscriptions say which topics a member means, what it holds (v1+) and where it is (v3+);
assignments which partitions it gets. The coordinator reads them for what offsets may expire or be
deleted (KIP-211, KIP-496), and where members of both protocols share a group (KIP-848): there it
writes the assignments itself. Both begin with an int16 version; later versions only append.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from dataplane.model.ids import TopicPartition
from dataplane.wire.codec import VERSION_BYTES, decode, encode_versioned, leading_version
from dataplane.wire.errors import WireError
from dataplane.wire.schema import BYTES, INT32, STRING, Message, array, field, struct

if TYPE_CHECKING:
    from collections.abc import Iterable

PROTOCOL_TYPE: Final = "consumer"
_HIGHEST: Final = 3


@struct
class EmbeddedPartitions:
    topic: str = field(STRING, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class ConsumerProtocolSubscription(Message):
    VERSIONS: ClassVar[tuple[int, int]] = (0, _HIGHEST)

    topics: list[str] = field(array(STRING), "0+")
    user_data: bytes | None = field(BYTES, "0+", nullable="0+", default=None)
    owned_partitions: list[EmbeddedPartitions] = field(array(EmbeddedPartitions), "1+")
    generation_id: int = field(INT32, "2+", default=-1)
    rack_id: str | None = field(STRING, "3+", nullable="3+", default=None)


@struct
class _SubscribedTopics(Message):
    """What every version of a subscription begins with."""

    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)

    topics: list[str] = field(array(STRING), "0+")


@struct
class ConsumerProtocolAssignment(Message):
    VERSIONS: ClassVar[tuple[int, int]] = (0, _HIGHEST)

    assigned_partitions: list[EmbeddedPartitions] = field(array(EmbeddedPartitions), "0+")
    user_data: bytes | None = field(BYTES, "0+", nullable="0+", default=None)


class Subscription(NamedTuple):
    """`owned` is empty before version 1: such members give everything up before they join."""

    version: int
    topics: frozenset[str]
    owned: frozenset[TopicPartition]
    rack_id: str | None


class EmbeddedAssignment(NamedTuple):
    """`has_user_data`: an assignor of the client's own told it something besides."""

    partitions: frozenset[TopicPartition]
    has_user_data: bool


def _version(data: bytes) -> int:
    """The version to read, which no later one contradicts. WireError when it is none."""
    version = leading_version(data)
    if version < 0:
        raise WireError(f"embedded consumer protocol has version {version}")
    return min(version, _HIGHEST)


def _partitions(topics: Iterable[EmbeddedPartitions]) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(topic.topic, index) for topic in topics for index in topic.partitions
    )


def read_subscription(data: bytes) -> Subscription:
    """WireError when the bytes are something else: the protocol type is the client's own claim."""
    version = _version(data)
    found, _end = decode(ConsumerProtocolSubscription, version, data, VERSION_BYTES)
    return Subscription(
        version, frozenset(found.topics), _partitions(found.owned_partitions), found.rack_id
    )


def read_assignment(data: bytes) -> EmbeddedAssignment:
    """No bytes are nothing assigned. WireError as of `read_subscription`."""
    if not data:
        return EmbeddedAssignment(frozenset(), has_user_data=False)
    found, _end = decode(ConsumerProtocolAssignment, _version(data), data, VERSION_BYTES)
    return EmbeddedAssignment(_partitions(found.assigned_partitions), bool(found.user_data))


def write_assignment(partitions: Iterable[TopicPartition], version: int) -> bytes:
    """In the version of the member's subscription, in order."""
    by_topic: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        by_topic.setdefault(topic, []).append(index)
    listed = [EmbeddedPartitions(topic=name, partitions=own) for name, own in by_topic.items()]
    return encode_versioned(ConsumerProtocolAssignment(assigned_partitions=listed), version)


def subscribed_topics(subscription: bytes) -> frozenset[str]:
    """Topics of one subscription, reading no further. WireError as of `read_subscription`."""
    _version(subscription)
    found, _end = decode(_SubscribedTopics, 0, subscription, VERSION_BYTES)
    return frozenset(found.topics)


def topics_of_all(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """The union over members; None when one of them cannot be read (then nothing may expire)."""
    topics: frozenset[str] = frozenset()
    try:
        for subscription in subscriptions:
            topics |= subscribed_topics(subscription)
    except ValueError:
        return None
    return topics
