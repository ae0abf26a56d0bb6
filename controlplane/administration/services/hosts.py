"""Hosts: cordoned, drained, declared lost, removed. Only operators of the platform do it."""

import logging
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.administration.host_plans import host_plan, named
from controlplane.administration.selectors import brokers_on, host_row
from controlplane.audit.services import Actor, audit_record
from controlplane.clusters.host_states import (
    ACTIVE,
    DECLARE_LOST,
    HOST,
    LOST,
    REMOVE,
    REMOVED,
    act_to,
)
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.losing import fence, lose
from controlplane.clusters.models import HostKey, HostState
from controlplane.common.holds import hold
from controlplane.common.problems import Conflict, NotFound, Unavailable, field_problem

log = logging.getLogger(__name__)

ACTIONS = {"active": "host.uncordon", "cordoned": "host.cordon", "draining": "host.drain"}


def host_change(*, host_id: str, state: str, actor: Actor, reason: str = "") -> None:
    """Move the host to one of the states that operators choose; to its own nothing happens.

    Raises:
        NotFound, Unavailable: no such host; ZooKeeper is away.
        Conflict: the host cannot be moved there (`host_states`), or not yet.
    """
    host_row(host_id)
    with transaction.atomic():
        host_hold(host_id)
        if state_of(host_id) == state:
            return
        _check(host_plan(host_id, act_to(state)))
        _move(host_id, state, actor, reason)
        _record(host_id, actor, ACTIONS[state], reason)


def host_declare_lost(
    *, host_id: str, plan_hash: str, confirm: str, actor: Actor, reason: str = ""
) -> None:
    """Its brokers stop counting, and what it has of them never serves again.

    ZooKeeper is told at once when it answers, else by the next round (`losing.fence`).

    Raises:
        NotFound, Unavailable: no such host; ZooKeeper is away.
        Conflict: refused (`host_plans`), or the world is another than the plan's.
        Invalid: the name was not typed.
    """
    if confirm != host_id:
        raise field_problem("/confirm", f"Type {host_id} to confirm.")
    with transaction.atomic():
        host_hold(host_id)
        plan = host_plan(host_id, DECLARE_LOST)
        _check(plan)
        if plan["plan_hash"] != plan_hash:
            raise Conflict("The host is not what the plan saw: look again.", code="plan-stale")
        _move(host_id, LOST, actor, reason)
        lost = lose(host_id, by=actor.name)
        brokers = [{"cluster_id": row.cluster_id, "id": row.broker_id} for row in lost]
        _record(host_id, actor, "host.declare_lost", reason, brokers=brokers)
    try:
        fence(host_id)
    except HostsUnavailableError as error:
        log.warning("%s is fenced by the next round: %s", host_id, error)


def host_remove(*, host_id: str, actor: Actor) -> None:
    """Let the host go: its nodes in ZooKeeper are removed, and with them its login.

    Raises:
        NotFound, Unavailable: no such host; ZooKeeper is away.
        Conflict: brokers belong there (`brokers` names them), or its agent lives.
    """
    found = brokers_on([host_id])[host_id]
    if found:
        raise Conflict(
            f"Brokers belong on {host_id}: {named(found)}.", code="host-in-use", brokers=found
        )
    try:
        host = host_row(host_id)
    except NotFound:
        if not _has_rows(host_id):
            raise
        # A removal that was killed after ZooKeeper had forgotten the host.
        forget_rows(host_id, actor)
        return
    if host.alive:
        raise Conflict(f"The agent of {host_id} lives: stop it first.", code="host-alive")
    _check(host_plan(host_id, REMOVE))
    HOST.check(state_of(host_id), REMOVED)
    try:
        fence(host_id)  # while there are nodes to say it by
        hosts().forget_host(host_id)
    except HostsUnavailableError as error:
        raise Unavailable(f"ZooKeeper: {error}", code="zookeeper-away") from error
    forget_rows(host_id, actor)


def _has_rows(host_id: str) -> bool:
    rows = (HostState.objects.filter(pk=host_id), HostKey.objects.filter(pk=host_id))
    return any(row.exists() for row in rows)


@transaction.atomic
def forget_rows(host_id: str, actor: Actor) -> None:
    """What operators decided about a host that ZooKeeper knows no more, and its key."""
    host_hold(host_id)
    HostState.objects.filter(pk=host_id).delete()
    HostKey.objects.filter(pk=host_id).delete()
    _record(host_id, actor, "host.remove", "")


def host_hold(host_id: str) -> None:
    """Until the transaction ends nobody else changes what operators decided about the host."""
    hold(f"host/{host_id}")


def state_of(host_id: str) -> str:
    row = HostState.objects.filter(pk=host_id).first()
    return ACTIVE if row is None else row.state


def _check(plan: dict[str, Any]) -> None:
    for row in plan["refused"]:
        raise Conflict(row["text"], code=row["code"])


def _move(host_id: str, state: str, actor: Actor, reason: str) -> None:
    HOST.check(state_of(host_id), state)
    if state == ACTIVE:
        HostState.objects.filter(pk=host_id).delete()
        return
    HostState.objects.update_or_create(
        host_id=host_id,
        defaults={"state": state, "by": actor.name, "reason": reason, "since": timezone.now()},
    )


def _record(host_id: str, actor: Actor, action: str, reason: str, **data: Any) -> None:
    audit_record(
        tenant_id="",
        actor=actor,
        action=action,
        resource=f"host/{host_id}",
        reason=reason,
        data=data or None,
    )
