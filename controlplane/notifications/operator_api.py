"""`/operator/destinations…`, `/operator/deliveries…`: where operators are told of their hosts.

As tenants' destinations (`api`), of the owner that is no tenant.
"""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.administration.views import OperatorView
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.notifications import selectors, services
from controlplane.notifications.api import FILTERS, test_answer
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

TAG = "operator"
OPERATORS = None
"""The owner of all that is found here."""


class OperatorDestinationsView(OperatorView):
    @documented(
        "operator_destination_list",
        answers={200: DestinationPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Where alerts about hosts are sent",
    )
    def get(self, request: Request) -> Response:
        rows = selectors.destinations(OPERATORS)
        return Response(page_of(request, rows, selectors.destination_dict))

    @documented(
        "operator_destination_create",
        body=DestinationInputSerializer,
        answers={201: DestinationSerializer},
        tag=TAG,
        summary="Make a destination of the operators'",
    )
    def post(self, request: Request) -> Response:
        given = DestinationInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.destination_create(owner=OPERATORS, actor=self.actor, **given.validated_data)
        return Response(selectors.destination_dict(row), status=status.HTTP_201_CREATED)


class OperatorDestinationView(OperatorView):
    def held(self, platform_destination_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        row = selectors.destination_row(OPERATORS, platform_destination_id, locked=True)
        return selectors.destination_dict(row)

    @documented(
        "operator_destination_get",
        answers={200: DestinationSerializer},
        tag=TAG,
        summary="One destination of the operators'",
    )
    def get(self, request: Request, platform_destination_id: str) -> Response:
        row = selectors.destination_row(OPERATORS, platform_destination_id)
        return Response(selectors.destination_dict(row))

    @documented(
        "operator_destination_change",
        body=DestinationChangeSerializer,
        answers={200: DestinationSerializer},
        tag=TAG,
        summary="Change a destination of the operators', switch it off or on",
    )
    def put(self, request: Request, platform_destination_id: str) -> Response:
        selectors.destination_row(OPERATORS, platform_destination_id)
        given = DestinationChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.destination_update(
            owner=OPERATORS,
            actor=self.actor,
            destination_id=platform_destination_id,
            **given.validated_data,
        )
        return Response(selectors.destination_dict(row))

    @documented(
        "operator_destination_delete",
        answers={204: None},
        tag=TAG,
        summary="Delete a destination of the operators' and its deliveries",
    )
    def delete(self, request: Request, platform_destination_id: str) -> Response:
        services.destination_delete(
            owner=OPERATORS, actor=self.actor, destination_id=platform_destination_id
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class OperatorDestinationTestView(OperatorView):
    asks_outside = True

    @documented(
        "operator_destination_test",
        answers={200: DestinationTestSerializer},
        tag=TAG,
        summary="Send a test event there now, and see how that ends",
    )
    def post(self, request: Request, platform_destination_id: str) -> Response:
        outcome, took_ms = services.destination_test(
            owner=OPERATORS, actor=self.actor, destination_id=platform_destination_id
        )
        return Response(test_answer(outcome, took_ms))


class OperatorDeliveriesView(OperatorView):
    @documented(
        "operator_delivery_list",
        answers={200: DeliveryPageSerializer},
        parameters=[*PAGED, *FILTERS],
        tag=TAG,
        summary="What was and will be sent to the operators, newest first",
    )
    def get(self, request: Request) -> Response:
        given = DeliveryQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        rows = selectors.deliveries(OPERATORS, selectors.Search(**given.validated_data))
        return Response(page_of(request, rows, selectors.delivery_dict))


class OperatorDeliveryView(OperatorView):
    @documented(
        "operator_delivery_get",
        answers={200: DeliveryDetailSerializer},
        tag=TAG,
        summary="One delivery to the operators, with its event",
    )
    def get(self, request: Request, platform_delivery_id: str) -> Response:
        row = selectors.delivery_row(OPERATORS, platform_delivery_id)
        return Response(selectors.delivery_detail(row))


class OperatorDeliveryResendView(OperatorView):
    @documented(
        "operator_delivery_resend",
        answers={200: DeliveryDetailSerializer},
        tag=TAG,
        summary="Send a dead delivery to the operators again",
    )
    def post(self, request: Request, platform_delivery_id: str) -> Response:
        row = services.delivery_resend(
            owner=OPERATORS, actor=self.actor, delivery_id=platform_delivery_id
        )
        return Response(selectors.delivery_detail(row))
