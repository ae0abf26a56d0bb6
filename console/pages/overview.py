"""Overview: clusters, what needs attention, recent operations."""

from console.pages.attention_parts import attention_part
from console.pages.shared import operations_part
from console.parts import Part
from controlplane.clusters.selectors import cluster_list
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant


def overview(tenant: Tenant, scope: Scope) -> dict[str, Part]:
    return {
        "clusters": Part(lambda: cluster_list(tenant, scope), remote=True),
        "attention": attention_part(tenant, scope),
        "operations": operations_part(tenant, scope),
    }
