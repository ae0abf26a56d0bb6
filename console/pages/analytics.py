"""Lag and retention of a cluster as of the last Spark run, a page of each, and the runs."""

from functools import cache

from console.analytics_query import AnalyticsWanted
from console.pages import analytics_parts
from console.parts import Part
from controlplane.analytics.lists import Paged, lag_page, retention_page
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant


def analytics(
    tenant: Tenant, scope: Scope, wanted: AnalyticsWanted, cluster_id: str
) -> dict[str, Part]:
    seen_cluster(tenant, scope, cluster_id, with_brokers=False)

    @cache
    def lag() -> Paged:
        return lag_page(tenant, scope, cluster_id, wanted.lag)

    @cache
    def retention() -> Paged:
        return retention_page(tenant, scope, cluster_id, wanted.topics)

    return {
        "lag": Part(lambda: lag().answer),
        "lag_counts": Part(lambda: lag().counts),
        "retention": Part(lambda: retention().answer),
        "retention_counts": Part(lambda: retention().counts),
        "runs": analytics_parts.runs(tenant, scope),
        "collector": analytics_parts.collector(tenant, scope, cluster_id),
    }
