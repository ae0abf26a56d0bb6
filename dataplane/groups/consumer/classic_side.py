"""What a consumer group keeps of a member that speaks the classic protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataplane.groups.consumer.records import ClassicMember, ClassicProtocol
from dataplane.groups.consumer_protocol import Subscription, read_subscription, write_assignment
from dataplane.groups.requests import Protocol
from dataplane.wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.model.ids import TopicPartition


class ClassicSide(NamedTuple):
    """Kafka's ClassicMemberMetadata. Protocols are in the member's order; there is at least one."""

    session_timeout_ms: int
    protocols: tuple[Protocol, ...]

    @property
    def protocol_name(self) -> str:
        """Assignors do not matter here: the member is told that its first one was chosen."""
        return self.protocols[0].name

    @property
    def subscription(self) -> Subscription:
        """Of its first protocol. WireError when that is malformed: such a member is not let in."""
        return read_subscription(self.protocols[0].metadata)

    def assignment(self, partitions: Iterable[TopicPartition]) -> bytes:
        """What SyncGroup hands to the member, in the version of its subscription."""
        try:
            version = self.subscription.version
        except WireError:  # in a log that others wrote
            version = 0
        return write_assignment(partitions, version)

    def to_value(self) -> ClassicMember:
        return ClassicMember(
            session_timeout_ms=self.session_timeout_ms,
            supported_protocols=[
                ClassicProtocol(name=each.name, metadata=each.metadata) for each in self.protocols
            ],
        )

    @classmethod
    def from_value(cls, value: ClassicMember | None) -> ClassicSide | None:
        """None for a member of the new protocol: without protocols there is nothing to speak."""
        if value is None or not value.supported_protocols:
            return None
        protocols = (Protocol(each.name, each.metadata) for each in value.supported_protocols)
        return cls(value.session_timeout_ms, tuple(protocols))
