"""Hosts: drained, resumed, removed. Only operators of the platform do it."""

from django.db import transaction

from controlplane.administration.selectors import brokers_on
from controlplane.audit.services import Actor, audit_record
from controlplane.clusters.hosts import Host, HostsUnavailableError, hosts
from controlplane.clusters.models import DrainedHost, HostKey
from controlplane.clusters.selectors import host_rows
from controlplane.common.holds import hold
from controlplane.common.problems import Conflict, NotFound, Unavailable


def host_update(*, host_id: str, drained: bool, actor: Actor) -> None:
    """Drained, the host gets no more brokers; those that run there are moved by their tenants.

    Raises NotFound, or Unavailable while ZooKeeper is away.
    """
    _known(host_id)
    with transaction.atomic():
        host_hold(host_id)
        was_drained = DrainedHost.objects.filter(pk=host_id).exists()
        if drained == was_drained:
            return
        if drained:
            DrainedHost.objects.get_or_create(host_id=host_id, defaults={"by": actor.name})
        else:
            DrainedHost.objects.filter(pk=host_id).delete()
        _record(host_id, actor, "host.drain" if drained else "host.resume")


def host_remove(*, host_id: str, actor: Actor) -> None:
    """Let the host go: its nodes in ZooKeeper are removed, and with them its login.

    Raises:
        NotFound, Unavailable: as `host_update`.
        Conflict: brokers belong there (`brokers` names them), or its agent lives.
    """
    host = _known(host_id)
    found = brokers_on([host_id])[host_id]
    if found:
        names = ", ".join(f"{row['cluster']}/{row['broker_id']}" for row in found[:5])
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        raise Conflict(
            f"Brokers belong on {host_id}: {names}{more}.", code="host-in-use", brokers=found
        )
    if host.alive:
        raise Conflict(f"The agent of {host_id} lives: stop it first.", code="host-alive")
    try:
        hosts().forget_host(host_id)
    except HostsUnavailableError as error:
        raise Unavailable(f"ZooKeeper: {error}", code="zookeeper-away") from error
    with transaction.atomic():
        host_hold(host_id)
        DrainedHost.objects.filter(pk=host_id).delete()
        HostKey.objects.filter(pk=host_id).delete()
        _record(host_id, actor, "host.remove")


def host_hold(host_id: str) -> None:
    """Until the transaction ends nobody else changes what operators decided about the host."""
    hold(f"host/{host_id}")


def _known(host_id: str) -> Host:
    for host in host_rows():
        if host.host_id == host_id:
            return host
    raise NotFound("Host not found.")


def _record(host_id: str, actor: Actor, action: str) -> None:
    audit_record(tenant_id="", actor=actor, action=action, resource=f"host/{host_id}")
