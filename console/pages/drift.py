"""What of a cluster is not as it was left: since when, by whom, and the plans that mend it."""

from console.parts import Part
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.drift.selectors import cluster_drift
from controlplane.tenants.models import Tenant


def drift(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    return {"drift": Part(lambda: cluster_drift(row, scope))}
