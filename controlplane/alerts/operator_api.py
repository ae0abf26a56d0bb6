"""`/operator/alerts…`: alerts about hosts, which are operators' alone."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.administration.views import OperatorView
from controlplane.alerts import operators, selectors
from controlplane.alerts.serializers import (
    AcknowledgementInputSerializer,
    HostAlertDetailSerializer,
    HostAlertPageSerializer,
)
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of

TAG = "operator"
FILTERS = [
    OpenApiParameter("state", str, description="States by comma, or `open`."),
    OpenApiParameter("rule", str, description="Rules by comma."),
    OpenApiParameter("severity", str, description="Severities by comma."),
]
HOST = OpenApiParameter("host_id", str, description="Of this host alone.")


class OperatorAlertsView(OperatorView):
    @documented(
        "operator_alert_list",
        answers={200: HostAlertPageSerializer},
        parameters=[*PAGED, *FILTERS, HOST],
        tag=TAG,
        summary="Alerts about hosts, newest first",
    )
    def get(self, request: Request) -> Response:
        asked = {
            each.name: request.query_params[each.name]
            for each in FILTERS
            if request.query_params.get(each.name)
        }
        rows = operators.host_alerts(request.query_params.get(HOST.name, ""))
        found = selectors.filtered(rows, asked, operators.HOST_RULE_IDS)
        return Response(page_of(request, found, operators.host_alert_dict))


class OperatorAlertView(OperatorView):
    @documented(
        "operator_alert_get",
        answers={200: HostAlertDetailSerializer},
        tag=TAG,
        summary="One alert about a host with its history",
    )
    def get(self, request: Request, host_alert_id: str) -> Response:
        return Response(operators.host_alert_detail(operators.host_alert_row(host_alert_id)))


class OperatorAcknowledgementView(OperatorView):
    def held(self, host_alert_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return operators.host_alert_dict(operators.host_alert_row(host_alert_id, locked=True))

    @documented(
        "operator_alert_acknowledge",
        body=AcknowledgementInputSerializer,
        answers={200: HostAlertDetailSerializer},
        tag=TAG,
        summary="Say that somebody is at it; it fires again when it gets worse",
    )
    def post(self, request: Request, host_alert_id: str) -> Response:
        # What is not there is said before what is wrong with the body.
        operators.host_alert_row(host_alert_id)
        given = AcknowledgementInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = operators.host_alert_acknowledge(
            alert_id=host_alert_id, actor=self.actor, **given.validated_data
        )
        return Response(operators.host_alert_detail(row))
