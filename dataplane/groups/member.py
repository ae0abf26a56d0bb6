"""One member of a classic group, as the coordinator sees it now."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.groups.records import MemberMetadata
from dataplane.groups.requests import Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataplane.groups.outcome import Ticket


@dataclasses.dataclass(slots=True, kw_only=True)
class Member:
    """`join_ticket` and `sync_ticket` are set while a request of the member is parked.

    `is_new` holds from the first join until the first rebalance it takes part in completes: such
    a member has no id yet, so it cannot send heartbeats.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[Protocol, ...]
    assignment: bytes = b""
    join_ticket: Ticket | None = None
    sync_ticket: Ticket | None = None
    is_new: bool = False

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def protocol_names(self) -> frozenset[str]:
        return frozenset(protocol.name for protocol in self.protocols)

    def metadata_for(self, protocol_name: str | None) -> bytes:
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        return b""

    def vote(self, candidates: Collection[str]) -> str:
        """The member's first choice among the candidates, which it supports all."""
        return next(protocol.name for protocol in self.protocols if protocol.name in candidates)

    def to_value(self, protocol_name: str | None, assignment: bytes) -> MemberMetadata:
        return MemberMetadata(
            member_id=self.member_id,
            group_instance_id=self.group_instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            session_timeout_ms=self.session_timeout_ms,
            subscription=self.metadata_for(protocol_name),
            assignment=assignment,
        )

    @classmethod
    def from_value(cls, value: MemberMetadata, protocol_name: str | None) -> Member:
        """A member read back from the log: it supports only the protocol that was chosen then."""
        return cls(
            member_id=value.member_id,
            group_instance_id=value.group_instance_id,
            client_id=value.client_id,
            client_host=value.client_host,
            session_timeout_ms=value.session_timeout_ms,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            protocols=(Protocol(protocol_name or "", value.subscription),),
            assignment=value.assignment,
        )
