"""`/clusters/{id}/drift`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area
from controlplane.common.openapi import documented
from controlplane.drift.selectors import cluster_drift
from controlplane.drift.serializers import ClusterDriftSerializer
from controlplane.tenants.views import TenantView


class ClusterDriftView(TenantView):
    area = Area.OUTLINE

    @documented(
        "cluster_drift",
        answers={200: ClusterDriftSerializer},
        tag="clusters",
        summary="What is not as the last verified operation left it: since when, by whom, and the"
        " plans that mend it either way",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id, with_brokers=False)
        return Response(cluster_drift(cluster, self.scope))
