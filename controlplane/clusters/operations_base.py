"""What every kind of operation on a cluster shares."""

from controlplane.clusters.connections import gateway_for
from controlplane.clusters.models import CREATING, DELETING, Cluster
from controlplane.clusters.selectors import cluster_row
from controlplane.common.problems import Conflict
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.operations import OperationKind, PlanContext, StepContext


class ClusterOperationKind(OperationKind):
    """An operation on an existing cluster, seen through its gateway."""

    on_cluster = True

    def cluster(self, context: PlanContext | StepContext) -> Cluster:
        if isinstance(context, StepContext):
            return cluster_row(context.tenant, context.operation.cluster_id or "")
        return cluster_row(context.tenant, context.cluster_id or "")

    def gateway(self, context: PlanContext | StepContext) -> ClusterGateway:
        cluster = self.cluster(context)
        if cluster.phase in {CREATING, DELETING}:
            raise Conflict(
                f"The cluster {cluster.name} is {cluster.phase}.", code="cluster-not-running"
            )
        return gateway_for(cluster)
