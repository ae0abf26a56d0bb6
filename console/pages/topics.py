"""Topics of a cluster, and one topic with what Spark knows of its retention."""

from console.pages import analytics_parts
from console.pages.shared import asked
from console.parts import Part
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant
from controlplane.topics.selectors import topic_detail, topic_list


def topics(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    return {"topics": asked(seen_cluster(tenant, scope, cluster_id), scope, topic_list)}


def topic(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {
        "topic": asked(row, scope, lambda cluster, gateway: topic_detail(cluster, gateway, name)),
        "retention": analytics_parts.retention(tenant, scope, cluster_id, name),
    }
