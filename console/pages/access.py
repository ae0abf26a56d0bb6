"""Users, ACLs and quotas of a cluster, and what was changed outside, each a page at a time."""

from functools import cache
from typing import Any

from console.access_query import AccessWanted
from console.pages.shared import asked, counts_of, kept_of, observed_parts
from console.parts import Part
from controlplane.access.lists import acls_listed, users_listed, with_rules
from controlplane.access.paged import drift_paged, quotas_paged
from controlplane.access.selectors import (
    access_drift,
    acl_row,
    kept_quotas,
    overlap_list,
    quota_rows,
    user_row,
)
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.observed.listings import Listed
from controlplane.observed.sections import ACLS, QUOTAS, USERS
from controlplane.observed.selectors import Section
from controlplane.tenants.models import Tenant


def access(tenant: Tenant, scope: Scope, wanted: AccessWanted, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    reader = reader_of(row, scope)

    @cache
    def users() -> Listed:
        return users_listed(reader, wanted.users)

    @cache
    def acls() -> Listed:
        return acls_listed(reader, wanted.acls)

    def user_rows(at: Section) -> list[dict[str, Any]]:
        return with_rules(reader, [user_row(each, at) for each in users().rows])

    def overlaps() -> list[dict[str, Any]]:
        return overlap_list(row, scope, [each.key for each in users().rows])

    def drift() -> dict[str, Any]:
        shown = {each.key for each in users().rows}
        return drift_paged(access_drift(reader), wanted.drift, shown)

    return {
        **observed_parts(
            row,
            scope,
            USERS,
            users=user_rows,
            users_counts=lambda _at: counts_of(users(), wanted.users),
        ),
        "overlaps": Part(overlaps),
        **observed_parts(
            row,
            scope,
            ACLS,
            acls=lambda at: [acl_row(each, at) for each in acls().rows],
            acls_counts=lambda _at: counts_of(acls(), wanted.acls),
        ),
        "quotas": asked(
            row,
            scope,
            lambda _cluster, gateway: quotas_paged(quota_rows(gateway), wanted.quotas),
            kept=kept_of(
                row, scope, QUOTAS, lambda _at: quotas_paged(kept_quotas(reader), wanted.quotas)
            ),
        ),
        "drift": Part(drift),
    }
