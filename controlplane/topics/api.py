"""`/clusters/{id}/topics`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import seen_cluster, seen_gateway
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of_list
from controlplane.tenants.views import TenantView
from controlplane.topics import selectors
from controlplane.topics.serializers import TopicRowPageSerializer, TopicSerializer

TAG = "topics"


class TopicsView(TenantView):
    area = Area.TOPIC

    @documented(
        "topic_list",
        answers={200: TopicRowPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Topics of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        rows = selectors.topic_list(cluster, seen_gateway(cluster, self.scope))
        return Response(page_of_list(request, rows, "name"))


class TopicView(TenantView):
    area = Area.TOPIC

    @documented("topic_get", answers={200: TopicSerializer}, tag=TAG, summary="One topic")
    def get(self, request: Request, cluster_id: str, name: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response(selectors.topic_detail(cluster, seen_gateway(cluster, self.scope), name))
