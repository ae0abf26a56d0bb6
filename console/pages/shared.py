"""What the pages of one cluster share: the row, the way in, the recent operations."""

from collections.abc import Callable
from typing import Any

from console.parts import Part
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import cluster_get, cluster_row, gateway_for
from controlplane.common.problems import Unavailable
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.selectors import operation_list
from controlplane.tenants.models import Tenant

RECENT_OPERATIONS = 12
NOT_SERVING = {
    "CREATING": "The cluster is still being created.",
    "DELETING": "The cluster is being deleted.",
    "FAILED": "The cluster has not come up; its operation says why.",
}

GatewayRead = Callable[[Cluster, ClusterGateway], Any]


def asked(cluster: Cluster, read: GatewayRead) -> Part:
    """A part that asks the brokers; while there are none to ask it says so at once."""

    def ask() -> Any:
        if cluster.phase in NOT_SERVING:
            raise Unavailable(NOT_SERVING[cluster.phase])
        return read(cluster, gateway_for(cluster))

    return Part(ask, remote=True)


def cluster_part(tenant: Tenant, cluster_id: str) -> Part:
    """One cluster as brokers and agents see it.

    Raises:
        NotFound: when the page is put together, before anything is asked.
    """
    cluster_row(tenant, cluster_id)
    return Part(lambda: cluster_get(tenant, cluster_id), remote=True)


def operations_part(tenant: Tenant, cluster_id: str | None = None) -> Part:
    return Part(lambda: operation_list(tenant, cluster_id=cluster_id, limit=RECENT_OPERATIONS))
