"""Drained hosts: their brokers leave one after another, each by an operation of its own.

A row a host; a round looks at each, and begins the next move where none is under way. Whatever is
in the way is kept as the reason, and tried again.
"""

import logging
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import SYSTEM, Actor, audit_record
from controlplane.clusters.host_states import DRAINING
from controlplane.clusters.models import Broker, HostState
from controlplane.clusters.replacing_now import OtherWayError, replace_now
from controlplane.clusters.replacing_rules import MOVE
from controlplane.common import leases
from controlplane.common.apart import apart
from controlplane.common.problems import Conflict, Problem
from controlplane.common.said import Said
from controlplane.healing.models import HostDrain
from controlplane.healing.waiting import after_ended, as_it_came, keep, led_in, waiting_of
from controlplane.operations.models import Operation
from controlplane.operations.states import ACTIVE_STATES, SUCCEEDED

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=120)
AGAIN = timedelta(seconds=30)
"""How soon something that was refused is tried again."""
HOSTS_AT_A_TIME = 50
ODD = waiting_of("not-understood")
DRAINED = "The platform's operators empty its host."
"""To the tenant, who reads it: neither which host, nor whose word it was."""


def drain_round(now: datetime | None = None) -> int:
    """One look at every draining host; how many moves it began."""
    now = now or timezone.now()
    draining = list(HostState.objects.filter(state=DRAINING).order_by("host_id"))
    HostDrain.objects.exclude(host_id__in=[row.host_id for row in draining]).delete()
    tried = dict(HostDrain.objects.values_list("host_id", "tried_at"))
    # Those that were tried longest ago, so that nobody waits for ever.
    draining.sort(key=lambda row: (tried.get(row.host_id) or row.since, row.host_id))
    return sum(
        apart(f"the drain of {state.host_id}", partial(_drain, state, now), otherwise=False)
        for state in draining[:HOSTS_AT_A_TIME]
    )


def _drain(state: HostState, now: datetime) -> bool:
    HostDrain.objects.get_or_create(
        host_id=state.host_id, defaults={"by": state.by, "began_at": state.since}
    )
    rows = HostDrain.objects.filter(host_id=state.host_id)
    token = leases.claim(rows, LEASE)
    if token is None:
        return False
    row = rows.get()
    try:
        return _step(row, now)
    finally:
        leases.release(rows, token, **_kept(row))


def _kept(row: HostDrain) -> dict[str, object]:
    operation = ("moved", "operation_id", "operation_about")
    names = (*operation, "waiting_for", "waiting_for_parts", "tried_at", "ended_at")
    return {name: getattr(row, name) for name in names}


def _step(row: HostDrain, now: datetime) -> bool:
    """True when a move was begun."""
    if row.operation_id and _is_under_way(row, now):
        return False
    left = list(
        Broker.objects.filter(host_id=row.host_id)
        .select_related("cluster__tenant")
        .order_by("cluster_id", "broker_id")
    )
    if not left:
        _end(row, now)
        return False
    row.ended_at = None
    # Whoever paused it meanwhile has written to the row.
    if HostDrain.objects.filter(pk=row.pk, paused_at__isnull=False).exists():
        return False
    if row.waiting_for and row.tried_at is not None and now - row.tried_at < AGAIN:
        return False
    row.tried_at = now
    first = list[Said]()
    for broker in left:
        name = f"{broker.cluster.name}/{broker.broker_id}"
        begun = apart(f"the move of {broker.cluster_id}", partial(_begun, broker), otherwise=ODD)
        if isinstance(begun, Said):
            first = first or led_in(name, begun)
            continue
        keep(row)
        row.operation_id, row.operation_about = begun.id, name[:200]
        return True
    keep(row, first)
    return False


def _begun(broker: Broker) -> Operation | Said:
    """Its move, or why there is none."""
    try:
        return replace_now(broker.cluster, broker.broker_id, way=MOVE, reason=DRAINED)
    except OtherWayError as problem:
        return waiting_of("host-of-broker/away", broker=problem.broker_id)
    except Problem as problem:
        return as_it_came(problem.detail)


def _is_under_way(row: HostDrain, now: datetime) -> bool:
    found = Operation.objects.filter(pk=row.operation_id).first()
    if found is not None and found.state in ACTIVE_STATES:
        return True
    if found is not None and found.state == SUCCEEDED:
        row.moved += 1
    elif found is not None:
        keep(row, after_ended(row.operation_about, found.state, found.error))
        row.tried_at = now
    row.operation_id = row.operation_about = ""
    return False


def _end(row: HostDrain, now: datetime) -> None:
    keep(row)
    if row.ended_at is None:
        row.ended_at = now
        _record(row.host_id, SYSTEM, "host.drained", moved=row.moved)


@transaction.atomic
def drain_pause(*, host_id: str, actor: Actor, paused: bool) -> None:
    """No other broker is begun; the one under way goes on. Again it changes nothing.

    Raises:
        Conflict: it is not being drained.
    """
    state = HostState.objects.select_for_update().filter(pk=host_id).first()
    if state is None or state.state != DRAINING:
        raise Conflict(f"{host_id} is not being drained.", code="host-state")
    row, _ = HostDrain.objects.get_or_create(
        host_id=host_id, defaults={"by": state.by, "began_at": state.since}
    )
    if (row.paused_at is not None) == paused:
        return
    HostDrain.objects.filter(pk=host_id).update(
        paused_at=timezone.now() if paused else None, paused_by=actor.name if paused else ""
    )
    _record(host_id, actor, "host.drain_pause" if paused else "host.drain_resume")


def _record(host_id: str, actor: Actor, action: str, **data: object) -> None:
    audit_record(
        tenant_id="",
        actor=actor,
        action=action,
        resource=f"host/{host_id}",
        data=dict(data) or None,
    )
