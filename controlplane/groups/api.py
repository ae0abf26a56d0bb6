"""`/clusters/{id}/groups`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, SEARCH, documented
from controlplane.groups import selectors
from controlplane.groups.serializers import (
    GroupRowPageSerializer,
    GroupSerializer,
)
from controlplane.observed.api import observed_list
from controlplane.observed.sections import GROUPS
from controlplane.tenants.views import TenantView

TAG = "groups"


class GroupsView(TenantView):
    area = Area.GROUP

    @documented(
        "group_list",
        answers={200: GroupRowPageSerializer},
        parameters=[*PAGED, SEARCH],
        tag=TAG,
        summary="Consumer groups of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        reader = reader_of(cluster, self.scope)
        page = observed_list(request, reader, GROUPS, selectors.group_row)
        selectors.with_diagnosis(reader, page["data"])
        return Response(page)


class GroupView(TenantView):
    area = Area.GROUP

    @documented("group_get", answers={200: GroupSerializer}, tag=TAG, summary="One group")
    def get(self, request: Request, cluster_id: str, group: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response(selectors.group_detail(reader_of(cluster, self.scope), group))
