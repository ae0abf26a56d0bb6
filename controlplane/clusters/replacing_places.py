"""Rows and places of a broker that is put on another host. Each write may be done twice.

While it is under way the place that it left is an owed deletion (`owed`) that nobody has been told
of yet: its ports stay taken, and the way back is open. Its host is told when there is no way back.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from controlplane.clusters import owed, services
from controlplane.clusters.authority import has_tls
from controlplane.clusters.candidates import candidates, no_longer_fit
from controlplane.clusters.described import Host
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.losing import lose_broker
from controlplane.clusters.models import (
    Broker,
    Cluster,
    LostBroker,
    OwedDeletion,
    own_connect_string,
)
from controlplane.clusters.placing import Decision, NoCapacityError, place
from controlplane.clusters.release_wanted import releases_on
from controlplane.clusters.replacing_rules import bootstrap_after
from controlplane.clusters.rules import Placement
from controlplane.clusters.sealing import NoHostKeyError
from controlplane.clusters.selectors import release_rows
from controlplane.clusters.zookeeper_away import asked_again
from controlplane.common.problems import Conflict
from controlplane.operations.details import detail_of, together
from controlplane.operations.operations import StepFailedError, StepRetryError

PLACE_FIELDS = ("host_id", "address", "rack", "client_port", "internal_port")


def place_elsewhere(
    cluster: Cluster, broker_id: int, present_host: str, found: Sequence[Host]
) -> Decision:
    """Where the broker would go now, never to the host that it is on, nor to one that still has
    data of it to wipe.

    Raises Conflict `no-capacity`, Unavailable while ZooKeeper is away.
    """
    key = f"{cluster.id}-{broker_id}"
    owing = OwedDeletion.objects.filter(key=key).values_list("host_id", flat=True)
    shut = {present_host, *owing}
    releases = release_rows(found, cluster, broker_id=broker_id)
    rest = Broker.objects.filter(cluster=cluster).exclude(broker_id=broker_id)
    try:
        return place(
            [
                each
                for each in candidates(found, installed=releases.installed)
                if each.host_id not in shut
            ],
            broker_ids=[broker_id],
            disk_min_bytes=settings.BROKER_DISK_MIN_BYTES,
            present=list(rest.values_list("host_id", "rack")),
            wants=releases.wants,
        )
    except NoCapacityError as error:
        raise Conflict(
            f"No other host takes broker {broker_id}.{releases.named} Operators of the platform see"
            " why.",
            code="no-capacity",
        ) from error


def racks_of(rows: Sequence[Broker], but: int) -> Counter[str]:
    return Counter(row.rack for row in rows if row.broker_id != but)


def place_of(row: Broker) -> dict[str, Any]:
    return {name: getattr(row, name) for name in PLACE_FIELDS}


@contextlib.contextmanager
def zookeeper() -> Iterator[None]:
    """A ZooKeeper that does not answer is asked again by the same step; so is a host's key."""
    try:
        yield
    except HostsUnavailableError as error:
        raise asked_again(error) from error
    except NoHostKeyError as error:
        raise StepRetryError(detail_of("host/no-key", hosts=error.hosts)) from error


def hosts_now() -> list[Host]:
    """Raises StepRetryError while ZooKeeper does not answer."""
    with zookeeper():
        return hosts().hosts()


def still_free(cluster: Cluster, broker_id: int, wanted: dict[str, Any]) -> dict[str, Any]:
    """The place that was planned, with other ports of its host where these were taken meanwhile.

    Raises StepFailedError `place-gone`, StepRetryError while ZooKeeper does not answer.
    """
    found = hosts_now()
    with zookeeper():
        only = [each for each in found if each.host_id == wanted["host_id"]]
        releases = releases_on(only, cluster, broker_id=broker_id)
    placement = Placement(broker_id=broker_id, **wanted)
    why = no_longer_fit([placement], found, releases).get(broker_id)
    if why is None:
        return wanted
    if why.code == "no-port":
        there = [each for each in candidates(found) if each.host_id == wanted["host_id"]]
        ports = there[0].free_ports if there else []
        if len(ports) >= 2:
            return {**wanted, "client_port": ports[0], "internal_port": ports[1]}
    raise StepFailedError(
        "place-gone",
        together(detail_of("lead/host-takes-it-no-more", broker=str(broker_id)), why.text),
        broker_id=broker_id,
        reason=why.code,
    )


def brokers_of(cluster_id: str, tenant: Any) -> tuple[list[Broker], int]:
    """All rows with their cluster, and how many it was made with; by one statement."""
    rows: QuerySet[Broker] = Broker.objects.filter(
        cluster_id=cluster_id, cluster__tenant=tenant, cluster__deleted_at=None
    )
    return services.counted_brokers(rows.select_related("cluster"))


# -- writes to our own rows ---------------------------------------------------------------------
def note_state(row: Broker, state: str, generation: int) -> None:
    """What its present host shall do with it; a later generation is as good."""
    if row.generation < generation:
        rows = Broker.objects.filter(pk=row.pk, generation__lt=generation)
        rows.update(desired_state=state, generation=generation)
        row.desired_state, row.generation = state, generation


def write_state(cluster: Cluster, row: Broker, *, count: int) -> None:
    """Tell its present host what is noted of it."""
    services.write_desired_of(cluster, row, state=row.desired_state, count=count)


@transaction.atomic
def lose(row: Broker, by: str) -> None:
    """Its host is away: it counts as lost, so that what is there never serves again."""
    lose_broker(row, by=by)


def owe(row: Broker, left: dict[str, Any], generation: int) -> None:
    """Its place there stays taken until it is wiped; nobody is told yet."""
    owed.note(
        [
            Broker(
                cluster_id=row.cluster_id,
                broker_id=row.broker_id,
                generation=generation,
                **left,
            )
        ]
    )


def move_row(row: Broker, to: dict[str, Any], generation: int) -> None:
    """The broker belongs there from now on. Another address takes another certificate."""
    if row.generation >= generation:
        return
    renewed: dict[str, Any] = {}
    if has_tls(row.cluster) and row.address != to["address"]:
        renewed = {"tls_token": "", "certificate_ends_at": None}
    rows = Broker.objects.filter(pk=row.pk, generation__lt=generation)
    # Another host has other disks: there it begins in the first. What it got of its host's agent,
    # where it connects, is not for others to follow.
    first: dict[str, Any] = {
        "log_dirs": [],
        "given_up_dirs": [],
        "zookeeper": own_connect_string(),
    }
    rows.update(desired_state="running", generation=generation, **to, **renewed, **first)


@transaction.atomic
def add_row(cluster: Cluster, broker_id: int, to: dict[str, Any], generation: int) -> None:
    """A lost broker is one of the cluster's again, elsewhere."""
    Broker.objects.get_or_create(
        cluster=cluster, broker_id=broker_id, defaults={**to, "generation": generation}
    )
    LostBroker.objects.filter(cluster=cluster, broker_id=broker_id).delete()


def follow_address(cluster: Cluster, before: dict[str, Any] | None, after: dict[str, Any]) -> None:
    """Clients follow by metadata; who comes anew, and this service, by the cluster's addresses."""
    old = None if before is None else (before["address"], before["client_port"])
    servers = bootstrap_after(
        cluster.bootstrap_servers, old, (after["address"], after["client_port"])
    )
    if servers != cluster.bootstrap_servers:
        Cluster.objects.filter(pk=cluster.pk).update(bootstrap_servers=servers)


def forget_owed(cluster: Cluster, broker_id: int, host_id: str) -> None:
    OwedDeletion.objects.filter(host_id=host_id, key=f"{cluster.id}-{broker_id}").delete()


def placed(decision: Decision) -> dict[str, Any]:
    """The one place of a decision as it is stored."""
    (row,) = decision.placed
    return {name: value for name, value in asdict(row).items() if name != "broker_id"}
