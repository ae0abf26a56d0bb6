"""Setting, renewing and removing the replication throttle of one operation."""

from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from controlplane.common.words import counted
from controlplane.gateway.errors import AcceptedRefusals
from controlplane.gateway.port import ClusterGateway
from controlplane.reassignments.models import ThrottleLease
from controlplane.reassignments.rules import Move

RATE_KEYS = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
REPLICA_KEYS = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)
LEASE = timedelta(minutes=5)


def throttle_set(
    gateway: ClusterGateway,
    *,
    operation_id: str,
    cluster_id: str,
    moves: Sequence[Move],
    bytes_per_s: int,
) -> ThrottleLease:
    """The lease row first: a crash between the two leaves a lease, never a lost throttle."""
    brokers = sorted({broker for move in moves for broker in (*move.before, *move.after)})
    topics = sorted({move.tp.topic for move in moves})
    lease, _ = ThrottleLease.objects.update_or_create(
        operation_id=operation_id,
        defaults={
            "cluster_id": cluster_id,
            "broker_ids": brokers,
            "topics": topics,
            "expires_at": timezone.now() + LEASE,
            "released_at": None,
        },
    )
    for broker in brokers:
        gateway.alter_broker_configs(broker, dict.fromkeys(RATE_KEYS, str(bytes_per_s)))
    for topic in topics:
        own = [move for move in moves if move.tp.topic == topic]
        gateway.alter_topic_configs(
            topic,
            {
                REPLICA_KEYS[0]: _replica_list(own, leaders=True),
                REPLICA_KEYS[1]: _replica_list(own, leaders=False),
            },
        )
    return lease


def throttle_renew(operation_id: str) -> None:
    ThrottleLease.objects.filter(operation_id=operation_id, released_at=None).update(
        expires_at=timezone.now() + LEASE
    )


def throttle_release(gateway: ClusterGateway, operation_id: str) -> str:
    """Take the throttle off every broker and topic; safe to repeat. Says what it did."""
    lease = ThrottleLease.objects.filter(operation_id=operation_id, released_at=None).first()
    if lease is None:
        return "no throttle was set"
    alive = {node.id for node in gateway.describe_cluster().brokers}
    away = [broker for broker in lease.broker_ids if broker not in alive]
    for broker in lease.broker_ids:
        if broker in alive:
            gateway.alter_broker_configs(broker, dict.fromkeys(RATE_KEYS))
    for topic in lease.topics:
        with AcceptedRefusals("UNKNOWN_TOPIC_OR_PARTITION"):
            gateway.alter_topic_configs(topic, dict.fromkeys(REPLICA_KEYS))
    if away:
        # The lease stays: beat takes the rate off these brokers once they are back.
        return f"removed; brokers {away} are away, their rate is removed when they return"
    ThrottleLease.objects.filter(pk=lease.pk).update(released_at=timezone.now())
    brokers, topics = counted(len(lease.broker_ids), "broker"), counted(len(lease.topics), "topic")
    return f"removed from {brokers} and {topics}"


def _replica_list(moves: Sequence[Move], *, leaders: bool) -> str:
    """`partition:broker,…`: sources on the leaders' side, new replicas on the followers'."""
    return ",".join(
        f"{move.tp.partition}:{broker}"
        for move in moves
        for broker in (move.before if leaders else move.adding)
    )
