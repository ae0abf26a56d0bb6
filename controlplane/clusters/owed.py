"""Deletions that hosts owe: of brokers whose host was away while their cluster was deleted.

What is desired of such a broker stays in ZooKeeper as `deleted`, so a host that comes back stops
it and wipes its data before anything else. When its agent has reported that, the node goes. A host
that was forgotten meanwhile and is admitted again is told once more.
"""

import logging
from collections.abc import Iterable, Sequence

from django.conf import settings

from controlplane.clusters.hosts import hosts
from controlplane.clusters.models import Broker, Cluster, OwedDeletion
from controlplane.clusters.sealing import NoHostKeyError, host_keyrings, sealed_with
from controlplane.clusters.specs import desired_spec
from controlplane.clusters.zookeeper_tree import CLUSTERS

log = logging.getLogger(__name__)
AT_A_TIME = 500
"""Rows of one round; the rest waits for the next."""


def note(brokers: Iterable[Broker]) -> None:
    """Their hosts are away: what these have of the cluster is deleted when they are back."""
    OwedDeletion.objects.bulk_create(
        [
            OwedDeletion(
                host_id=broker.host_id,
                key=broker.key,
                cluster_id=broker.cluster_id,
                broker_id=broker.broker_id,
                generation=broker.generation,
                client_port=broker.client_port,
                internal_port=broker.internal_port,
            )
            for broker in brokers
        ],
        ignore_conflicts=True,
    )


def note_lost(brokers: Iterable[Broker]) -> None:
    """Their host was declared lost: what it has of them is deleted should it ever be back."""
    for broker in brokers:
        broker.generation += 1
        broker.desired_state = "deleted"
    note(brokers)


def owed_of(cluster: Cluster) -> set[tuple[str, str]]:
    """(host, key) of its brokers that are owed; one that was moved may be owed where it was."""
    return set(OwedDeletion.objects.filter(cluster_id=cluster.id).values_list("host_id", "key"))


def settle() -> list[str]:
    """One round over what is owed; the keys of the brokers of which nothing is left now.

    Raises HostsUnavailableError.
    """
    rows = list(OwedDeletion.objects.order_by("pk")[:AT_A_TIME])
    if not rows:
        return []
    alive = {host.host_id for host in hosts().hosts() if host.alive}
    back = [row for row in rows if row.host_id in alive]
    reports = hosts().observed((row.host_id, row.key) for row in back)
    settled = []
    for row in back:
        report = reports.get((row.host_id, row.key))
        if report is None or report.disagreement(row.generation):
            _say_again(row)
        elif report.state == "deleted":
            hosts().forget_broker((row.host_id, row.key))
            row.delete()
            settled.append(row.key)
    return settled


def _say_again(row: OwedDeletion) -> None:
    """Where nothing is desired any more: the host was forgotten, and is here again."""
    if not hosts().sealed_for((row.host_id, row.key)):
        say(row)


def say(row: OwedDeletion) -> None:
    """Write that the broker shall be deleted, whatever was desired of it before.

    Without a key of the host nothing is written: it has to be admitted again, and is told then.
    """
    place = (row.host_id, row.key)
    try:
        keyring = host_keyrings({row.host_id})[row.host_id]
    except NoHostKeyError as error:
        log.warning("%s on %s is not deleted yet: %s", row.key, row.host_id, error)
        return
    hosts().write_desired(
        place,
        desired_spec(
            cluster_id=row.cluster_id,
            broker_id=row.broker_id,
            generation=row.generation,
            state="deleted",
            config={"zookeeper.connect": f"{settings.ZOOKEEPER}{CLUSTERS}/{row.cluster_id}"},
            secret=sealed_with(keyring, {}),
        ),
    )


def ports_owed() -> Sequence[tuple[str, int, int]]:
    """(host, client port, internal port): a process may still hold them."""
    return list(OwedDeletion.objects.values_list("host_id", "client_port", "internal_port"))
