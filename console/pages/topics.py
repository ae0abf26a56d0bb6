"""Topics of a cluster, and one topic with what Spark knows of its retention."""

from console.pages import analytics_parts
from console.pages.shared import asked
from console.parts import Part
from controlplane.clusters.selectors import cluster_row
from controlplane.tenants.models import Tenant
from controlplane.topics.selectors import topic_detail, topic_list


def topics(tenant: Tenant, cluster_id: str) -> dict[str, Part]:
    return {"topics": asked(cluster_row(tenant, cluster_id), topic_list)}


def topic(tenant: Tenant, cluster_id: str, name: str) -> dict[str, Part]:
    row = cluster_row(tenant, cluster_id)
    return {
        "topic": asked(row, lambda cluster, gateway: topic_detail(cluster, gateway, name)),
        "retention": analytics_parts.retention(tenant, cluster_id, name),
    }
