"""Overview: clusters, what needs attention, recent operations, hosts."""

from typing import Any

from console.pages.attention import SHOWN, attention
from console.pages.shared import operations_part
from console.parts import Part
from controlplane.analytics import selectors as analytics
from controlplane.clusters.selectors import cluster_list, host_list
from controlplane.tenants.models import Tenant


def overview(tenant: Tenant) -> dict[str, Part]:
    return {
        "clusters": Part(lambda: cluster_list(tenant), remote=True),
        "attention": Part(lambda: _attention(tenant), remote=True),
        "operations": operations_part(tenant),
        "hosts": Part(host_list, remote=True),
    }


def _attention(tenant: Tenant) -> list[dict[str, Any]]:
    rows = []
    for cluster in cluster_list(tenant):
        lag = analytics.lag_series(tenant, cluster["id"], latest=True)
        retention = analytics.retention_table(tenant, cluster["id"])
        rows += attention(cluster, lag, retention)
    return rows[:SHOWN]
