"""Users and ACLs of a cluster."""

from console.pages.shared import asked
from console.parts import Part
from controlplane.access.selectors import acl_list, user_list
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant


def access(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {"users": asked(row, scope, user_list), "acls": asked(row, scope, acl_list)}
