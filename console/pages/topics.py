"""Topics of a cluster, and one topic with what Spark knows of its retention."""

from typing import Any

from console.pages import analytics_parts
from console.pages.shared import observed
from console.parts import Part
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.observed.sections import TOPICS
from controlplane.observed.selectors import Section, rows_of
from controlplane.tenants.models import Tenant
from controlplane.topics.selectors import topic_detail, topic_row, with_drift


def topics(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    return {"topics": topic_list(seen_cluster(tenant, scope, cluster_id), scope)}


def topic_list(cluster: Cluster, scope: Scope) -> Part:
    """Every topic that `scope` covers, with its drift."""
    reader = reader_of(cluster, scope)

    def read(at: Section) -> list[dict[str, Any]]:
        rows = [topic_row(row, at) for row in rows_of(reader, TOPICS)]
        return with_drift(reader, rows)

    return observed(cluster, scope, TOPICS, read)


def topic(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    reader = reader_of(row, scope)
    return {
        "topic": observed(row, scope, TOPICS, lambda _at: topic_detail(reader, name)),
        "retention": analytics_parts.retention(tenant, scope, cluster_id, name),
    }
