"""One cluster: brokers with their load, key figures, moves, operations, events, how to connect."""

from console.pages.attention_parts import attention_part
from console.pages.shared import asked, cluster_part, kept_of, observed, operations_part
from console.parts import Part
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import client_config, reader_of, seen_cluster
from controlplane.clusters.versions_read import cluster_versions
from controlplane.common.grants import Scope
from controlplane.observed import selectors
from controlplane.observed.sections import BROKERS, REASSIGNMENTS
from controlplane.reassignments.progress import active, active_kept
from controlplane.tenants.models import Tenant
from controlplane.timeline.selectors import newest

EVENTS_SHOWN = 8


def cluster(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {
        "cluster": cluster_part(tenant, scope, cluster_id),
        "attention": attention_part(tenant, scope, cluster_id),
        "summary": summary(row, scope),
        "loads": loads(row, scope),
        "versions": Part(lambda: cluster_versions(scope, row)),
        "reassignments": moving(row, scope),
        "operations": operations_part(tenant, scope, cluster_id),
        "events": Part(lambda: newest(tenant, scope, cluster_id, EVENTS_SHOWN)),
        "client_config": Part(lambda: client_config(row)),
    }


def summary(cluster: Cluster, scope: Scope) -> Part:
    """{topics, partitions, under_replicated, offline, size_bytes}; size over all replicas, null
    while a broker that holds some does not say, and for who sees a part of the cluster.
    """
    reader = reader_of(cluster, scope)
    return observed(cluster, scope, BROKERS, lambda _at: selectors.summary(reader))


def loads(cluster: Cluster, scope: Scope) -> Part:
    """Rows {id, leaders, replicas, size_bytes} by broker id; what is not known is null."""
    reader = reader_of(cluster, scope)
    return observed(cluster, scope, BROKERS, lambda _at: selectors.loads(reader))


def moving(cluster: Cluster, scope: Scope) -> Part:
    """What the brokers move now; while they do not say, what they were moving."""
    reader = reader_of(cluster, scope)
    kept = kept_of(cluster, scope, REASSIGNMENTS, lambda at: active_kept(reader, at))
    return asked(cluster, scope, active, kept=kept)
