"""`/clusters/{id}/analytics/{analysis}`: as JSON, or as a file by `format`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.analytics import files, known
from controlplane.analytics.file_answers import FILES, FORMAT, file_answer
from controlplane.analytics.insights import answers, awaited, charts, tenant_usage
from controlplane.analytics.insights.serializers import (
    ChartQuerySerializer,
    ChartSerializer,
    DiskQuerySerializer,
    ImpactQuerySerializer,
    InsightQuerySerializer,
    ObjectiveQuerySerializer,
    ReadinessListSerializer,
    ReadinessSerializer,
    RetentionQuerySerializer,
    UnusedQuerySerializer,
    answer_shape,
)
from controlplane.analytics.times import ms_of
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area
from controlplane.common.openapi import documented
from controlplane.common.problems import TooManyRequests
from controlplane.common.ratelimit import EXPORTS, seconds_to_wait
from controlplane.tenants.views import TenantView
from spark_analytics.contracts.analyses import (
    FORECAST,
    HOT,
    IMPACT,
    OBJECTIVES,
    SILENT,
    TENANT_USAGE,
    UNUSED,
    USAGE,
    WHAT_IF,
    WHAT_IF_GROUPS,
    Analysis,
)

TO = OpenApiParameter("to", datetime, description="By default after the newest hour.")
FROM = OpenApiParameter("from", datetime, description="At most 31 days before `to`.")
RANGE = [FROM, TO, FORMAT]
CAPACITY = OpenApiParameter(
    "capacity_bytes", int, description="Of all brokers' disks; without it no days are known."
)
RETENTION = OpenApiParameter("retention_s", int, description="Beside the usual ones.")


class _InsightView(TenantView):
    area = Area.OUTLINE
    analysis: Analysis
    query: type[InsightQuerySerializer] = InsightQuerySerializer

    def answered(self, request: Request, cluster_id: str, topic: str | None = None) -> HttpResponse:
        seen_cluster(self.tenant, self.scope, cluster_id)
        given = self.query(data=request.query_params)
        given.is_valid(raise_exception=True)
        asked = {**given.validated_data, "topic": topic}
        known.require_all(
            self.tenant,
            self.scope,
            cluster_id,
            topic=topic,
            group=asked.get("group"),
        )
        _in_ms(asked)
        return self.written(
            asked["format"],
            lambda: answers.answer(self.tenant, self.scope, cluster_id, self.analysis, asked),
        )

    def written(self, wanted: str, answer: Callable[[], dict[str, Any]]) -> HttpResponse:
        """As asked; a file counts as an export, which it may be too early for."""
        if wanted == files.JSON:
            return Response(answer())
        wait_s = seconds_to_wait(EXPORTS, self.access.actor.credential)
        if wait_s is not None:
            raise TooManyRequests(f"Try again in {wait_s} s.", retry_after_s=wait_s)
        return file_answer(self.analysis.id, wanted, self.analysis.columns, [answer()["data"]])


def _in_ms(asked: dict[str, Any]) -> None:
    for name in ("from", "to"):
        if name in asked:
            asked[f"{name}_ms"] = ms_of(asked[name])


def _answers(analysis: Analysis, name: str) -> dict[Any, Any]:
    return {200: answer_shape(analysis, name), **FILES}


class WhatIfView(_InsightView):
    analysis = WHAT_IF
    query = RetentionQuerySerializer

    @documented(
        "analytics_retention_what_if",
        answers=_answers(WHAT_IF, "RetentionWhatIf"),
        parameters=[RETENTION, *RANGE],
        tag="analytics",
        summary="If a topic were kept for R: bytes held, disk freed, groups that would lose",
    )
    def get(self, request: Request, cluster_id: str, topic: str) -> HttpResponse:
        return self.answered(request, cluster_id, topic)


class WhatIfGroupsView(_InsightView):
    analysis = WHAT_IF_GROUPS
    query = RetentionQuerySerializer

    @documented(
        "analytics_retention_what_if_groups",
        answers=_answers(WHAT_IF_GROUPS, "RetentionWhatIfGroups"),
        parameters=[RETENTION, *RANGE],
        tag="analytics",
        summary="Which groups would have lost records if a topic were kept for R, and when",
    )
    def get(self, request: Request, cluster_id: str, topic: str) -> HttpResponse:
        return self.answered(request, cluster_id, topic)


class UsageView(_InsightView):
    analysis = USAGE
    query = InsightQuerySerializer

    @documented(
        "analytics_usage",
        answers=_answers(USAGE, "Usage"),
        parameters=RANGE,
        tag="analytics",
        summary="What topics and groups used, and what it costs by the price book",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answered(request, cluster_id)


class ObjectivesView(_InsightView):
    analysis = OBJECTIVES
    query = ObjectiveQuerySerializer

    @documented(
        "analytics_lag_objectives",
        answers=_answers(OBJECTIVES, "LagObjectives"),
        parameters=[
            OpenApiParameter("group", str),
            OpenApiParameter(
                "seconds", float, description="For all, in place of the objectives that are set."
            ),
            OpenApiParameter("share", float, description="Of the time; with `seconds`."),
            FORMAT,
        ],
        tag="analytics",
        summary="How fast groups use up the time that they may be late",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answered(request, cluster_id)


class UnusedView(_InsightView):
    analysis = UNUSED
    query = UnusedQuerySerializer

    @documented(
        "analytics_unused_topics",
        answers=_answers(UNUSED, "UnusedTopics"),
        parameters=[OpenApiParameter("idle_s", int), *RANGE],
        tag="analytics",
        summary="Topics that nobody writes or reads, with the evidence",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answered(request, cluster_id)


class ForecastView(_InsightView):
    analysis = FORECAST
    query = DiskQuerySerializer

    @documented(
        "analytics_disk_forecast",
        answers=_answers(FORECAST, "DiskForecast"),
        parameters=[CAPACITY, TO, FORMAT],
        tag="analytics",
        summary="Days until the cluster's disks are at 80 %",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answered(request, cluster_id)


class HotView(_InsightView):
    analysis = HOT
    query = InsightQuerySerializer

    @documented(
        "analytics_hot_partitions",
        answers=_answers(HOT, "HotPartitions"),
        parameters=RANGE,
        tag="analytics",
        summary="Topics of which one partition takes more than its share",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answered(request, cluster_id)


class SilentView(_InsightView):
    analysis = SILENT
    query = InsightQuerySerializer

    @documented(
        "analytics_silent_producers",
        answers=_answers(SILENT, "SilentProducers"),
        parameters=[TO, FORMAT],
        tag="analytics",
        summary="Topics that get far less than they do at this hour of the day",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answered(request, cluster_id)


class ImpactView(_InsightView):
    analysis = IMPACT
    query = ImpactQuerySerializer

    @documented(
        "analytics_change_impact",
        answers=_answers(IMPACT, "ChangeImpact"),
        parameters=[
            OpenApiParameter("hours", int, description="On each side of a change; 6 by default."),
            *RANGE,
        ],
        tag="analytics",
        summary="The hours before each operation beside the hours after it",
    )
    def get(self, request: Request, cluster_id: str) -> HttpResponse:
        return self.answered(request, cluster_id)


class TenantUsageView(_InsightView):
    analysis = TENANT_USAGE

    @documented(
        "analytics_tenant_usage",
        answers=_answers(TENANT_USAGE, "TenantUsage"),
        parameters=RANGE,
        tag="analytics",
        summary="What the tenant's clusters used and cost, and their sum",
    )
    def get(self, request: Request) -> HttpResponse:
        given = self.query(data=request.query_params)
        given.is_valid(raise_exception=True)
        asked = dict(given.validated_data)
        _in_ms(asked)
        return self.written(
            asked["format"], lambda: tenant_usage.answer(self.tenant, self.scope, asked)
        )


class ReadinessView(TenantView):
    area = Area.OUTLINE

    @documented(
        "analytics_readiness",
        answers={200: ReadinessSerializer},
        tag="analytics",
        summary="What each analysis needs, has so far, and when its first numbers come",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        return Response(awaited.of_cluster(self.tenant, self.scope, cluster_id))


class TenantReadinessView(TenantView):
    area = Area.OUTLINE

    @documented(
        "analytics_tenant_readiness",
        answers={200: ReadinessListSerializer},
        tag="analytics",
        summary="The same of each of the tenant's clusters",
    )
    def get(self, request: Request) -> Response:
        return Response(awaited.of_tenant(self.tenant, self.scope))


class ChartView(TenantView):
    area = Area.OUTLINE

    @documented(
        "analytics_chart",
        answers={200: ChartSerializer},
        parameters=[
            OpenApiParameter(
                "measure", str, enum=list(charts.MEASURES), description="By default lag_seconds."
            ),
            OpenApiParameter("group", str),
            OpenApiParameter("topic", str),
            OpenApiParameter("from", datetime, description="By default a day before `to`."),
            OpenApiParameter("to", datetime, description="By default after the newest."),
            OpenApiParameter("points", int, description="At most; 10 to 1000, 300 by default."),
        ],
        tag="analytics",
        summary="A measure over time in no more points than a chart has, peaks kept",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        seen_cluster(self.tenant, self.scope, cluster_id)
        given = ChartQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        asked = dict(given.validated_data)
        known.require_all(
            self.tenant,
            self.scope,
            cluster_id,
            topic=asked.get("topic"),
            group=asked.get("group"),
        )
        _in_ms(asked)
        return Response(charts.answer(self.tenant, self.scope, cluster_id, asked))
