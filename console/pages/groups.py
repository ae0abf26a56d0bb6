"""Consumer groups: what the brokers were last seen to say beside what Spark worked out."""

from functools import cache
from typing import Any

from django.utils import timezone

from console.list_query import ListQuery
from console.pages import analytics_parts
from console.pages.shared import counts_of, observed, observed_parts
from console.parts import Part
from console.sources import Beside, OfSections
from controlplane.analytics.judged import judged_as, judged_groups
from controlplane.analytics.last_gold import mark_by, newest_lag
from controlplane.analytics.latest import Latest
from controlplane.analytics.selectors import lags_shown, sight_of
from controlplane.analytics.standings import standings_of
from controlplane.analytics.times import iso_ms, ms_of
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.common.times import iso_of_ms
from controlplane.groups.selectors import (
    GROUP_FILTERS,
    GROUP_ORDERS,
    Judged,
    group_detail,
    group_row,
    groups_listed,
    with_diagnosis,
)
from controlplane.observed.listings import Listed, Wanted
from controlplane.observed.sections import GROUPS
from controlplane.observed.selectors import Section
from controlplane.tenants.models import Tenant

GROUPS_QUERY = ListQuery(GROUP_ORDERS, GROUP_FILTERS, "-verdict", "group")


def _judged(cluster: Cluster) -> Beside | None:
    """A sample that says the same makes what is said of groups younger, as two texts have it."""
    found = judged_as(cluster.pk, ms_of(timezone.now()))
    if found is None:
        return None
    moving = {
        "d": iso_of_ms(found.sampled_ms) or "",
        "s": iso_ms(found.sampled_ms),
        "u": iso_ms(found.stale_after_ms),
    }
    return Beside(found.revision, moving)


GROUPS_SOURCES = OfSections(groups=GROUPS, counts=GROUPS, now=("lag",), more=_judged)


def groups(tenant: Tenant, scope: Scope, wanted: Wanted, cluster_id: str) -> dict[str, Part]:
    """A page of the groups, and what was worked out of those that are on it."""
    cluster = seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    reader = reader_of(cluster, scope)

    newest = cache(lambda: newest_lag(cluster_id))

    def judged() -> dict[str, Judged]:
        return judged_groups(tenant, scope, cluster_id, mark_by(newest()))

    @cache
    def page() -> Listed:
        return groups_listed(reader, wanted, judged)

    @cache
    def latest() -> Latest:
        names = [row.key for row in page().rows]
        return Latest(cluster_id, names, newest())

    def rows(at: Section) -> list[dict[str, Any]]:
        shown = [group_row(row, at) for row in page().rows]
        return with_diagnosis(reader, shown, standings_of(latest()))

    def lag() -> dict[str, Any]:
        found = latest()
        return lags_shown(found.newest, found.lags, sight_of(tenant, scope, cluster_id))

    def counts(_at: Section) -> dict[str, Any]:
        return counts_of(page(), wanted)

    return {
        **observed_parts(cluster, scope, GROUPS, groups=rows, counts=counts),
        "lag": Part(lag),
    }


def group(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    reader = reader_of(row, scope)
    return {
        "group": observed(row, scope, GROUPS, lambda _at: group_detail(reader, name)),
        "lag": analytics_parts.lag_now(tenant, scope, cluster_id, name),
        "retention": analytics_parts.retention(tenant, scope, cluster_id, group=name),
        "collector": analytics_parts.collector(tenant, scope, cluster_id),
    }
