"""Consumer groups: what the brokers say now beside what Spark worked out."""

from console.pages import analytics_parts
from console.pages.shared import asked
from console.parts import Part
from controlplane.clusters.selectors import cluster_row
from controlplane.groups.selectors import group_detail, group_list
from controlplane.tenants.models import Tenant


def groups(tenant: Tenant, cluster_id: str) -> dict[str, Part]:
    return {
        "groups": asked(cluster_row(tenant, cluster_id), group_list),
        "lag": analytics_parts.lag_now(tenant, cluster_id),
    }


def group(tenant: Tenant, cluster_id: str, name: str) -> dict[str, Part]:
    row = cluster_row(tenant, cluster_id)
    return {
        "group": asked(row, lambda cluster, gateway: group_detail(cluster, gateway, name)),
        "lag": analytics_parts.lag_now(tenant, cluster_id, name),
        "retention": analytics_parts.retention(tenant, cluster_id),
        "collector": analytics_parts.collector(tenant, cluster_id),
    }
