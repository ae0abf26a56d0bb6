"""`/clusters/{id}/groups`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import seen_cluster, seen_gateway
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of_list
from controlplane.groups import selectors
from controlplane.groups.serializers import GroupRowPageSerializer, GroupSerializer
from controlplane.tenants.views import TenantView

TAG = "groups"


class GroupsView(TenantView):
    area = Area.GROUP

    @documented(
        "group_list",
        answers={200: GroupRowPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Consumer groups of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        rows = selectors.group_list(cluster, seen_gateway(cluster, self.scope))
        return Response(page_of_list(request, rows, "group"))


class GroupView(TenantView):
    area = Area.GROUP

    @documented("group_get", answers={200: GroupSerializer}, tag=TAG, summary="One group")
    def get(self, request: Request, cluster_id: str, group: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response(selectors.group_detail(cluster, seen_gateway(cluster, self.scope), group))
