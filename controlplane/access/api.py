"""`/clusters/{id}/users`, `/clusters/{id}/acls`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.access import selectors
from controlplane.access.serializers import AclListSerializer, KafkaUserListSerializer
from controlplane.clusters.selectors import seen_cluster, seen_gateway
from controlplane.common.grants import Area
from controlplane.common.openapi import documented
from controlplane.tenants.views import TenantView

TAG = "access"


class UsersView(TenantView):
    area = Area.ACCESS

    @documented(
        "kafka_user_list",
        answers={200: KafkaUserListSerializer},
        tag=TAG,
        summary="Users of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response({"data": selectors.user_list(cluster, seen_gateway(cluster, self.scope))})


class AclsView(TenantView):
    area = Area.ACCESS

    @documented(
        "acl_list", answers={200: AclListSerializer}, tag=TAG, summary="Access rules of a cluster"
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response({"data": selectors.acl_list(cluster, seen_gateway(cluster, self.scope))})
