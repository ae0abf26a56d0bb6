"""One cluster: brokers with their load, key figures, moves, operations, how to connect."""

from collections import Counter
from typing import Any

from console.pages.shared import asked, cluster_part, operations_part
from console.parts import Part
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import client_config, seen_cluster
from controlplane.common.grants import Scope
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import ClusterReader
from controlplane.reassignments.progress import active
from controlplane.tenants.models import Tenant


def cluster(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {
        "cluster": cluster_part(tenant, scope, cluster_id),
        "summary": asked(row, scope, summary),
        "loads": asked(row, scope, loads),
        "reassignments": asked(row, scope, active),
        "operations": operations_part(tenant, scope, cluster_id),
        "client_config": Part(lambda: client_config(row)),
    }


def summary(cluster: Cluster, gateway: ClusterGateway) -> dict[str, Any]:
    """{topics, partitions, under_replicated, offline, size_bytes}; size over all replicas, null
    while a broker that holds some does not say.
    """
    del cluster  # the way in is enough
    topics = gateway.list_topics()
    partitions = [part for topic in topics for part in topic.partitions]
    holding = {broker for part in partitions for broker in part.replicas}
    sizes = _bytes_by_broker(gateway, _live(gateway))
    return {
        "topics": len(topics),
        "partitions": len(partitions),
        "under_replicated": sum(
            part.leader is not None and len(part.isr) < len(part.replicas) for part in partitions
        ),
        "offline": sum(part.leader is None for part in partitions),
        "size_bytes": sum(sizes.values()) if holding <= set(sizes) else None,
    }


def loads(cluster: Cluster, gateway: ClusterGateway) -> list[dict[str, Any]]:
    """Rows {id, leaders, replicas, size_bytes} by broker id; a size is null that is not known."""
    del cluster  # the way in is enough
    leaders: Counter[int] = Counter()
    replicas: Counter[int] = Counter()
    for topic in gateway.list_topics():
        for part in topic.partitions:
            replicas.update(part.replicas)
            if part.leader is not None:
                leaders[part.leader] += 1
    live = _live(gateway)
    sizes = _bytes_by_broker(gateway, live)
    nodes = live | set(replicas)
    return [
        {
            "id": broker,
            "leaders": leaders[broker],
            "replicas": replicas[broker],
            "size_bytes": sizes.get(broker),
        }
        for broker in sorted(nodes)
    ]


def _live(gateway: ClusterGateway) -> set[int]:
    return {node.id for node in gateway.describe_cluster().brokers}


def _bytes_by_broker(gateway: ClusterGateway, brokers: set[int]) -> dict[int, int]:
    """Of those that say what their log directories hold."""
    reading = ClusterReader(gateway).replicas(sorted(brokers))
    silent = {broker for gap in reading.gaps for broker in gap.brokers}
    found = dict.fromkeys(brokers - silent, 0)
    for replica in reading.known:
        found[replica.broker] += replica.size_bytes
    return found
