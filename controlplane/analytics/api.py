"""`/clusters/{id}/analytics/…`, `/analytics/runs`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.administration.views import OperatorView
from controlplane.analytics import known, selectors, services
from controlplane.analytics.conf import conf
from controlplane.analytics.pace import pace_series
from controlplane.analytics.serializers import (
    AnalyticsRunPageSerializer,
    AnalyticsRunSerializer,
    BackfillAnswerSerializer,
    BackfillPageSerializer,
    BackfillSerializer,
    CollectorSerializer,
    LagQuerySerializer,
    LagSerializer,
    PaceQuerySerializer,
    PaceSerializer,
    RetentionSerializer,
)
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.common.problems import Forbidden
from controlplane.tenants.views import TenantView

TAG = "analytics"
GROUP = OpenApiParameter("group", str)
TOPIC = OpenApiParameter("topic", str)
FROM = OpenApiParameter("from", datetime, description="By default three hours before `as_of`.")
TO = OpenApiParameter("to", datetime)
LATEST = OpenApiParameter("latest", bool, description="Only the newest point of each.")


class _NamedView(TenantView):
    area = Area.OUTLINE

    def require_known(
        self, cluster_id: str, *, topic: str | None, group: str | None = None
    ) -> None:
        if topic is not None:
            known.require_topic(self.tenant, self.scope, cluster_id, topic)
        if group is not None:
            known.require_group(self.tenant, self.scope, cluster_id, group)


class LagView(_NamedView):
    @documented(
        "analytics_lag",
        answers={200: LagSerializer},
        parameters=[GROUP, TOPIC, FROM, TO, LATEST],
        tag=TAG,
        summary="Lag of groups in records and seconds, with its trend",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        asked = _asked(request)
        self.require_known(cluster_id, topic=asked.get("topic"), group=asked.get("group"))
        return Response(
            selectors.lag_series(
                self.tenant,
                self.scope,
                cluster_id,
                group=asked.get("group"),
                topic=asked.get("topic"),
                from_ms=_ms(asked.get("from")),
                to_ms=_ms(asked.get("to")),
                latest=asked["latest"],
            )
        )


class PaceView(_NamedView):
    @documented(
        "analytics_pace",
        answers={200: PaceSerializer},
        parameters=[TOPIC, FROM, TO],
        tag=TAG,
        summary="What was produced and consumed on a group's topics, and when retention takes it",
    )
    def get(self, request: Request, cluster_id: str, group: str) -> Response:
        given = PaceQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        self.require_known(cluster_id, topic=asked.get("topic"), group=group)
        return Response(
            pace_series(
                self.tenant,
                self.scope,
                cluster_id,
                group,
                topic=asked.get("topic"),
                from_ms=_ms(asked.get("from")),
                to_ms=_ms(asked.get("to")),
            )
        )


class RetentionView(_NamedView):
    @documented(
        "analytics_retention",
        answers={200: RetentionSerializer},
        parameters=[TOPIC],
        tag=TAG,
        summary="What topics hold, and when groups lose what they have not read",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        topic = _asked(request).get("topic")
        self.require_known(cluster_id, topic=topic)
        return Response(selectors.retention_table(self.tenant, self.scope, cluster_id, topic=topic))


class RetentionHistoryView(_NamedView):
    @documented(
        "analytics_retention_history",
        answers={200: RetentionSerializer},
        parameters=[FROM, TO],
        tag=TAG,
        summary="One topic's bytes and age over time",
    )
    def get(self, request: Request, cluster_id: str, topic: str) -> Response:
        asked = _asked(request)
        self.require_known(cluster_id, topic=topic)
        return Response(
            selectors.retention_series(
                self.tenant,
                self.scope,
                cluster_id,
                topic,
                from_ms=_ms(asked.get("from")),
                to_ms=_ms(asked.get("to")),
            )
        )


class CollectorView(TenantView):
    area = Area.OUTLINE

    @documented(
        "analytics_collector",
        answers={200: CollectorSerializer},
        tag=TAG,
        summary="When the cluster was sampled last, and how late",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        return Response(selectors.collector_state(self.tenant, self.scope, cluster_id))


class RunsView(TenantView):
    @documented(
        "analytics_run_list",
        answers={200: AnalyticsRunPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Analytics runs, with the part of the tenant's own clusters",
    )
    def get(self, request: Request) -> Response:
        return Response(page_of(request, selectors.run_rows(self.tenant), selectors.run_dict))

    @documented(
        "analytics_run_start",
        answers={202: AnalyticsRunSerializer},
        tag=TAG,
        summary="Start a run now; refused while one is active",
    )
    def post(self, request: Request) -> Response:
        run = services.run_request(conf(), tenant=self.tenant, actor=self.access.actor)
        return Response(_run(self, run.pk), status=status.HTTP_202_ACCEPTED)


class BackfillsView(OperatorView):
    @documented(
        "operator_analytics_backfill_list",
        answers={200: BackfillPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Runs of hours and days with their progress, of all tenants; the newest first",
    )
    def get(self, request: Request) -> Response:
        return Response(page_of(request, selectors.backfill_rows(), selectors.backfill_dict))

    @documented(
        "operator_analytics_backfill",
        body=BackfillSerializer,
        answers={202: BackfillAnswerSerializer},
        tag=TAG,
        summary="Compute hours or days again, of all tenants",
    )
    def post(self, request: Request) -> Response:
        given = BackfillSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        run = services.backfill_request(asked["job"], asked["from"], asked["to"], actor=self.actor)
        return Response(selectors.backfill_dict(run), status=status.HTTP_202_ACCEPTED)


class OperatorRunCancellationView(OperatorView):
    @documented(
        "operator_analytics_run_cancel",
        answers={202: BackfillAnswerSerializer},
        tag=TAG,
        summary="End a run of any tenants' clusters; earlier results stay",
    )
    def post(self, request: Request, run_id: str) -> Response:
        services.run_cancel(selectors.any_run_row(run_id), tenant_id="", actor=self.actor)
        run = selectors.any_run_row(run_id)
        return Response(selectors.backfill_dict(run), status=status.HTTP_202_ACCEPTED)


class RunView(TenantView):
    @documented(
        "analytics_run_get",
        answers={200: AnalyticsRunSerializer},
        tag=TAG,
        summary="One run with its progress",
    )
    def get(self, request: Request, run_id: str) -> Response:
        return Response(_run(self, run_id))


class RunCancellationView(TenantView):
    @documented(
        "analytics_run_cancel",
        answers={202: AnalyticsRunSerializer},
        tag=TAG,
        summary="End a run, which is every tenant's: for platform operators; earlier results stay",
    )
    def post(self, request: Request, run_id: str) -> Response:
        run = selectors.run_row(self.tenant, run_id)
        # A run computes every tenant's clusters: no tenant takes the others' results away.
        if not self.access.may_run_platform:
            raise Forbidden("This needs a platform operator, signed in.")
        services.run_cancel(run, tenant_id=self.tenant.id, actor=self.access.actor)
        return Response(_run(self, run_id), status=status.HTTP_202_ACCEPTED)


def _run(view: TenantView, run_id: str) -> dict[str, Any]:
    return selectors.run_dict(selectors.run_row(view.tenant, run_id))


def _asked(request: Request) -> dict[str, Any]:
    given = LagQuerySerializer(data=request.query_params)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def _ms(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp() * 1000)
