"""`/destinations`, `/destinations/{id}/test`, `/deliveries`, `/deliveries/{id}/resend`."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.notifications import selectors, services
from controlplane.notifications.events import SEVERITIES
from controlplane.notifications.models import DELIVERY_MOVES
from controlplane.notifications.rules import Outcome
from controlplane.notifications.serializers import (
    DeliveryDetailSerializer,
    DeliveryPageSerializer,
    DeliveryQuerySerializer,
    DestinationChangeSerializer,
    DestinationInputSerializer,
    DestinationPageSerializer,
    DestinationSerializer,
    DestinationTestSerializer,
)
from controlplane.tenants.views import TenantView

TAG = "notifications"
FILTERS = [
    OpenApiParameter("destination_id", str),
    OpenApiParameter("alert_id", str),
    OpenApiParameter("state", str, enum=list(DELIVERY_MOVES.states)),
    OpenApiParameter("severity", str, enum=list(SEVERITIES)),
]


def test_answer(outcome: Outcome, took_ms: int) -> dict[str, Any]:
    """How a test ended, as it is shown."""
    return {
        "delivered": outcome.is_delivered,
        "code": outcome.code,
        "text": outcome.text,
        "status": outcome.status,
        "took_ms": took_ms,
    }


class DestinationsView(TenantView):
    @documented(
        "destination_list",
        answers={200: DestinationPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Where the tenant's alerts are sent",
    )
    def get(self, request: Request) -> Response:
        rows = selectors.destinations(self.tenant)
        return Response(page_of(request, rows, selectors.destination_dict))

    @documented(
        "destination_create",
        body=DestinationInputSerializer,
        answers={201: DestinationSerializer},
        tag=TAG,
        summary="Make a destination: a signed webhook, mail, Slack, PagerDuty or Alertmanager",
    )
    def post(self, request: Request) -> Response:
        given = DestinationInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.destination_create(
            owner=self.tenant, actor=self.access.actor, **given.validated_data
        )
        return Response(selectors.destination_dict(row), status=status.HTTP_201_CREATED)


class DestinationView(TenantView):
    def held(self, destination_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        row = selectors.destination_row(self.tenant, destination_id, locked=True)
        return selectors.destination_dict(row)

    @documented(
        "destination_get",
        answers={200: DestinationSerializer},
        tag=TAG,
        summary="One destination",
    )
    def get(self, request: Request, destination_id: str) -> Response:
        row = selectors.destination_row(self.tenant, destination_id)
        return Response(selectors.destination_dict(row))

    @documented(
        "destination_change",
        body=DestinationChangeSerializer,
        answers={200: DestinationSerializer},
        tag=TAG,
        summary="Change a destination, switch it off or on, give it other secrets",
    )
    def put(self, request: Request, destination_id: str) -> Response:
        selectors.destination_row(self.tenant, destination_id)
        given = DestinationChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.destination_update(
            owner=self.tenant,
            actor=self.access.actor,
            destination_id=destination_id,
            **given.validated_data,
        )
        return Response(selectors.destination_dict(row))

    @documented(
        "destination_delete",
        answers={204: None},
        tag=TAG,
        summary="Delete a destination and its deliveries",
    )
    def delete(self, request: Request, destination_id: str) -> Response:
        services.destination_delete(
            owner=self.tenant, actor=self.access.actor, destination_id=destination_id
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class DestinationTestView(TenantView):
    asks_outside = True

    @documented(
        "destination_test",
        answers={200: DestinationTestSerializer},
        tag=TAG,
        summary="Send a test event now, and see how that ends",
    )
    def post(self, request: Request, destination_id: str) -> Response:
        outcome, took_ms = services.destination_test(
            owner=self.tenant, actor=self.access.actor, destination_id=destination_id
        )
        return Response(test_answer(outcome, took_ms))


class DeliveriesView(TenantView):
    @documented(
        "delivery_list",
        answers={200: DeliveryPageSerializer},
        parameters=[*PAGED, *FILTERS],
        tag=TAG,
        summary="What was and will be sent, newest first",
    )
    def get(self, request: Request) -> Response:
        given = DeliveryQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        rows = selectors.deliveries(self.tenant, selectors.Search(**given.validated_data))
        return Response(page_of(request, rows, selectors.delivery_dict))


class DeliveryView(TenantView):
    @documented(
        "delivery_get",
        answers={200: DeliveryDetailSerializer},
        tag=TAG,
        summary="One delivery, with its event",
    )
    def get(self, request: Request, delivery_id: str) -> Response:
        row = selectors.delivery_row(self.tenant, delivery_id)
        return Response(selectors.delivery_detail(row))


class DeliveryResendView(TenantView):
    @documented(
        "delivery_resend",
        answers={200: DeliveryDetailSerializer},
        tag=TAG,
        summary="Send a dead delivery again",
    )
    def post(self, request: Request, delivery_id: str) -> Response:
        row = services.delivery_resend(
            owner=self.tenant, actor=self.access.actor, delivery_id=delivery_id
        )
        return Response(selectors.delivery_detail(row))
