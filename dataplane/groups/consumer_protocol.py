"""The embedded protocol of consumer groups: which topics a member subscribes to.

The coordinator reads subscriptions for two things only: offsets of subscribed topics do not expire
(KIP-211) and cannot be deleted by OffsetDelete (KIP-496).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.groups.cursor import Cursor

if TYPE_CHECKING:
    from collections.abc import Iterable

PROTOCOL_TYPE: Final = "consumer"


def subscribed_topics(subscription: bytes) -> frozenset[str]:
    """Topics of one ConsumerProtocolSubscription (int16 version, then topics in all versions).

    ValueError when the bytes are something else: the protocol type is the client's own claim.
    """
    cursor = Cursor(subscription)
    version = cursor.int16()
    if version < 0:
        raise ValueError(f"subscription has version {version}")
    return frozenset(cursor.string() for _ in range(cursor.array_length()))


def topics_of_all(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """The union over members; None when one of them cannot be read (then nothing may expire)."""
    topics: frozenset[str] = frozenset()
    try:
        for subscription in subscriptions:
            topics |= subscribed_topics(subscription)
    except ValueError:
        return None
    return topics
