"""Who leads instead: hints that save a client its Metadata round trip (KIP-951)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.wire.fragments import NodeEndpoint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.broker.context import RequestContext

HINTED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def current_leader(context: RequestContext, topic: str, index: int) -> tuple[int, int] | None:
    """(leader id, leader epoch) as this broker knows it."""
    state = context.broker.metadata_cache.image.partition(topic, index)
    return (state.leader, state.leader_epoch) if state is not None else None


def endpoints(
    context: RequestContext, leaders: Iterable[tuple[int, int] | None]
) -> list[NodeEndpoint]:
    """Where the hinted leaders listen, under the listener that the client uses."""
    brokers = context.broker.metadata_cache.image.brokers
    found: dict[int, NodeEndpoint] = {}
    for leader in leaders:
        broker = brokers.get(leader[0]) if leader is not None else None
        if broker is None:
            continue
        endpoint = broker.listeners.get(context.connection.listener_name)
        if endpoint is not None:
            found[broker.id] = NodeEndpoint(broker.id, endpoint.host, endpoint.port, broker.rack)
    return list(found.values())
