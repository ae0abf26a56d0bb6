"""Clusters as sources of truth: which are there, how to ask them, what they should have."""

from collections.abc import Collection

from controlplane.clusters.connections import gateway_for
from controlplane.clusters.models import RUNNING, Broker, Cluster
from controlplane.common.problems import NotFound
from controlplane.gateway.port import ClusterGateway


class ClusterSource:
    """See `controlplane.observed.sources.Source`."""

    def serving(self) -> Collection[str]:
        rows = Cluster.objects.filter(deleted_at=None, phase=RUNNING)
        return list(rows.values_list("pk", flat=True))

    def present(self, cluster_ids: Collection[str]) -> Collection[str]:
        rows = Cluster.objects.filter(pk__in=cluster_ids, deleted_at=None)
        return set(rows.values_list("pk", flat=True))

    def gateway(self, cluster_id: str) -> ClusterGateway:
        cluster = Cluster.objects.filter(pk=cluster_id, deleted_at=None).first()
        if cluster is None:
            raise NotFound("Cluster not found.")
        return gateway_for(cluster)

    def desired_brokers(self, cluster_id: str) -> Collection[int]:
        rows = Broker.objects.filter(cluster_id=cluster_id, desired_state="running")
        return list(rows.values_list("broker_id", flat=True))
