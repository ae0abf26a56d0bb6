"""Lag and retention of a cluster as of the last Spark run, and the runs themselves."""

from console.pages import analytics_parts
from console.parts import Part
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant


def analytics(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    seen_cluster(tenant, scope, cluster_id)
    return {
        "lag": analytics_parts.lag_now(tenant, scope, cluster_id),
        "retention": analytics_parts.retention(tenant, scope, cluster_id),
        "runs": analytics_parts.runs(tenant, scope),
        "collector": analytics_parts.collector(tenant, scope, cluster_id),
    }
