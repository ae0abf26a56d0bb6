"""`/timeline`, `/deployments`."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.common.etags import with_tag
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import Pair, page_of_places
from controlplane.common.problems import field_problem
from controlplane.tenants.views import TenantView
from controlplane.timeline import rules, selectors, services
from controlplane.timeline.models import SUBJECT_MAX
from controlplane.timeline.rules import Place
from controlplane.timeline.serializers import (
    DeploymentInputSerializer,
    DeploymentSerializer,
    TimelinePageSerializer,
    TimelineQuerySerializer,
)
from controlplane.timeline.sources import Asked

TAG = "timeline"
FILTERS = [
    OpenApiParameter("cluster_id", str, description="Deployments of the whole tenant included."),
    OpenApiParameter("kind", str, description="Kinds by comma."),
    OpenApiParameter(
        "subject",
        str,
        many=True,
        description=(
            "`topic/orders`, `group/…`, `broker/…`, and `cluster` for what is about the cluster"
            f" as a whole and its brokers; up to {rules.SUBJECTS_MAX}, each a parameter."
        ),
    ),
    OpenApiParameter("from", datetime),
    OpenApiParameter("to", datetime, description="Before this moment."),
]


class TimelineView(TenantView):
    area = Area.OPERATION

    @documented(
        "timeline_list",
        answers={200: TimelinePageSerializer},
        parameters=[*PAGED, *FILTERS],
        tag=TAG,
        summary="What happened: brokers, partitions, topics, operations, alerts, deployments",
    )
    def get(self, request: Request) -> Response:
        given = TimelineQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        oldest = selectors.kept_from(timezone.now())
        asked = _asked(request, given.validated_data, oldest)

        def read(after: str | None, limit: int) -> list[Pair]:
            behind = _place(after) if after is not None else None
            found = selectors.events(self.tenant, self.scope, asked, behind=behind, limit=limit)
            return [(_text(place), event) for place, event in found]

        return Response({**page_of_places(request, read), "kept_from": oldest})


def _asked(request: Request, given: dict[str, Any], oldest: datetime) -> Asked:
    from_at, to_at = given.get("from"), given.get("to")
    if from_at is not None and to_at is not None and to_at < from_at:
        raise field_problem("/from", "from is after to.")
    return Asked(
        from_at=max(from_at, oldest) if from_at is not None else oldest,
        to_at=to_at,
        cluster_id=given.get("cluster_id", ""),
        kinds=_kinds(request.query_params.get("kind", "")),
        subjects=_subjects(request.query_params.getlist("subject")),
    )


def _kinds(given: str) -> list[str]:
    wanted = given.split(",") if given else []
    for each in wanted:
        if each not in rules.KINDS:
            raise field_problem("/kind", f"{each!r} is no kind; known: {', '.join(rules.KINDS)}.")
    return wanted


def _subjects(given: list[str]) -> list[str]:
    if len(given) > rules.SUBJECTS_MAX:
        raise field_problem("/subject", f"At most {rules.SUBJECTS_MAX} subjects are named.")
    for each in given:
        area, _, name = each.partition("/")
        if len(each) > SUBJECT_MAX or (each != rules.CLUSTER_SUBJECT and not (area and name)):
            raise field_problem(
                "/subject", "A subject is `topic/orders`, `group/…`, `broker/…` or `cluster`."
            )
    return given


def _text(place: Place) -> str:
    return f"{place.at.isoformat()} {place.source} {place.id}"


def _place(text: str) -> Place:
    """Of a cursor that was signed here."""
    at, source, id_ = text.split(" ")
    return Place(datetime.fromisoformat(at), source, id_)


class DeploymentsView(TenantView):
    area = Area.OPERATION

    @documented(
        "deployment_mark",
        body=DeploymentInputSerializer,
        answers={201: DeploymentSerializer},
        tag=TAG,
        summary="Mark a deployment on the timeline, of the tenant, a cluster, a topic or a group",
    )
    def post(self, request: Request) -> Response:
        given = DeploymentInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.deployment_mark(
            tenant=self.tenant,
            scope=self.scope,
            actor=self.access.actor,
            **given.validated_data,
        )
        shown = with_tag(selectors.deployment_dict(self.scope, row))
        return Response(shown, status=status.HTTP_201_CREATED)


class DeploymentView(TenantView):
    area = Area.OPERATION

    def held(self, event_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        row = selectors.deployment_row(self.tenant, self.scope, event_id, locked=True)
        return with_tag(selectors.deployment_dict(self.scope, row))

    @documented(
        "deployment_get",
        answers={200: DeploymentSerializer},
        tag=TAG,
        summary="One deployment that was marked",
    )
    def get(self, request: Request, event_id: str) -> Response:
        row = selectors.deployment_row(self.tenant, self.scope, event_id)
        return Response(with_tag(selectors.deployment_dict(self.scope, row)))

    @documented(
        "deployment_remove",
        answers={204: None},
        tag=TAG,
        summary="Take a mark back; the record of actions keeps it",
    )
    def delete(self, request: Request, event_id: str) -> Response:
        services.deployment_remove(
            tenant=self.tenant, scope=self.scope, event_id=event_id, actor=self.access.actor
        )
        return Response(status=status.HTTP_204_NO_CONTENT)
