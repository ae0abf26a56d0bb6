"""`/clusters/{id}/topics`, `…/partitions/{id}/segments` and `/retention-leases`."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, SEARCH, documented
from controlplane.common.paging import page_of_list, page_of_source
from controlplane.common.problems import field_problem
from controlplane.observed.api import observed_list
from controlplane.observed.sections import TOPICS
from controlplane.tenants.views import TenantView
from controlplane.topics import selectors
from controlplane.topics.client_serializers import ProducerPageSerializer, TopicReplicasSerializer
from controlplane.topics.producers import topic_producers
from controlplane.topics.replicas import topic_replicas
from controlplane.topics.segments import PARTITION_DIGITS_MAX, partition_of, partition_segments
from controlplane.topics.serializers import (
    ConfigHistorySerializer,
    RetentionLeaseListSerializer,
    SegmentPageSerializer,
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


class SegmentsView(TenantView):
    area = Area.TOPIC

    @documented(
        "segment_list",
        answers={200: SegmentPageSerializer},
        parameters=[
            *PAGED,
            OpenApiParameter("broker", int, description="Whose replica; the leader's by default."),
        ],
        tag=TAG,
        summary="A partition's segments on one broker, as its host's agent lists them now",
    )
    def get(self, request: Request, cluster_id: str, name: str, partition: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        number = partition_of(partition)
        broker = _broker_asked(request)
        found: dict[str, Any] = {}

        def read(before: str | None, size: int) -> tuple[list[dict[str, Any]], str | None]:
            found.update(
                partition_segments(
                    reader_of(cluster, self.scope),
                    cluster,
                    name,
                    number,
                    broker=broker,
                    segments=size,
                    before=None if before is None else int(before),
                )
            )
            following = found.pop("next")
            return found.pop("segments"), None if following is None else str(following)

        page = page_of_source(request, read)
        return Response({**page, **found})


def _broker_asked(request: Request) -> int | None:
    text = request.query_params.get("broker")
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= PARTITION_DIGITS_MAX):
        raise field_problem("/broker", "broker is the id of a broker.")
    return int(text)


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


class ProducersView(TenantView):
    area = Area.TOPIC

    @documented(
        "topic_producers",
        answers={200: ProducerPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Who writes to a topic, as the leaders of its partitions remember: by producer id",
    )
    def get(self, request: Request, cluster_id: str, name: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        page_of_list(request, [], "producer_id")  # a bad page is refused before brokers are asked
        found = topic_producers(cluster, self.scope, name)
        producers = found.pop("producers")
        return Response({**page_of_list(request, producers, "producer_id"), **found})


class ReplicasView(TenantView):
    area = Area.TOPIC

    @documented(
        "topic_replicas",
        answers={200: TopicReplicasSerializer},
        tag=TAG,
        summary="Size, lag and log directory of every replica of a topic, as its holders say",
    )
    def get(self, request: Request, cluster_id: str, name: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response(topic_replicas(cluster, self.scope, name))


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
