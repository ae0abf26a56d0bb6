"""Consumer groups: what the brokers were last seen to say beside what Spark worked out."""

from typing import Any

from console.pages import analytics_parts
from console.pages.shared import observed
from console.parts import Part
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.groups.selectors import group_detail, group_row, with_diagnosis
from controlplane.observed.sections import GROUPS
from controlplane.observed.selectors import Section, rows_of
from controlplane.tenants.models import Tenant


def groups(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    reader = reader_of(row, scope)

    def read(at: Section) -> list[dict[str, Any]]:
        return with_diagnosis(reader, [group_row(each, at) for each in rows_of(reader, GROUPS)])

    return {
        "groups": observed(row, scope, GROUPS, read),
        "lag": analytics_parts.lag_now(tenant, scope, cluster_id),
    }


def group(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    reader = reader_of(row, scope)
    return {
        "group": observed(row, scope, GROUPS, lambda _at: group_detail(reader, name)),
        "lag": analytics_parts.lag_now(tenant, scope, cluster_id, name),
        "retention": analytics_parts.retention(tenant, scope, cluster_id),
        "collector": analytics_parts.collector(tenant, scope, cluster_id),
    }
