"""A host's new address: the brokers on it follow, one cluster after another.

Its agent was started with the address and has registered it; that alone is believed. A row a host;
a round looks at each, and begins the next cluster's roll where none is under way. Whatever is in
the way is kept as the reason, and tried again.
"""

import logging
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import SYSTEM, Actor, audit_record
from controlplane.clusters.described import Host
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.readdressing import KIND
from controlplane.common import leases
from controlplane.common.apart import apart
from controlplane.common.problems import Conflict, Problem, Unavailable, field_problem
from controlplane.common.words import storable
from controlplane.gateway.errors import GatewayError
from controlplane.healing.models import HostAddressChange
from controlplane.operations.models import Operation
from controlplane.operations.operations import PlanContext, required_kind
from controlplane.operations.services import announced_start
from controlplane.operations.states import ACTIVE_STATES, SUCCEEDED

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=120)
AGAIN = timedelta(seconds=30)
"""How soon something that was refused is tried again."""
HOSTS_AT_A_TIME = 50
TEXT_MAX = 1_000
ODD = "What is in the way is not understood; it is tried again."
REASON = "The address of a broker's host has changed."
"""To the tenant, who reads it."""
ROLL_INPUTS = {"canary_s": 60}


def left_on(host_id: str, address: str) -> list[Broker]:
    """Brokers of the host that advertise another address yet."""
    rows = Broker.objects.filter(host_id=host_id).exclude(address=address)
    return list(rows.select_related("cluster__tenant").order_by("cluster_id", "broker_id"))


@transaction.atomic
def address_follow(*, host_id: str, address: str, actor: Actor) -> HostAddressChange:
    """Have the host's brokers follow to the address that its agent serves at now.

    Raises:
        Unavailable: ZooKeeper does not answer.
        Invalid: the agent is away, or has registered another address.
        Conflict: every broker advertises it already.
    """
    try:
        found = {host.host_id: host for host in hosts().hosts()}.get(host_id)
    except HostsUnavailableError as error:
        raise Unavailable(f"ZooKeeper does not answer: {error}", code="zookeeper-away") from error
    why = _not_served(found, address)
    if why:
        raise field_problem("/address", why, "address-not-served")
    if not left_on(host_id, address):
        raise Conflict(f"Every broker of {host_id} advertises {address}.", code="nothing-to-do")
    HostAddressChange.objects.filter(host_id=host_id).delete()
    row = HostAddressChange.objects.create(host_id=host_id, address=address, by=actor.name)
    _record(host_id, actor, "host.address_follow", address=address)
    return row


@transaction.atomic
def address_stop(*, host_id: str, actor: Actor) -> None:
    """No other cluster is begun; the one under way goes on, and is cancelled as any operation.
    Again, or where none is under way, it changes nothing.
    """
    ended = HostAddressChange.objects.filter(host_id=host_id, ended_at=None).update(
        ended_at=timezone.now(), waiting_for=f"{actor.name} stopped it."[:TEXT_MAX]
    )
    if ended:
        _record(host_id, actor, "host.address_stop")


def _not_served(host: Host | None, address: str) -> str:
    if host is None or not host.alive:
        return "The host's agent is away: where it serves is not known."
    if host.address != address:
        return (
            f"The host's agent serves at {host.address}: start it with --address {address} first."
        )
    return ""


def address_round(now: datetime | None = None) -> int:
    """One look at every host whose address is followed; how many rolls it began."""
    now = now or timezone.now()
    rows = HostAddressChange.objects.filter(ended_at=None).order_by("tried_at", "host_id")
    ids = list(rows.values_list("pk", flat=True)[:HOSTS_AT_A_TIME])
    if not ids:
        return 0
    try:
        found = {host.host_id: host for host in hosts().hosts()}
    except HostsUnavailableError as error:
        log.info("whose address has changed is not known: %s", error)
        return 0
    return sum(
        apart(
            f"the address of {each}", partial(_follow, each, found.get(each), now), otherwise=False
        )
        for each in ids
    )


def _follow(host_id: str, host: Host | None, now: datetime) -> bool:
    rows = HostAddressChange.objects.filter(pk=host_id, ended_at=None)
    token = leases.claim(rows, LEASE)
    if token is None:
        return False
    row = rows.get()
    try:
        return _step(row, host, now)
    finally:
        # Whoever stopped it meanwhile has written to the row: that stands.
        ended = row.ended_at is not None
        names = ("moved", "operation_id", "operation_about", "tried_at")
        kept = {name: getattr(row, name) for name in names}
        if ended or rows.exists():
            kept |= {"waiting_for": row.waiting_for, "ended_at": row.ended_at}
        leases.release(HostAddressChange.objects.filter(pk=host_id), token, **kept)


def _step(row: HostAddressChange, host: Host | None, now: datetime) -> bool:
    """True when a roll was begun."""
    if row.operation_id and _is_under_way(row, now):
        return False
    left = left_on(row.host_id, row.address)
    if not left:
        row.ended_at, row.waiting_for = now, ""
        _record(row.host_id, SYSTEM, "host.address_followed", address=row.address)
        return False
    if row.waiting_for and row.tried_at is not None and now - row.tried_at < AGAIN:
        return False
    row.tried_at = now
    row.waiting_for = _not_served(host, row.address)
    if row.waiting_for:
        return False
    first = ""
    for cluster in {each.cluster_id: each.cluster for each in left}.values():
        begun = apart(f"the roll of {cluster.pk}", partial(_begun, cluster), otherwise=ODD)
        if isinstance(begun, str):
            first = first or storable(f"{cluster.name}: {begun}")[:TEXT_MAX]
            continue
        row.operation_id, row.operation_about = begun.id, cluster.name[:200]
        return True
    row.waiting_for = first
    return False


def _begun(cluster: Cluster) -> Operation | str:
    """Its roll, or why there is none."""
    try:
        return _start(cluster)
    except Problem as problem:
        return problem.detail


def _start(cluster: Cluster) -> Operation:
    """The roll that a person would get by a plan.

    Raises:
        Problem: it is refused, the cluster does not answer, or another operation is in the way.
    """
    context = PlanContext(tenant=cluster.tenant, cluster_id=cluster.id, actor=SYSTEM)
    try:
        draft = required_kind(KIND).plan(context, ROLL_INPUTS)
    except GatewayError as error:
        raise error.as_problem() from error
    return announced_start(
        tenant=cluster.tenant,
        kind_name=KIND,
        cluster_id=cluster.id,
        inputs=ROLL_INPUTS,
        draft=draft,
        reason=REASON,
    )


def _is_under_way(row: HostAddressChange, now: datetime) -> bool:
    found = Operation.objects.filter(pk=row.operation_id).first()
    if found is not None and found.state in ACTIVE_STATES:
        return True
    if found is not None and found.state == SUCCEEDED:
        row.moved += 1
        row.waiting_for = ""
    elif found is not None:
        said = (found.error or {}).get("detail", found.state)
        row.waiting_for = storable(f"{row.operation_about}: {said}")[:TEXT_MAX]
        row.tried_at = now
    row.operation_id = row.operation_about = ""
    return False


def _record(host_id: str, actor: Actor, action: str, **data: object) -> None:
    audit_record(
        tenant_id="",
        actor=actor,
        action=action,
        resource=f"host/{host_id}",
        data=dict(data) or None,
    )
