"""`/me`, `/tenants`, `/api-keys`, `/audit-events`."""

from django.contrib.auth.models import User
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.audit import selectors as audit_selectors
from controlplane.common.grants import Area, Verb
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.tenants import selectors, services
from controlplane.tenants.serializers import (
    ApiKeyCreatedSerializer,
    ApiKeyInputSerializer,
    ApiKeyPageSerializer,
    AuditEventPageSerializer,
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

    @documented("api_key_revoke", answers={204: None}, tag=TAG, summary="Revoke an API key")
    def delete(self, request: Request, key_id: str) -> Response:
        services.api_key_revoke(tenant=self.tenant, key_id=key_id, actor=self.access.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class AuditEventsView(TenantView):
    @documented(
        "audit_event_list",
        answers={200: AuditEventPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="What was done, newest first",
    )
    def get(self, request: Request) -> Response:
        rows = audit_selectors.audit_events(self.tenant.id)
        return Response(page_of(request, rows, audit_selectors.audit_event_dict))
