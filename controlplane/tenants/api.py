"""`/me`, `/tenants`, `/api-keys`, `/audit-events`."""

from collections.abc import AsyncGenerator, Iterator
from datetime import datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.audit import selectors as audit_selectors
from controlplane.audit.models import AuditEvent
from controlplane.common.grants import Area, Scope, Verb
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.common.problems import TooManyRequests
from controlplane.common.ratelimit import EXPORTS, seconds_to_wait
from controlplane.tenants import selectors, services
from controlplane.tenants.exports import ExportResponse
from controlplane.tenants.serializers import (
    CSV,
    NDJSON,
    ApiKeyCreatedSerializer,
    ApiKeyInputSerializer,
    ApiKeyPageSerializer,
    ApiKeySerializer,
    AuditEventPageSerializer,
    AuditExportQuerySerializer,
    AuditQuerySerializer,
    MeSerializer,
    TenantListSerializer,
)
from controlplane.tenants.views import TenantView

TAG = "identity"


class MeView(TenantView):
    area = Area.SELF

    @documented("me_get", answers={200: MeSerializer}, tag=TAG, summary="Who am I")
    def get(self, request: Request) -> Response:
        return Response(selectors.me(self.access, request.user))


class TenantsView(TenantView):
    area = Area.SELF

    @documented("tenant_list", answers={200: TenantListSerializer}, tag=TAG, summary="My tenants")
    def get(self, request: Request) -> Response:
        if isinstance(request.user, User):
            return Response({"data": selectors.user_tenants(request.user)})
        return Response({"data": [selectors.tenant_dict(self.tenant, self.access.role)]})


class ApiKeysView(TenantView):
    needs = Verb.ADMINISTER
    shows_secret = True

    @documented(
        "api_key_list",
        answers={200: ApiKeyPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="The tenant's API keys",
    )
    def get(self, request: Request) -> Response:
        return Response(page_of(request, selectors.api_keys(self.tenant), selectors.api_key_dict))

    @documented(
        "api_key_create",
        body=ApiKeyInputSerializer,
        answers={201: ApiKeyCreatedSerializer},
        tag=TAG,
        summary="Make an API key",
    )
    def post(self, request: Request) -> Response:
        given = ApiKeyInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        key, text = services.api_key_create(
            tenant=self.tenant,
            actor=self.access.actor,
            maker_id=request.user.pk,
            **given.validated_data,
        )
        body = {**selectors.api_key_dict(key), "key": text}
        return Response(body, status=status.HTTP_201_CREATED)


class ApiKeyView(TenantView):
    needs = Verb.ADMINISTER

    def held(self, key_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.api_key_dict(selectors.api_key_row(self.tenant, key_id, locked=True))

    @documented("api_key_get", answers={200: ApiKeySerializer}, tag=TAG, summary="One API key")
    def get(self, request: Request, key_id: str) -> Response:
        return Response(selectors.api_key_dict(selectors.api_key_row(self.tenant, key_id)))

    @documented("api_key_revoke", answers={204: None}, tag=TAG, summary="Revoke an API key")
    def delete(self, request: Request, key_id: str) -> Response:
        services.api_key_revoke(tenant=self.tenant, key_id=key_id, actor=self.access.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


SEARCH = [
    OpenApiParameter("actor", str, description="Begins with, as `user:` or `key:ci`."),
    OpenApiParameter("action", str, description="Begins with, as `topic.` or `refused.403`."),
    OpenApiParameter("resource", str, description="Begins with, as `topic/team-a-`."),
    OpenApiParameter("outcome", str, description="`ok`, `refused`, `succeeded`, `failed`, …"),
    OpenApiParameter("cluster_id", str),
    OpenApiParameter("from", datetime),
    OpenApiParameter("to", datetime, description="Before this moment."),
]
FORMAT = OpenApiParameter("format", str, enum=["ndjson", "csv"], description="ndjson by default.")
EXPORT_COMPLETE = "X-Penstock-Export-Complete"


class AuditEventsView(TenantView):
    area = Area.OPERATION

    @documented(
        "audit_event_list",
        answers={200: AuditEventPageSerializer},
        parameters=[*PAGED, *SEARCH],
        tag=TAG,
        summary="What was done and what was refused, newest first",
    )
    def get(self, request: Request) -> Response:
        rows = audit_selectors.audit_events(self.tenant.id, _search(request, AuditQuerySerializer))
        return Response(page_of(request, rows, audit_selectors.shown(self.scope)))


class AuditExportView(TenantView):
    """A bounded number of rows as a stream; a header says whether that was all."""

    area = Area.OPERATION

    @documented(
        "audit_event_export",
        answers={
            (200, "application/x-ndjson"): OpenApiResponse(OpenApiTypes.STR, "One row a line."),
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "Rows after their names."),
        },
        parameters=[FORMAT, *SEARCH],
        tag=TAG,
        summary="The same as a file; at most 100,000 rows, as X-Penstock-Export-Complete says",
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        search = _search(request, AuditExportQuerySerializer)
        wait_s = seconds_to_wait(EXPORTS, self.access.actor.credential)
        if wait_s is not None:
            raise TooManyRequests(f"Try again in {wait_s} s.", retry_after_s=wait_s)
        wanted = request.query_params.get("format", NDJSON)
        rows = audit_selectors.audit_events(self.tenant.id, search)
        is_csv = wanted == CSV
        answer = ExportResponse(
            _lines(rows, self.scope, is_csv=is_csv),
            self.access.actor,
            self.tenant.pk,
            content_type="text/csv; charset=utf-8" if is_csv else "application/x-ndjson",
        )
        services.export_record(self.access.actor, self.tenant, wanted)
        answer["Content-Disposition"] = f'attachment; filename="audit.{wanted}"'
        answer[EXPORT_COMPLETE] = "true" if audit_selectors.is_whole(rows) else "false"
        return answer


async def _lines(
    rows: QuerySet[AuditEvent], scope: Scope, *, is_csv: bool
) -> AsyncGenerator[str, None]:
    """Batch by batch, so that no more than one is held whatever the export's length."""
    show = audit_selectors.shown(scope)
    if is_csv:
        yield audit_selectors.csv_head()
    batches = audit_selectors.batches(rows)
    while (batch := await sync_to_async(_next)(batches)) is not None:
        dicts = [row for row in map(show, batch) if row is not None]
        yield audit_selectors.as_csv(dicts) if is_csv else audit_selectors.as_ndjson(dicts)


def _next(batches: Iterator[list[AuditEvent]]) -> list[AuditEvent] | None:
    return next(batches, None)


def _search(request: Request, shape: type[AuditQuerySerializer]) -> audit_selectors.Search:
    given = shape(data=request.query_params)
    given.is_valid(raise_exception=True)
    return audit_selectors.search_of(given.validated_data)
