"""Users and ACLs of a cluster."""

from console.pages.shared import asked
from console.parts import Part
from controlplane.access.selectors import acl_list, user_list
from controlplane.clusters.selectors import cluster_row
from controlplane.tenants.models import Tenant


def access(tenant: Tenant, cluster_id: str) -> dict[str, Part]:
    row = cluster_row(tenant, cluster_id)
    return {"users": asked(row, user_list), "acls": asked(row, acl_list)}
