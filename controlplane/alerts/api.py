"""`/alerts`, `/alert-rules`, `/alert-overrides`, `/silences`."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.alerts import selectors, services
from controlplane.alerts.serializers import (
    AcknowledgementInputSerializer,
    AlertDetailSerializer,
    AlertOverrideChangeSerializer,
    AlertOverrideInputSerializer,
    AlertOverridePageSerializer,
    AlertOverrideSerializer,
    AlertPageSerializer,
    AlertRuleListSerializer,
    SilenceChangeSerializer,
    SilenceInputSerializer,
    SilencePageSerializer,
    SilenceSerializer,
)
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.tenants.views import TenantView

TAG = "alerts"
FILTERS = [
    OpenApiParameter("state", str, description="States by comma, or `open`."),
    OpenApiParameter("rule", str, description="Rules by comma."),
    OpenApiParameter("severity", str, description="Severities by comma."),
    OpenApiParameter("cluster_id", str),
]


class AlertsView(TenantView):
    area = Area.OPERATION
    tags_list = True

    @documented(
        "alert_list",
        answers={200: AlertPageSerializer},
        parameters=[*PAGED, *FILTERS],
        tag=TAG,
        summary="Alerts, newest first",
    )
    def get(self, request: Request) -> Response:
        asked = {
            each.name: request.query_params[each.name]
            for each in FILTERS
            if request.query_params.get(each.name)
        }
        rows = selectors.filtered(selectors.alerts(self.tenant), asked)
        return Response(page_of(request, rows, selectors.shown(self.scope)))


class AlertView(TenantView):
    area = Area.OPERATION

    @documented(
        "alert_get",
        answers={200: AlertDetailSerializer},
        tag=TAG,
        summary="One alert with its history",
    )
    def get(self, request: Request, alert_id: str) -> Response:
        row = selectors.alert_row(self.tenant, self.scope, alert_id)
        return Response(selectors.alert_detail(row))


class AcknowledgementView(TenantView):
    area = Area.OPERATION

    def held(self, alert_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        row = selectors.alert_row(self.tenant, self.scope, alert_id, locked=True)
        return selectors.alert_dict(row)

    @documented(
        "alert_acknowledge",
        body=AcknowledgementInputSerializer,
        answers={200: AlertDetailSerializer},
        tag=TAG,
        summary="Say that somebody is at it; it fires again when it gets worse",
    )
    def post(self, request: Request, alert_id: str) -> Response:
        # What is not there is said before what is wrong with the body.
        selectors.alert_row(self.tenant, self.scope, alert_id)
        given = AcknowledgementInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.acknowledge(
            tenant=self.tenant, alert_id=alert_id, actor=self.access.actor, **given.validated_data
        )
        return Response(selectors.alert_detail(row))


class AlertRulesView(TenantView):
    @documented(
        "alert_rule_list",
        answers={200: AlertRuleListSerializer},
        tag=TAG,
        summary="The rules, with their thresholds as they are for the whole tenant",
    )
    def get(self, request: Request) -> Response:
        return Response({"data": selectors.rule_list(self.tenant)})


class AlertOverridesView(TenantView):
    @documented(
        "alert_override_list",
        answers={200: AlertOverridePageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="What the tenant sets in place of the rules' defaults",
    )
    def get(self, request: Request) -> Response:
        rows = selectors.overrides(self.tenant)
        return Response(page_of(request, rows, selectors.override_dict))

    @documented(
        "alert_override_create",
        body=AlertOverrideInputSerializer,
        answers={201: AlertOverrideSerializer},
        tag=TAG,
        summary="Set thresholds, severity or whether a rule is asked, for all or a part",
    )
    def post(self, request: Request) -> Response:
        given = AlertOverrideInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.override_create(
            tenant=self.tenant,
            scope=self.scope,
            given=given.validated_data,
            actor=self.access.actor,
        )
        return Response(selectors.override_dict(row), status=status.HTTP_201_CREATED)


class AlertOverrideView(TenantView):
    def held(self, override_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.override_dict(
            selectors.override_row(self.tenant, override_id, locked=True)
        )

    @documented(
        "alert_override_get",
        answers={200: AlertOverrideSerializer},
        tag=TAG,
        summary="One override",
    )
    def get(self, request: Request, override_id: str) -> Response:
        row = selectors.override_row(self.tenant, override_id)
        return Response(selectors.override_dict(row))

    @documented(
        "alert_override_change",
        body=AlertOverrideChangeSerializer,
        answers={200: AlertOverrideSerializer},
        tag=TAG,
        summary="Change what an override sets",
    )
    def put(self, request: Request, override_id: str) -> Response:
        selectors.override_row(self.tenant, override_id)
        given = AlertOverrideChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.override_change(
            tenant=self.tenant,
            override_id=override_id,
            given=given.validated_data,
            actor=self.access.actor,
        )
        return Response(selectors.override_dict(row))

    @documented(
        "alert_override_delete",
        answers={204: None},
        tag=TAG,
        summary="Go back to what the wider overrides and the rule say",
    )
    def delete(self, request: Request, override_id: str) -> Response:
        services.override_delete(
            tenant=self.tenant, override_id=override_id, actor=self.access.actor
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class SilencesView(TenantView):
    @documented(
        "silence_list",
        answers={200: SilencePageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Silences and maintenance windows, also those that are over",
    )
    def get(self, request: Request) -> Response:
        return Response(page_of(request, selectors.silences(self.tenant), selectors.silence_dict))

    @documented(
        "silence_create",
        body=SilenceInputSerializer,
        answers={201: SilenceSerializer},
        tag=TAG,
        summary="Tell nobody of matching alerts for a while, from now or from a time on",
    )
    def post(self, request: Request) -> Response:
        given = SilenceInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.silence_create(
            tenant=self.tenant,
            scope=self.scope,
            given=given.validated_data,
            actor=self.access.actor,
        )
        return Response(selectors.silence_dict(row), status=status.HTTP_201_CREATED)


class SilenceView(TenantView):
    def held(self, silence_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.silence_dict(selectors.silence_row(self.tenant, silence_id, locked=True))

    @documented("silence_get", answers={200: SilenceSerializer}, tag=TAG, summary="One silence")
    def get(self, request: Request, silence_id: str) -> Response:
        return Response(selectors.silence_dict(selectors.silence_row(self.tenant, silence_id)))

    @documented(
        "silence_change",
        body=SilenceChangeSerializer,
        answers={200: SilenceSerializer},
        tag=TAG,
        summary="Another end or reason",
    )
    def put(self, request: Request, silence_id: str) -> Response:
        selectors.silence_row(self.tenant, silence_id)
        given = SilenceChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.silence_change(
            tenant=self.tenant,
            silence_id=silence_id,
            actor=self.access.actor,
            **given.validated_data,
        )
        return Response(selectors.silence_dict(row))

    @documented(
        "silence_end", answers={204: None}, tag=TAG, summary="End a silence now; it stays listed"
    )
    def delete(self, request: Request, silence_id: str) -> Response:
        services.silence_end(tenant=self.tenant, silence_id=silence_id, actor=self.access.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)
