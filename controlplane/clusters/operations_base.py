"""What every kind of operation on a cluster shares."""

from controlplane.clusters.connections import gateway_for
from controlplane.clusters.models import CREATING, DELETING, Cluster
from controlplane.clusters.selectors import cluster_row
from controlplane.common.problems import Conflict
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.operations import OperationKind, PlanContext, StepContext


def cluster_of(context: PlanContext | StepContext) -> Cluster:
    """The row of the cluster that the plan or the step is about, of its tenant only.

    Raises:
        NotFound: the tenant has no such cluster.
    """
    named = context.operation if isinstance(context, StepContext) else context
    return cluster_row(context.tenant, named.cluster_id or "")


class ClusterOperationKind(OperationKind):
    """An operation on an existing cluster, seen through its gateway."""

    on_cluster = True

    def gateway(self, context: PlanContext | StepContext) -> ClusterGateway:
        cluster = cluster_of(context)
        if cluster.phase in {CREATING, DELETING}:
            raise Conflict(
                f"The cluster {cluster.name} is {cluster.phase}.", code="cluster-not-running"
            )
        return gateway_for(cluster)
