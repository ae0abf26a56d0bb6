"""`/clusters/{id}/users`, `/clusters/{id}/acls`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.access import selectors
from controlplane.access.serializers import AclListSerializer, KafkaUserListSerializer
from controlplane.clusters.selectors import cluster_row, gateway_for
from controlplane.common.openapi import documented
from controlplane.tenants.views import TenantView

TAG = "access"


class UsersView(TenantView):
    @documented(
        "kafka_user_list",
        answers={200: KafkaUserListSerializer},
        tag=TAG,
        summary="Users of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = cluster_row(self.tenant, cluster_id)
        return Response({"data": selectors.user_list(cluster, gateway_for(cluster))})


class AclsView(TenantView):
    @documented(
        "acl_list", answers={200: AclListSerializer}, tag=TAG, summary="Access rules of a cluster"
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = cluster_row(self.tenant, cluster_id)
        return Response({"data": selectors.acl_list(cluster, gateway_for(cluster))})
