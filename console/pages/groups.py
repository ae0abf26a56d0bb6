"""Consumer groups: what the brokers say now beside what Spark worked out."""

from console.pages import analytics_parts
from console.pages.shared import asked
from console.parts import Part
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.groups.selectors import group_detail, group_list
from controlplane.tenants.models import Tenant


def groups(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    return {
        "groups": asked(seen_cluster(tenant, scope, cluster_id), scope, group_list),
        "lag": analytics_parts.lag_now(tenant, scope, cluster_id),
    }


def group(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {
        "group": asked(row, scope, lambda cluster, gateway: group_detail(cluster, gateway, name)),
        "lag": analytics_parts.lag_now(tenant, scope, cluster_id, name),
        "retention": analytics_parts.retention(tenant, scope, cluster_id),
        "collector": analytics_parts.collector(tenant, scope, cluster_id),
    }
