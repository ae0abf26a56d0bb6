"""Facts about hosts, for their operators: what agents say by ZooKeeper, and what was decided."""

from collections import defaultdict
from datetime import datetime

from controlplane.alerts.fact_types import HostFact, OperatorFacts
from controlplane.alerts.facts import reason
from controlplane.clusters.candidates import candidates, host_states
from controlplane.clusters.host_states import ACTIVE
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.models import Broker

READ_S = 3.0
"""All hosts: within a few renewals of the evaluator's lease, whatever ZooKeeper does."""


def read() -> OperatorFacts:
    """Every host that is registered, or that brokers are placed on although it is not."""
    certificates = _certificates()
    try:
        found = hosts().hosts(within_s=READ_S)
    except HostsUnavailableError as error:
        because = reason(str(error)) or "no answer"
        return OperatorFacts(hosts=None, unknown_because=because, certificates=certificates)
    facts = [
        HostFact(
            id=place.host_id,
            alive=place.alive,
            state=place.state,
            brokers=place.brokers,
            capacity=place.capacity,
            capacity_age_s=place.capacity_age_s,
            ports_free=len(place.free_ports) if place.capacity.ports_busy is not None else None,
        )
        for place in candidates(found)
    ]
    return OperatorFacts(
        hosts=(*facts, *_unregistered({host.host_id for host in found})),
        certificates=certificates,
    )


def _unregistered(known: set[str]) -> list[HostFact]:
    """Hosts of brokers that ZooKeeper has nothing of: whoever looks there finds nobody."""
    states = host_states()
    count: defaultdict[str, int] = defaultdict(int)
    for host_id in Broker.objects.exclude(host_id__in=known).values_list("host_id", flat=True):
        count[host_id] += 1
    return [
        HostFact(
            id=host_id,
            alive=False,
            state=states[host_id].state if host_id in states else ACTIVE,
            brokers=brokers,
        )
        for host_id, brokers in sorted(count.items())
        if host_id
    ]


def _certificates() -> dict[str, tuple[tuple[str, datetime], ...]]:
    """By host its brokers (cluster's id and number), with the end of what the service made them."""
    found: defaultdict[str, list[tuple[str, datetime]]] = defaultdict(list)
    rows = Broker.objects.exclude(certificate_ends_at=None).order_by("cluster_id", "broker_id")
    columns = ("host_id", "cluster_id", "broker_id", "certificate_ends_at")
    for host_id, cluster_id, broker_id, ends_at in rows.values_list(*columns):
        if ends_at is not None:
            found[host_id].append((f"{cluster_id}-{broker_id}", ends_at))
    return {host_id: tuple(ends) for host_id, ends in found.items()}
