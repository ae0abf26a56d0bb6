"""What a scheduled rebalance goes by: how far a cluster's brokers are from the mean, and whether it
is whole.
"""

from controlplane.clusters.connections import gateway_for
from controlplane.clusters.host_states import DRAINING
from controlplane.clusters.models import MANAGED, Broker, Cluster, HostState, LostBroker
from controlplane.healing.looking import under_way
from controlplane.healing.models import HealingCase
from controlplane.healing.states import OPEN
from controlplane.reassignments.imbalance import (
    Facts,
    Load,
    imbalance_of_bytes,
    imbalance_of_leaders,
)
from controlplane.reassignments.selectors import Truth, read_truth

LOOK_S = 20.0
"""One cluster's answers together, of all its brokers; who asks for them holds a thread of few."""
UNKNOWN: dict[str, float | None] = {"bytes_percent": None, "leaders_percent": None}


def figures_of(facts: Facts) -> dict[str, float | None]:
    return {
        "bytes_percent": imbalance_of_bytes(facts.loads).percent,
        "leaders_percent": imbalance_of_leaders(facts.loads).percent,
    }


def facts_of(cluster: Cluster) -> Facts:
    """What the cluster and our own tables say now.

    Raises:
        GatewayError: topics or brokers cannot be read.
    """
    gateway = gateway_for(cluster)
    truth = read_truth(gateway, None)
    return Facts(
        loads=loads_of(truth),
        missing=_missing(cluster, set(truth.racks)),
        behind=sum(
            tp in truth.unled or len(truth.in_sync[tp]) < len(replicas)
            for tp, replicas in truth.assignment.items()
        ),
        moving=len(gateway.list_reassignments(None)),
        under_way=under_way(cluster),
        is_healing=_is_healing(cluster),
    )


def loads_of(truth: Truth) -> tuple[Load, ...]:
    """What each live broker holds by its own word, and how many partitions prefer it."""
    leaders = [replicas[0] for replicas in truth.assignment.values() if replicas]
    return tuple(
        Load(
            broker=broker,
            bytes=sum(truth.held[broker].values()) if broker in truth.held else None,
            leaders=leaders.count(broker),
        )
        for broker in sorted(truth.racks)
    )


def _missing(cluster: Cluster, live: set[int]) -> int:
    """Of a Kafka that runs elsewhere nobody says which brokers there should be."""
    if cluster.kind != MANAGED:
        return 0
    expected = set(Broker.objects.filter(cluster=cluster).values_list("broker_id", flat=True))
    lost = LostBroker.objects.filter(cluster=cluster).values_list("broker_id", flat=True)
    return len(expected.union(lost) - live)


def _is_healing(cluster: Cluster) -> bool:
    leaving = HostState.objects.filter(state=DRAINING).values("host_id")
    return (
        HealingCase.objects.filter(cluster=cluster, state__in=OPEN).exists()
        or Broker.objects.filter(cluster=cluster, host_id__in=leaving).exists()
    )
