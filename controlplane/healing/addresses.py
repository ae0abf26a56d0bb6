"""A host's new address: the brokers on it follow, one cluster after another (`following`).

Its agent was started with the address and has registered it; that alone is believed.
"""

from datetime import datetime

from django.db import transaction

from controlplane.audit.services import Actor
from controlplane.clusters.described import Host
from controlplane.clusters.models import Broker
from controlplane.clusters.readdressing import KIND
from controlplane.common.problems import Conflict, field_problem
from controlplane.common.said import Said
from controlplane.healing.following import Followed, record, said_by
from controlplane.healing.models import HostAddressChange
from controlplane.healing.waiting import waiting_of


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
    why = _not_served(said_by(host_id), address)
    if why:
        raise field_problem("/address", why.text, "address-not-served")
    if not left_on(host_id, address):
        raise Conflict(f"Every broker of {host_id} advertises {address}.", code="nothing-to-do")
    HostAddressChange.objects.filter(host_id=host_id).delete()
    row = HostAddressChange.objects.create(host_id=host_id, address=address, by=actor.name)
    record(host_id, actor, "host.address_follow", address=address)
    return row


@transaction.atomic
def address_stop(*, host_id: str, actor: Actor) -> None:
    """As `Followed.stop`."""
    _ADDRESS.stop(host_id=host_id, actor=actor)


def address_round(now: datetime | None = None) -> int:
    """One look at every host whose address is followed; how many rolls it began."""
    return _ADDRESS.round(now)


def _not_served(host: Host | None, address: str) -> Said | None:
    if host is None or not host.alive:
        return waiting_of("agent-away/address")
    if host.address != address:
        return waiting_of("serves-elsewhere", serves=host.address, address=address)
    return None


_ADDRESS = Followed(
    model=HostAddressChange,
    kind=KIND,
    reason="The address of a broker's host has changed.",
    event="host.address",
    left=lambda row: left_on(row.host_id, row.address),
    objection=lambda host, row: _not_served(host, row.address),
    about=lambda row: {"address": row.address},
)
