"""`/runbooks`, `/runbook-runs` and what is done in a run."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import names_by_id
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, PROBLEM, documented
from controlplane.common.paging import page_of
from controlplane.runbooks import selectors, services
from controlplane.runbooks.catalogue import catalogue, runbook
from controlplane.runbooks.models import RunbookRun
from controlplane.runbooks.serializers import (
    RunbookActInputSerializer,
    RunbookEndInputSerializer,
    RunbookEntrySerializer,
    RunbookListSerializer,
    RunbookRunDetailSerializer,
    RunbookRunInputSerializer,
    RunbookRunPageSerializer,
    RunbookRunSerializer,
    RunbookSerializer,
)
from controlplane.tenants.views import TenantView

TAG = "runbooks"
_PROBLEM = "application/problem+json"


class RunbooksView(TenantView):
    area = Area.OPERATION

    @documented(
        "runbook_list",
        answers={200: RunbookListSerializer},
        tag=TAG,
        summary="What to do when: every runbook",
    )
    def get(self, request: Request) -> Response:
        found = sorted(catalogue().values(), key=lambda each: each.id)
        return Response({"data": [selectors.runbook_dict(each) for each in found]})


class RunbookView(TenantView):
    area = Area.OPERATION

    @documented(
        "runbook_get",
        answers={200: RunbookSerializer},
        tag=TAG,
        summary="One runbook with its checks, decisions and acts",
    )
    def get(self, request: Request, runbook_id: str) -> Response:
        return Response(selectors.runbook_detail(runbook(runbook_id)))


class StartView(TenantView):
    area = Area.OPERATION

    @documented(
        "runbook_run_create",
        body=RunbookRunInputSerializer,
        answers={201: RunbookRunSerializer, (429, _PROBLEM): PROBLEM},
        tag=TAG,
        summary="Begin to follow a runbook",
    )
    def post(self, request: Request, runbook_id: str) -> Response:
        given = RunbookRunInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        about = dict(given.validated_data)
        run = services.run_start(
            tenant=self.tenant,
            actor=self.access.actor,
            runbook_id=runbook_id,
            cluster_id=about.pop("cluster_id"),
            about=about,
        )
        return Response(
            selectors.run_dict(run),
            status=status.HTTP_201_CREATED,
            headers={"Location": f"/api/v1/runbook-runs/{run.pk}"},
        )


class RunsView(TenantView):
    area = Area.OPERATION

    @documented(
        "runbook_run_list",
        answers={200: RunbookRunPageSerializer},
        parameters=[*PAGED, OpenApiParameter("cluster_id", str), OpenApiParameter("runbook", str)],
        tag=TAG,
        summary="Runs of runbooks, newest first",
    )
    def get(self, request: Request) -> Response:
        rows = selectors.run_rows(self.tenant)
        for name in ("cluster_id", "runbook"):
            if asked := request.query_params.get(name):
                rows = rows.filter(**{name: asked})
        names, actor = names_by_id(self.tenant.pk), self.access.actor

        def shown(run: RunbookRun) -> dict[str, Any] | None:
            return selectors.run_dict(run) if selectors.is_seen(run, actor, names) else None

        return Response(page_of(request, rows, shown))


class RunView(TenantView):
    area = Area.OPERATION

    @documented(
        "runbook_run_get",
        answers={200: RunbookRunDetailSerializer},
        tag=TAG,
        summary="One run with what was looked at and planned",
    )
    def get(self, request: Request, runbook_run_id: str) -> Response:
        run = selectors.run_row(self.tenant, self.access.actor, runbook_run_id)
        return Response(selectors.run_detail(run))


class CheckView(TenantView):
    area = Area.OPERATION
    asks_outside = True

    @documented(
        "runbook_check_run",
        answers={201: RunbookEntrySerializer, (409, _PROBLEM): PROBLEM},
        tag=TAG,
        summary="Run a check of the runbook: it only reads",
    )
    def post(self, request: Request, runbook_run_id: str, check_number: str) -> Response:
        entry = services.check_run(
            tenant=self.tenant,
            actor=self.access.actor,
            run_id=runbook_run_id,
            number=check_number,
        )
        return Response(selectors.entry_dict(entry), status=status.HTTP_201_CREATED)


class ActView(TenantView):
    area = Area.OPERATION
    asks_outside = True

    @documented(
        "runbook_act_plan",
        body=RunbookActInputSerializer,
        answers={201: RunbookEntrySerializer, (409, _PROBLEM): PROBLEM, (429, _PROBLEM): PROBLEM},
        tag=TAG,
        summary="Make the plan of an act: nothing is done before it is confirmed",
    )
    def post(self, request: Request, runbook_run_id: str, act_number: str) -> Response:
        given = RunbookActInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        entry = services.act_plan(
            tenant=self.tenant,
            actor=self.access.actor,
            run_id=runbook_run_id,
            number=act_number,
            inputs=given.validated_data["inputs"],
        )
        return Response(selectors.entry_dict(entry), status=status.HTTP_201_CREATED)


class EndView(TenantView):
    area = Area.OPERATION

    @documented(
        "runbook_run_end",
        body=RunbookEndInputSerializer,
        answers={200: RunbookRunSerializer, (409, _PROBLEM): PROBLEM},
        tag=TAG,
        summary="Say how it came out",
    )
    def post(self, request: Request, runbook_run_id: str) -> Response:
        given = RunbookEndInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        run = services.run_end(
            tenant=self.tenant,
            actor=self.access.actor,
            run_id=runbook_run_id,
            **given.validated_data,
        )
        return Response(selectors.run_dict(run))
