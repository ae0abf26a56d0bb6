"""Topics of a cluster, and one topic with what Spark knows of its retention."""

from console.pages import analytics_parts
from console.pages.shared import observed, observed_list
from console.parts import Part
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.observed.sections import TOPICS
from controlplane.tenants.models import Tenant
from controlplane.topics.selectors import topic_detail, topic_row


def topics(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {"topics": observed_list(row, scope, TOPICS, topic_row)}


def topic(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    reader = reader_of(row, scope)
    return {
        "topic": observed(row, scope, TOPICS, lambda _at: topic_detail(reader, name)),
        "retention": analytics_parts.retention(tenant, scope, cluster_id, name),
    }
