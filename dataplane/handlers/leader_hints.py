"""Who leads instead: hints that save a client its Metadata round trip (KIP-951)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.wire.fragments import NodeEndpoint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.broker.context import RequestContext

HINTED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def current_leader(context: RequestContext, topic: str, index: int) -> tuple[int, int] | None:
    """(leader id, leader epoch) as this broker knows it.

    Its replica's own role, where that is newer than the metadata: the controller says LeaderAndIsr
    first, and whoever waited here is answered before UpdateMetadata has come. A hint of before
    would send a client to look for the leader with its own backoff.
    """
    broker = context.broker
    known = broker.metadata_cache.image.partition(topic, index)
    replica = broker.replica_manager.get(TopicPartition(topic, index))
    own = replica.state if replica is not None else None
    if own is not None and (known is None or own.leader_epoch > known.leader_epoch):
        known = own
    return (known.leader, known.leader_epoch) if known is not None else None


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
