"""Hosts that are gone for good: their brokers stop counting, and never serve what they had.

Two things keep a host that comes back all the same from doing harm. What is desired of its brokers
is `deleted`, so its agent stops them and wipes their data before anything else (`owed`). And their
log directories are fenced in their cluster by `directory.id`, so that a broker process which lives
without its agent ends, and never registers again.

The decision is one transaction. ZooKeeper is told afterwards, by `fence`: at once, and by every
round of beat until it was; each part may be done twice.
"""

import logging
from collections.abc import Sequence

from django.utils import timezone

from controlplane.clusters.hosts import hosts
from controlplane.clusters.models import Broker, LostBroker, OwedDeletion
from controlplane.clusters.owed import note_lost, say

log = logging.getLogger(__name__)
AT_A_TIME = 200
"""Brokers of one round; the rest waits for the next."""


def lose(host_id: str, *, by: str) -> list[LostBroker]:
    """In the caller's transaction: the host's brokers become lost ones, their ports stay taken."""
    return _lose(list(Broker.objects.select_for_update().filter(host_id=host_id)), by=by)


def lose_broker(broker: Broker, *, by: str) -> LostBroker:
    """As `lose`, of one broker whose host is away: the others there go on counting."""
    (row,) = _lose([broker], by=by)
    return row


def _lose(brokers: list[Broker], *, by: str) -> list[LostBroker]:
    note_lost(brokers)
    found = []
    for broker in brokers:
        row, _ = LostBroker.objects.update_or_create(
            cluster_id=broker.cluster_id,
            broker_id=broker.broker_id,
            defaults={
                "host_id": broker.host_id,
                "address": broker.address,
                "rack": broker.rack,
                "client_port": broker.client_port,
                "directory_ids": [],
                "declared_by": by,
                "fenced_at": None,
            },
        )
        found.append(row)
    Broker.objects.filter(pk__in=[broker.pk for broker in brokers]).delete()
    return found


def fence(host_id: str | None = None) -> list[str]:
    """Tell ZooKeeper what it was not told yet; the keys of the brokers that are fenced now.

    Raises HostsUnavailableError; what was done before that is kept.
    """
    waiting = LostBroker.objects.filter(fenced_at=None).select_related("cluster")
    rows = list((waiting.filter(host_id=host_id) if host_id else waiting)[:AT_A_TIME])
    if not rows:
        return []
    known = {host.host_id for host in hosts().hosts()}
    return [_fence_one(row, is_known=row.host_id in known) for row in rows]


def fence_broker(row: LostBroker) -> None:
    """As `fence`, of one lost broker that ZooKeeper was not told of yet."""
    _fence_one(row, is_known=row.host_id in {host.host_id for host in hosts().hosts()})


def _fence_one(row: LostBroker, *, is_known: bool) -> str:
    path = row.cluster.zookeeper_path
    ids = hosts().directories_of(path, row.broker_id)
    hosts().fence_directories(path, ids)
    owed = OwedDeletion.objects.filter(host_id=row.host_id, key=row.key).first()
    # One that was removed meanwhile has no nodes, and a login that opens none.
    if owed is not None and is_known:
        say(owed)
    LostBroker.objects.filter(pk=row.pk).update(directory_ids=ids, fenced_at=timezone.now())
    if not ids:
        log.warning("%s has never said which log directories it has: none is fenced", row.key)
    return row.key


def lost_on(host_id: str) -> Sequence[LostBroker]:
    return list(LostBroker.objects.filter(host_id=host_id).select_related("cluster__tenant"))
