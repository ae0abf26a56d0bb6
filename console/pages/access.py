"""Users and ACLs of a cluster, and which of them were changed outside."""

from console.pages.shared import asked, observed_list
from console.parts import Part
from controlplane.access.selectors import (
    access_drift,
    acl_row,
    overlap_list,
    quota_rows,
    user_row,
)
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.observed.sections import ACLS, USERS
from controlplane.tenants.models import Tenant


def access(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {
        "users": observed_list(row, scope, USERS, user_row),
        "overlaps": Part(lambda: overlap_list(row, scope)),
        "acls": observed_list(row, scope, ACLS, acl_row),
        "quotas": asked(row, scope, lambda _cluster, gateway: quota_rows(gateway)),
        "drift": Part(lambda: access_drift(reader_of(row, scope))),
    }
