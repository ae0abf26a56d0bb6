"""`/clusters/{id}/reassignments`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import cluster_row, gateway_for
from controlplane.common.openapi import documented
from controlplane.reassignments import selectors
from controlplane.reassignments.serializers import ReassignmentListSerializer
from controlplane.tenants.views import TenantView


class ReassignmentsView(TenantView):
    @documented(
        "reassignment_list",
        answers={200: ReassignmentListSerializer},
        tag="reassignments",
        summary="What the brokers are moving right now",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = cluster_row(self.tenant, cluster_id)
        return Response({"data": selectors.active(cluster, gateway_for(cluster))})
