"""The limit on replication of one operation: a lease that is set, checked, changed and removed.

The row is written first: a crash between the two leaves a lease, never a limit that nobody removes.
Who keeps it renews the lease and looks whether every broker and topic still has it; what is missing
(after an outage in which the lease ran out, or because somebody removed it) is set again.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from controlplane.gateway.errors import AcceptedRefusals, GatewayError
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.gateway.types import SET_ON_BROKER, SET_ON_TOPIC
from controlplane.operations.details import Detail, broker_params, detail_of, together
from controlplane.operations.models import Operation
from controlplane.reassignments.models import ThrottleLease
from controlplane.reassignments.rules import REPLICA_KEYS, Move, throttled_replicas

RATE_KEYS = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LEASE = timedelta(minutes=5)
KIND = "reassignment"
NOTHING = together()


def throttle_prepare(operation: Operation, bytes_per_s: int | None) -> None:
    """The operation's row, with nothing set on any broker yet; one that is there stays."""
    now = timezone.now()
    row = ThrottleLease(
        operation_id=operation.id,
        cluster_id=operation.cluster_id or "",
        bytes_per_s=bytes_per_s,
        broker_ids=[],
        topics=[],
        expires_at=now,
        released_at=now,
    )
    ThrottleLease.objects.bulk_create([row], ignore_conflicts=True)


def throttle_of(operation_id: str) -> ThrottleLease | None:
    return ThrottleLease.objects.filter(operation_id=operation_id).first()


def throttle_renew(operation: Operation, moves: Sequence[Move]) -> "Held | None":
    """Note in the operation's row that brokers get its limit for these moves, and renew it.

    Without a limit nothing is noted. Two statements; None: the operation has no row.
    """
    held = _held(operation.id, operation.cluster_id or "")
    if held is None or held.lease.bytes_per_s is None:
        return held
    ThrottleLease.objects.filter(pk=held.lease.pk).update(
        broker_ids=sorted({*held.lease.broker_ids, *_brokers(moves)}),
        topics=sorted({*held.lease.topics, *throttled_replicas(moves)}),
        expires_at=timezone.now() + LEASE,
        released_at=None,
    )
    return held


def throttle_keep(
    gateway: ClusterGateway,
    operation: Operation,
    moves: Sequence[Move],
    *,
    all_brokers: bool = False,
) -> "Kept":
    """Renew the lease and have the limit stand for these moves.

    `all_brokers`: a broker that is away or does not answer is an error. Else it is passed over: it
    moves nothing that we could limit, and the next call asks it again.

    Raises:
        GatewayError: the limit cannot be read or set; nothing more may be moved then.
    """
    held = throttle_renew(operation, moves)
    rate = held.lease.bytes_per_s if held is not None else None
    if held is None or rate is None:
        is_on = held is not None and held.lease.released_at is None
        said = _release(gateway, held) if held and is_on else NOTHING
        return Kept(bytes_per_s=None, said=said)
    set_on: list[int] = []
    away: list[int] = []
    for broker in _brokers(moves):
        try:
            if _keep_rate(gateway.at(broker), broker, rate):
                set_on.append(broker)
        except GatewayError as error:
            if all_brokers or not error.retriable:
                raise
            away.append(broker)
    topics = _keep_replicas(gateway, throttled_replicas(moves))
    unknown = detail_of("limit/unknown", **broker_params(away)) if away else NOTHING
    return Kept(bytes_per_s=rate, said=together(_set_on(set_on, len(topics)), unknown))


def _set_on(brokers: list[int], topics: int) -> Detail:
    if brokers and topics:
        return detail_of("limit/set-on-both", topics=topics, **broker_params(brokers))
    if brokers:
        return detail_of("limit/set-on-brokers", **broker_params(brokers))
    return detail_of("limit/set-on-topics", topics=topics) if topics else NOTHING


def _brokers(moves: Iterable[Move]) -> list[int]:
    return sorted({broker for move in moves for broker in (*move.before, *move.after)})


def _keep_rate(view: BrokerView, broker: int, bytes_per_s: int) -> bool:
    """Whether it had to be set."""
    wanted = dict.fromkeys(RATE_KEYS, str(bytes_per_s))
    entries = view.broker_configs([broker], RATE_KEYS)[broker]
    own = {each.name: each.value for each in entries if each.source in SET_ON_BROKER}
    if all(own.get(key) == value for key, value in wanted.items()):
        return False
    view.alter_broker_configs(broker, wanted)
    return True


def _keep_replicas(gateway: ClusterGateway, wanted: dict[str, dict[str, str]]) -> list[str]:
    """The topics on which the lists were set. A topic that is gone has nothing to limit."""
    found = gateway.topic_configs(wanted, REPLICA_KEYS)
    changed = []
    for topic, lists in wanted.items():
        entries = found.get(topic)
        if entries is None:
            continue
        own = {each.name: each.value or "" for each in entries if each.source in SET_ON_TOPIC}
        if any(_pairs(own.get(key, "")) != _pairs(value) for key, value in lists.items()):
            with AcceptedRefusals("UNKNOWN_TOPIC_OR_PARTITION"):
                gateway.alter_topic_configs(topic, lists)
                changed.append(topic)
    return changed


def _pairs(listed: str) -> frozenset[str]:
    return frozenset(filter(None, listed.split(",")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The limit that stands, null for none, and what had to be set for it, or nothing."""

    bytes_per_s: int | None
    said: Detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An operation's row, and what of its cluster the limits of others hold."""

    lease: ThrottleLease
    others_brokers: Collection[int]
    others_topics: Collection[str]


def _held(operation_id: str, cluster_id: str) -> Held | None:
    """In one statement."""
    of_others = Q(cluster_id=cluster_id, released_at=None, expires_at__gt=timezone.now())
    rows = list(ThrottleLease.objects.filter(Q(operation_id=operation_id) | of_others))
    own = next((row for row in rows if row.operation_id == operation_id), None)
    if own is None:
        return None
    others = [row for row in rows if row is not own]
    return Held(
        lease=own,
        others_brokers={broker for row in others for broker in row.broker_ids},
        others_topics={topic for row in others for topic in row.topics},
    )


def throttle_release(gateway: ClusterGateway, operation_id: str, cluster_id: str) -> Detail:
    """Take the limit off every broker and topic; safe to repeat. Says what it did.

    What another operation's lease holds meanwhile stays.
    """
    held = _held(operation_id, cluster_id)
    if held is None or held.lease.released_at is not None:
        return detail_of("limit/none")
    return _release(gateway, held)


def throttle_lift(gateway: ClusterGateway, operation: Operation) -> tuple[Detail, bool]:
    """As `throttle_release`, without noting it: what it did, and whether that is to be noted."""
    held = _held(operation.id, operation.cluster_id or "")
    if held is None or held.lease.released_at is not None:
        return detail_of("limit/none"), False
    return _lift(gateway, held)


def throttle_lifted(operation_id: str) -> None:
    """Note that no broker and no topic has anything of the limit any more."""
    rows = ThrottleLease.objects.filter(operation_id=operation_id)
    rows.update(released_at=timezone.now())


def _release(gateway: ClusterGateway, held: Held) -> Detail:
    said, is_lifted = _lift(gateway, held)
    if is_lifted:
        throttle_lifted(held.lease.operation_id)
    return said


def _lift(gateway: ClusterGateway, held: Held) -> tuple[Detail, bool]:
    """What it did, and whether nothing of the limit is left."""
    brokers = [each for each in held.lease.broker_ids if each not in held.others_brokers]
    topics = [topic for topic in held.lease.topics if topic not in held.others_topics]
    alive = {node.id for node in gateway.describe_cluster().brokers}
    away = [broker for broker in brokers if broker not in alive]
    for broker in brokers:
        if broker in alive:
            gateway.alter_broker_configs(broker, dict.fromkeys(RATE_KEYS))
    for topic in topics:
        with AcceptedRefusals("UNKNOWN_TOPIC_OR_PARTITION"):
            gateway.alter_topic_configs(topic, dict.fromkeys(REPLICA_KEYS))
    if away:
        # Of these alone the lease stays, and nobody renews it: beat takes the rate off them once
        # they are back, and what else a limit was on is free for others to lift.
        ThrottleLease.objects.filter(pk=held.lease.pk).update(
            broker_ids=away, topics=[], expires_at=timezone.now()
        )
        return detail_of("limit/removed-but", **broker_params(away)), False
    return detail_of("limit/removed", brokers=len(brokers), topics=len(topics)), True


def leases_expired(limit: int) -> Iterable[ThrottleLease]:
    """Limits that nobody has renewed for too long, the longest first."""
    expired = ThrottleLease.objects.filter(released_at=None, expires_at__lt=timezone.now())
    return expired.order_by("expires_at", "pk")[:limit]
