"""`/clusters/{id}/analytics/rollups/…`: hours and days of a cluster, its topics, its groups."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.analytics import files, known, rollups
from controlplane.analytics.file_answers import FILES, FORMAT, file_answer
from controlplane.analytics.rollup_serializers import (
    ClusterRollupsSerializer,
    GroupRollupsSerializer,
    RollupQuerySerializer,
    TopicRollupsSerializer,
)
from controlplane.analytics.times import ms_of
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area
from controlplane.common.openapi import documented
from controlplane.common.problems import TooManyRequests
from controlplane.common.ratelimit import EXPORTS, seconds_to_wait
from controlplane.tenants.views import TenantView
from spark_analytics.contracts.gold import Column, ColumnType

TAG = "analytics"
GROUP = OpenApiParameter("group", str)
TOPIC = OpenApiParameter("topic", str)
RANGE = [
    OpenApiParameter("from", datetime, description="By default seven days before `to`."),
    OpenApiParameter("to", datetime, description="By default after the newest period."),
    OpenApiParameter(
        "period",
        str,
        enum=list(rollups.PERIODS),
        description="By default hours while a series has at most 400 of them, then days.",
    ),
    FORMAT,
]
_TIMES = (
    Column("ts", ColumnType.STRING, length_max=24),
    Column("sampled_at", ColumnType.STRING, length_max=24),
)


class _RollupView(TenantView):
    area = Area.OUTLINE
    series: str

    def answer(self, request: Request, cluster_id: str) -> HttpResponse:
        given = RollupQuerySerializer(data=request.query_params)
        question = self._asked(cluster_id, given)
        wanted = given.validated_data["format"]
        if wanted == files.JSON:
            return Response(rollups.answer(self.tenant, self.scope, cluster_id, question))
        wait_s = seconds_to_wait(EXPORTS, self.access.actor.credential)
        if wait_s is not None:
            raise TooManyRequests(f"Try again in {wait_s} s.", retry_after_s=wait_s)
        batches = rollups.exported(self.tenant, self.scope, cluster_id, question)
        columns = (*_TIMES, *rollups.SERIES[self.series].columns)
        return file_answer(self.series, wanted, columns, batches)

    def _asked(self, cluster_id: str, given: RollupQuerySerializer) -> rollups.Question:
        seen_cluster(self.tenant, self.scope, cluster_id)
        given.is_valid(raise_exception=True)
        question = _question(self.series, given.validated_data)
        known.require_all(
            self.tenant, self.scope, cluster_id, topic=question.topic, group=question.group
        )
        return question


class ClusterRollupsView(_RollupView):
    series = "cluster"

    @documented(
        "analytics_rollup_cluster",
        answers={200: ClusterRollupsSerializer, **FILES},
        parameters=RANGE,
        tag=TAG,
        summary="The cluster by hours or days: held, in, out, lag",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answer(request, cluster_id)


class TopicRollupsView(_RollupView):
    series = "topics"

    @documented(
        "analytics_rollup_topics",
        answers={200: TopicRollupsSerializer, **FILES},
        parameters=[TOPIC, *RANGE],
        tag=TAG,
        summary="Topics by hours or days: held, in, offsets, how even their partitions are",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answer(request, cluster_id)


class GroupRollupsView(_RollupView):
    series = "groups"

    @documented(
        "analytics_rollup_groups",
        answers={200: GroupRollupsSerializer, **FILES},
        parameters=[GROUP, TOPIC, *RANGE],
        tag=TAG,
        summary="Groups on their topics by hours or days: percentiles of lag, read, lost",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answer(request, cluster_id)


def _question(series: str, asked: dict[str, Any]) -> rollups.Question:
    return rollups.Question(
        series=series,
        period=asked.get("period"),
        topic=asked.get("topic"),
        group=asked.get("group"),
        from_ms=ms_of(asked["from"]) if "from" in asked else None,
        to_ms=ms_of(asked["to"]) if "to" in asked else None,
    )
