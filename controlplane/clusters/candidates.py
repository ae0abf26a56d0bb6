"""All hosts as `placing` wants them: what agents say, and what operators and plans have taken."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from time import time

from django.conf import settings
from django.db.models import BooleanField, Value

from controlplane.clusters.described import Host
from controlplane.clusters.host_states import ACTIVE
from controlplane.clusters.models import Broker, HostState, OwedDeletion
from controlplane.clusters.placing import Candidate, Refusal, refusal
from controlplane.clusters.placing_sentences import lack_of
from controlplane.clusters.release_wanted import Releases
from controlplane.clusters.rules import Placement
from controlplane.clusters.sealing import hosts_with_key
from controlplane.clusters.versions import NOT_KNOWN, Installed

Ports = tuple[str, int, int, bool]
"""Host, client port, internal port, and whether a broker should run there or is owed."""


def candidates(
    found: Iterable[Host],
    *,
    but_cluster: str | None = None,
    installed: Mapping[str, Installed] | None = None,
) -> list[Candidate]:
    """`found` as places for brokers, by host id. With `but_cluster` its own brokers take none.

    Without `installed` nothing is known of the releases that they have, which is well where none is
    wanted in particular.
    """
    return _as_candidates(found, _ports(but_cluster=but_cluster), installed or {})


def _as_candidates(
    found: Iterable[Host], rows: list[Ports], installed: Mapping[str, Installed]
) -> list[Candidate]:
    states = host_states()
    with_key = hosts_with_key()
    count = Counter(host_id for host_id, _, _, should_run in rows if should_run)
    taken = _taken(rows)
    now_ms = int(time() * 1000)
    return [
        Candidate(
            host_id=host.host_id,
            rack=host.rack,
            address=host.address,
            port_first=host.port_first,
            port_last=host.port_last,
            alive=host.alive,
            has_key=host.host_id in with_key,
            state=states[host.host_id].state if host.host_id in states else ACTIVE,
            brokers=count[host.host_id],
            ports_taken=frozenset(taken.get(host.host_id, ())),
            capacity=host.capacity,
            capacity_age_s=host.capacity.age_s(now_ms),
            installed=installed.get(host.host_id, NOT_KNOWN),
        )
        for host in sorted(found, key=lambda host: host.host_id)
    ]


def host_states() -> dict[str, HostState]:
    """What was decided about hosts; those without a row are active."""
    return {row.host_id: row for row in HostState.objects.all()}


def ports_taken() -> dict[str, set[int]]:
    """By host: of brokers that should run, and of those whose host still owes their deletion."""
    return _taken(_ports())


def no_longer_fit(
    placed: Collection[Placement],
    found: Iterable[Host],
    releases: Releases,
    *,
    but_cluster: str | None = None,
) -> dict[int, Refusal]:
    """Which of these places are none any more, by broker id; their ports may be taken meanwhile."""
    wanted = {row.host_id for row in placed}
    rows = _ports(but_cluster=but_cluster, only_on=wanted)
    found = [host for host in found if host.host_id in wanted]
    hosts = {each.host_id: each for each in _as_candidates(found, rows, releases.installed)}
    refused = {}
    for row in placed:
        host = hosts.get(row.host_id)
        if host is None:
            refused[row.broker_id] = Refusal.by(row.host_id, lack_of("gone"))
        elif why := refusal(
            host, disk_min_bytes=settings.BROKER_DISK_MIN_BYTES, wants=releases.wants
        ):
            refused[row.broker_id] = why
        elif not {row.client_port, row.internal_port} <= set(host.free_ports):
            refused[row.broker_id] = Refusal.by(row.host_id, lack_of("no-port/taken"))
    return refused


def _ports(
    *, but_cluster: str | None = None, only_on: Collection[str] | None = None
) -> list[Ports]:
    """Of brokers that should run and of those that are owed, by one statement.

    So that a broker which goes from the one to the other meanwhile is in one of them.
    """
    brokers, owed = Broker.objects.order_by(), OwedDeletion.objects.order_by()
    if but_cluster is not None:
        brokers = brokers.exclude(cluster_id=but_cluster)
    if only_on is not None:
        brokers = brokers.filter(host_id__in=only_on)
        owed = owed.filter(host_id__in=only_on)
    columns = ("host_id", "client_port", "internal_port", "should_run")
    return list(
        brokers.annotate(should_run=Value(True, output_field=BooleanField()))
        .values_list(*columns)
        .union(
            owed.annotate(should_run=Value(False, output_field=BooleanField())).values_list(
                *columns
            ),
            all=True,
        )
    )


def _taken(rows: Iterable[Ports]) -> dict[str, set[int]]:
    taken: dict[str, set[int]] = {}
    for host_id, client_port, internal_port, _ in rows:
        taken.setdefault(host_id, set()).update((client_port, internal_port))
    return taken
