"""Overview: clusters, what needs attention, recent operations, hosts."""

from typing import Any

from console.pages.attention import SHOWN, attention
from console.pages.shared import operations_part, require_whole_tenant
from console.parts import Part
from controlplane.analytics import selectors as analytics
from controlplane.clusters.selectors import cluster_list, host_list
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant


def overview(tenant: Tenant, scope: Scope) -> dict[str, Part]:
    return {
        "clusters": Part(lambda: cluster_list(tenant, scope), remote=True),
        "attention": Part(lambda: _attention(tenant, scope), remote=True),
        "operations": operations_part(tenant, scope),
        "hosts": Part(lambda: _hosts(scope), remote=True),
    }


def _hosts(scope: Scope) -> list[dict[str, Any]]:
    require_whole_tenant(scope, "Hosts")
    return host_list()


def _attention(tenant: Tenant, scope: Scope) -> list[dict[str, Any]]:
    rows = []
    for cluster in cluster_list(tenant, scope):
        lag = analytics.lag_series(tenant, scope, cluster["id"], latest=True)
        retention = analytics.retention_table(tenant, scope, cluster["id"])
        rows += attention(cluster, lag, retention)
    return rows[:SHOWN]
