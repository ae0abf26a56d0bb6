"""The embedded protocol of consumer groups: which topics a member subscribes to.

The coordinator reads subscriptions for two things only: offsets of subscribed topics do not expire
(KIP-211) and cannot be deleted by OffsetDelete (KIP-496).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from dataplane.wire.codec import VERSION_BYTES, decode, leading_version
from dataplane.wire.errors import WireError
from dataplane.wire.schema import STRING, Message, array, field, struct

if TYPE_CHECKING:
    from collections.abc import Iterable

PROTOCOL_TYPE: Final = "consumer"


@struct
class ConsumerProtocolSubscription(Message):
    """What every version of a subscription begins with; the coordinator reads no further."""

    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)

    topics: list[str] = field(array(STRING), "0+")


def subscribed_topics(subscription: bytes) -> frozenset[str]:
    """Topics of one subscription (int16 version, then topics in all versions).

    WireError when the bytes are something else: the protocol type is the client's own claim.
    """
    version = leading_version(subscription)
    if version < 0:
        raise WireError(f"subscription has version {version}")
    found, _end = decode(ConsumerProtocolSubscription, 0, subscription, VERSION_BYTES)
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
