"""`/clusters/{id}/topics` and `/retention-leases`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, SEARCH, documented
from controlplane.observed.api import observed_list
from controlplane.observed.sections import TOPICS
from controlplane.tenants.views import TenantView
from controlplane.topics import selectors
from controlplane.topics.serializers import (
    ConfigHistorySerializer,
    RetentionLeaseListSerializer,
    TopicRowPageSerializer,
    TopicSerializer,
)

TAG = "topics"


class TopicsView(TenantView):
    area = Area.TOPIC

    @documented(
        "topic_list",
        answers={200: TopicRowPageSerializer},
        parameters=[*PAGED, SEARCH],
        tag=TAG,
        summary="Topics of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        reader = reader_of(cluster, self.scope)
        page = observed_list(request, reader, TOPICS, selectors.topic_row)
        selectors.with_drift(reader, page["data"])
        return Response(page)


class TopicView(TenantView):
    area = Area.TOPIC

    @documented("topic_get", answers={200: TopicSerializer}, tag=TAG, summary="One topic")
    def get(self, request: Request, cluster_id: str, name: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response(selectors.topic_detail(reader_of(cluster, self.scope), name))


class ConfigHistoryView(TenantView):
    area = Area.TOPIC

    @documented(
        "topic_config_history",
        answers={200: ConfigHistorySerializer},
        tag=TAG,
        summary="Who changed which setting of a topic, when, from what to what",
    )
    def get(self, request: Request, cluster_id: str, name: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        found = selectors.topic_config_history(self.tenant, self.scope, cluster, name)
        return Response(found)


class RetentionLeasesView(TenantView):
    area = Area.TOPIC

    @documented(
        "retention_lease_list",
        answers={200: RetentionLeaseListSerializer},
        tag=TAG,
        summary="Topics whose records are kept longer for a set time, and until when",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response({"data": selectors.lease_list(cluster, self.scope)})
