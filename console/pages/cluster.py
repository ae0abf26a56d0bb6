"""One cluster: brokers with their load, key figures, moves, operations, how to connect."""

from collections import Counter
from typing import Any

from console.pages.shared import asked, cluster_part, operations_part
from console.parts import Part
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import client_config, cluster_row
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.reassignments.selectors import active
from controlplane.tenants.models import Tenant


def cluster(tenant: Tenant, cluster_id: str) -> dict[str, Part]:
    row = cluster_row(tenant, cluster_id)
    return {
        "cluster": cluster_part(tenant, cluster_id),
        "summary": asked(row, summary),
        "loads": asked(row, loads),
        "reassignments": asked(row, active),
        "operations": operations_part(tenant, cluster_id),
        "client_config": Part(lambda: client_config(row)),
    }


def summary(cluster: Cluster, gateway: ClusterGateway) -> dict[str, Any]:
    """{topics, partitions, under_replicated, offline, size_bytes}; size over all replicas."""
    del cluster  # the way in is enough
    topics = gateway.list_topics()
    partitions = [part for topic in topics for part in topic.partitions]
    sizes = _bytes_by_broker(gateway)
    return {
        "topics": len(topics),
        "partitions": len(partitions),
        "under_replicated": sum(
            part.leader is not None and len(part.isr) < len(part.replicas) for part in partitions
        ),
        "offline": sum(part.leader is None for part in partitions),
        "size_bytes": None if sizes is None else sum(sizes.values()),
    }


def loads(cluster: Cluster, gateway: ClusterGateway) -> list[dict[str, Any]]:
    """Rows {id, leaders, replicas, size_bytes} by broker id."""
    del cluster  # the way in is enough
    leaders: Counter[int] = Counter()
    replicas: Counter[int] = Counter()
    for topic in gateway.list_topics():
        for part in topic.partitions:
            replicas.update(part.replicas)
            if part.leader is not None:
                leaders[part.leader] += 1
    sizes = _bytes_by_broker(gateway)
    nodes = {node.id for node in gateway.describe_cluster().brokers} | set(replicas)
    return [
        {
            "id": broker,
            "leaders": leaders[broker],
            "replicas": replicas[broker],
            "size_bytes": None if sizes is None else sizes[broker],
        }
        for broker in sorted(nodes)
    ]


def _bytes_by_broker(gateway: ClusterGateway) -> Counter[int] | None:
    """None when the log directories cannot be read: better no size than a wrong one."""
    try:
        replicas = gateway.log_dirs()
    except GatewayError:
        return None
    found: Counter[int] = Counter()
    for replica in replicas:
        found[replica.broker] += replica.size_bytes
    return found
