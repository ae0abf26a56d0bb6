"""Another connect string of a host's agent to ZooKeeper: the brokers on it follow (`following`).

Its agent was started with the string, has found the tree of before behind it, and has said so; that
alone is believed. A cluster follows as a whole, once the agents of all its hosts use that string.
"""

from datetime import datetime

from django.db import transaction

from controlplane.audit.services import Actor
from controlplane.clusters.described import Host
from controlplane.clusters.models import Broker
from controlplane.clusters.reconnecting import KIND
from controlplane.common.problems import Conflict, field_problem
from controlplane.common.said import Said
from controlplane.healing.following import Followed, record, said_by
from controlplane.healing.models import HostZooKeeperChange
from controlplane.healing.waiting import waiting_of


def left_with(host_id: str, connect: str) -> list[Broker]:
    """Brokers of the host that use another connect string yet."""
    rows = Broker.objects.filter(host_id=host_id).exclude(zookeeper=connect)
    return list(rows.select_related("cluster__tenant").order_by("cluster_id", "broker_id"))


@transaction.atomic
def zookeeper_follow(*, host_id: str, connect: str, actor: Actor) -> HostZooKeeperChange:
    """Have the clusters with brokers on the host follow to the connect string of its agent.

    Raises:
        Unavailable: ZooKeeper does not answer.
        Invalid: the agent is away, or uses another one.
        Conflict: every broker on the host uses it already.
    """
    why = _not_used(said_by(host_id), connect)
    if why:
        raise field_problem("/connect", why.text, "connect-not-used")
    if not left_with(host_id, connect):
        raise Conflict(
            f"Every broker of {host_id} uses the connect string of its agent.", code="nothing-to-do"
        )
    HostZooKeeperChange.objects.filter(host_id=host_id).delete()
    row = HostZooKeeperChange.objects.create(host_id=host_id, connect=connect, by=actor.name)
    record(host_id, actor, "host.zookeeper_follow")
    return row


@transaction.atomic
def zookeeper_stop(*, host_id: str, actor: Actor) -> None:
    """As `Followed.stop`."""
    _ZOOKEEPER.stop(host_id=host_id, actor=actor)


def zookeeper_round(now: datetime | None = None) -> int:
    """One look at every host whose connect string is followed; how many rolls it began."""
    return _ZOOKEEPER.round(now)


def _not_used(host: Host | None, connect: str) -> Said | None:
    if host is None or not host.alive:
        return waiting_of("agent-away/zookeeper")
    if host.zookeeper != connect:
        return waiting_of("other-connect-string")
    return None


_ZOOKEEPER = Followed(
    model=HostZooKeeperChange,
    kind=KIND,
    reason="The ensemble of the brokers is reached by other addresses.",
    event="host.zookeeper",
    left=lambda row: left_with(row.host_id, row.connect),
    objection=lambda host, row: _not_used(host, row.connect),
    about=lambda _row: {},
)
