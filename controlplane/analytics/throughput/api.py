"""`/clusters/{id}/analytics/throughput`, and the small pictures of a list's page."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.analytics.throughput import selectors, sparklines
from controlplane.analytics.throughput.consumption import consumption
from controlplane.analytics.throughput.offsets import RANGES, offsets
from controlplane.analytics.throughput.serializers import (
    LISTS,
    ConsumptionQuerySerializer,
    ConsumptionSerializer,
    OffsetsQuerySerializer,
    OffsetsSerializer,
    SparklineQuerySerializer,
    SparklinesSerializer,
    ThroughputQuerySerializer,
    ThroughputSerializer,
)
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area
from controlplane.common.openapi import documented
from controlplane.tenants.views import TenantView

TAG = "analytics"
NAME = OpenApiParameter(
    "name", str, many=True, required=True, description="Of what a list shows; at most 100."
)
GROUP = OpenApiParameter(
    "group",
    str,
    many=True,
    description="Without it those that read most; groups × on: 100 at most.",
)
ON = OpenApiParameter(
    "on", str, many=True, required=True, description="topic/partition, such as orders/3."
)


class ThroughputView(TenantView):
    area = Area.OUTLINE

    @documented(
        "analytics_throughput",
        answers={200: ThroughputSerializer},
        parameters=[
            OpenApiParameter("of", str, enum=list(selectors.SUBJECTS), description="cluster"),
            OpenApiParameter("broker", int, description="One of them; without it all."),
            OpenApiParameter("topic", str, description="With of=topic and of=partition."),
            OpenApiParameter("partition", int, description="One of the topic's; without it all."),
            OpenApiParameter("group", str, description="With of=group; a series a topic."),
            OpenApiParameter("range", str, enum=list(selectors.RANGES_S), description="1h"),
            OpenApiParameter("points", int, description="At most; 10 to 1000, 240 by default."),
        ],
        tag=TAG,
        summary="Records and bytes a second, in and out: the last hour live, then by rollups",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        seen_cluster(self.tenant, self.scope, cluster_id)
        given = ThroughputQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        question = selectors.Question(**given.validated_data)
        return Response(selectors.throughput(self.tenant, self.scope, cluster_id, question))


class OffsetsView(TenantView):
    area = Area.OUTLINE

    @documented(
        "analytics_offsets",
        answers={200: OffsetsSerializer},
        parameters=[
            OpenApiParameter("topic", str, required=True),
            OpenApiParameter("partition", int, description="Without it all of the topic's, added."),
            OpenApiParameter("range", str, enum=RANGES, description="7d"),
            OpenApiParameter("points", int, description="At most; 10 to 1000, 240 by default."),
        ],
        tag=TAG,
        summary="Log start and log end offset over time: what retention took, and what came",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        seen_cluster(self.tenant, self.scope, cluster_id)
        given = OffsetsQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        found = offsets(
            self.tenant,
            self.scope,
            cluster_id,
            topic=asked["topic"],
            partition=asked.get("partition"),
            range_=asked["range"],
            points=asked["points"],
        )
        return Response(found)


class SparklinesView(TenantView):
    area = Area.OUTLINE

    @documented(
        "analytics_sparklines",
        answers={200: SparklinesSerializer},
        parameters=[
            OpenApiParameter("of", str, enum=list(LISTS), required=True),
            NAME,
        ],
        tag=TAG,
        summary="The last hour of what one page of a list shows, in records a second",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        seen_cluster(self.tenant, self.scope, cluster_id)
        params = request.query_params
        asked = {"name": params.getlist("name"), **({"of": params["of"]} if "of" in params else {})}
        given = SparklineQuerySerializer(data=asked)
        given.is_valid(raise_exception=True)
        values = given.validated_data
        return Response(
            sparklines.sparklines(self.tenant, self.scope, cluster_id, values["of"], values["name"])
        )


class ConsumptionView(TenantView):
    area = Area.OUTLINE

    @documented(
        "analytics_consumption",
        answers={200: ConsumptionSerializer},
        parameters=[GROUP, ON],
        tag=TAG,
        summary="The last hour of what groups read of partitions, in records a second, by commits",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        seen_cluster(self.tenant, self.scope, cluster_id)
        asked = {name: request.query_params.getlist(name) for name in ("group", "on")}
        given = ConsumptionQuerySerializer(data=asked)
        given.is_valid(raise_exception=True)
        groups, places = given.validated_data["group"], given.validated_data["on"]
        return Response(consumption(self.tenant, self.scope, cluster_id, groups, places))
