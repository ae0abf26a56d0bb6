"""Overview: clusters, what needs attention, recent operations, hosts."""

from typing import Any

from console.pages.attention_parts import attention_part
from console.pages.shared import operations_part, require_whole_tenant
from console.parts import Part
from controlplane.clusters.selectors import cluster_list, host_list
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant


def overview(tenant: Tenant, scope: Scope) -> dict[str, Part]:
    return {
        "clusters": Part(lambda: cluster_list(tenant, scope), remote=True),
        "attention": attention_part(tenant, scope),
        "operations": operations_part(tenant, scope),
        "hosts": Part(lambda: _hosts(scope), remote=True),
    }


def _hosts(scope: Scope) -> list[dict[str, Any]]:
    require_whole_tenant(scope, "Hosts")
    return host_list()
