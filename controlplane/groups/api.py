"""`/clusters/{id}/groups`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import cluster_row, gateway_for
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of_list
from controlplane.groups import selectors
from controlplane.groups.serializers import GroupRowPageSerializer, GroupSerializer
from controlplane.tenants.views import TenantView

TAG = "groups"


class GroupsView(TenantView):
    @documented(
        "group_list",
        answers={200: GroupRowPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Consumer groups of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = cluster_row(self.tenant, cluster_id)
        rows = selectors.group_list(cluster, gateway_for(cluster))
        return Response(page_of_list(request, rows, "group"))


class GroupView(TenantView):
    @documented("group_get", answers={200: GroupSerializer}, tag=TAG, summary="One group")
    def get(self, request: Request, cluster_id: str, group: str) -> Response:
        cluster = cluster_row(self.tenant, cluster_id)
        return Response(selectors.group_detail(cluster, gateway_for(cluster), group))
