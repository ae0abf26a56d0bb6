"""Lag and retention of a cluster as of the last Spark run, and the runs themselves."""

from console.pages import analytics_parts
from console.parts import Part
from controlplane.clusters.selectors import cluster_row
from controlplane.tenants.models import Tenant


def analytics(tenant: Tenant, cluster_id: str) -> dict[str, Part]:
    cluster_row(tenant, cluster_id)
    return {
        "lag": analytics_parts.lag_now(tenant, cluster_id),
        "retention": analytics_parts.retention(tenant, cluster_id),
        "runs": analytics_parts.runs(tenant),
        "collector": analytics_parts.collector(tenant, cluster_id),
    }
