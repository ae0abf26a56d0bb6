"""Hosts, which are operators' alone: `/operator/hosts…`, `/operator/placement`."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.administration import selectors
from controlplane.administration.host_plans import host_plan
from controlplane.administration.host_serializers import (
    HostLossSerializer,
    HostPlanSerializer,
    PlacementPreviewSerializer,
)
from controlplane.administration.serializers import (
    OperatorHostChangeSerializer,
    OperatorHostListSerializer,
    OperatorHostSerializer,
)
from controlplane.administration.services import hosts
from controlplane.administration.views import OperatorView
from controlplane.audit.selectors import audit_event_dict
from controlplane.clusters.inputs import BROKERS_MAX
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.common.problems import field_problem
from controlplane.healing.addresses import address_follow, address_stop
from controlplane.healing.draining import drain_pause
from controlplane.healing.ensembles import zookeeper_follow, zookeeper_stop
from controlplane.healing.serializers import (
    HostAddressInputSerializer,
    HostDrainInputSerializer,
    HostZooKeeperInputSerializer,
)
from controlplane.tenants.serializers import AuditEventPageSerializer

TAG = "operator"
BROKERS_USUAL = 3


class OperatorHostsView(OperatorView):
    @documented(
        "operator_host_list",
        answers={200: OperatorHostListSerializer},
        tag=TAG,
        summary="Hosts, with what runs on each and what they have left",
    )
    def get(self, request: Request) -> Response:
        return Response({"data": selectors.host_details()})


class OperatorHostView(OperatorView):
    def held(self, host_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        hosts.host_hold(host_id)
        return selectors.host_detail(host_id)

    @documented(
        "operator_host_get",
        answers={200: OperatorHostSerializer},
        tag=TAG,
        summary="One host, with what runs on it",
    )
    def get(self, request: Request, host_id: str) -> Response:
        return Response(selectors.host_detail(host_id))

    @documented(
        "operator_host_change",
        body=OperatorHostChangeSerializer,
        answers={200: OperatorHostSerializer},
        tag=TAG,
        summary="Cordon a host, drain it, or let it have new brokers again",
    )
    def put(self, request: Request, host_id: str) -> Response:
        selectors.host_row(host_id)
        given = OperatorHostChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        hosts.host_change(host_id=host_id, actor=self.actor, **given.validated_data)
        return Response(selectors.host_detail(host_id))

    @documented(
        "operator_host_remove",
        answers={204: None},
        tag=TAG,
        summary="Let a host go that runs nothing and whose agent is stopped",
    )
    def delete(self, request: Request, host_id: str) -> Response:
        hosts.host_remove(host_id=host_id, actor=self.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class OperatorHostDrainView(OperatorView):
    def held(self, host_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        hosts.host_hold(host_id)
        return selectors.host_detail(host_id)

    @documented(
        "operator_host_drain_pause",
        body=HostDrainInputSerializer,
        answers={200: OperatorHostSerializer},
        tag=TAG,
        summary="Pause a host's drain before its next broker, or have it go on",
    )
    def post(self, request: Request, host_id: str) -> Response:
        selectors.host_row(host_id)
        given = HostDrainInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        drain_pause(host_id=host_id, actor=self.actor, **given.validated_data)
        return Response(selectors.host_detail(host_id))


class OperatorHostAddressView(OperatorView):
    def held(self, host_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        hosts.host_hold(host_id)
        return selectors.host_detail(host_id)

    @documented(
        "operator_host_address_follow",
        body=HostAddressInputSerializer,
        answers={200: OperatorHostSerializer},
        tag=TAG,
        summary="Have a host's brokers follow to the address that its agent serves at now",
    )
    def post(self, request: Request, host_id: str) -> Response:
        selectors.host_row(host_id)
        given = HostAddressInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        address = given.validated_data["address"]
        if address is None:
            address_stop(host_id=host_id, actor=self.actor)
        else:
            address_follow(host_id=host_id, address=address, actor=self.actor)
        return Response(selectors.host_detail(host_id))


class OperatorHostZooKeeperView(OperatorView):
    def held(self, host_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        hosts.host_hold(host_id)
        return selectors.host_detail(host_id)

    @documented(
        "operator_host_zookeeper_follow",
        body=HostZooKeeperInputSerializer,
        answers={200: OperatorHostSerializer},
        tag=TAG,
        summary="Have the clusters on a host follow to its agent's connect string to ZooKeeper",
    )
    def post(self, request: Request, host_id: str) -> Response:
        selectors.host_row(host_id)
        given = HostZooKeeperInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        connect = given.validated_data["connect"]
        if connect is None:
            zookeeper_stop(host_id=host_id, actor=self.actor)
        else:
            zookeeper_follow(host_id=host_id, connect=connect, actor=self.actor)
        return Response(selectors.host_detail(host_id))


class OperatorHostPlanView(OperatorView):
    @documented(
        "operator_host_plan",
        answers={200: HostPlanSerializer},
        tag=TAG,
        summary="What an act on a host would mean now; nothing changes",
    )
    def get(self, request: Request, host_id: str, act: str) -> Response:
        return Response(host_plan(host_id, act))


class OperatorHostLossView(OperatorView):
    def held(self, host_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        hosts.host_hold(host_id)
        return selectors.host_detail(host_id)

    @documented(
        "operator_host_declare_lost",
        body=HostLossSerializer,
        answers={200: OperatorHostSerializer},
        tag=TAG,
        summary="Declare a host lost, as its plan says; confirmed by its name",
    )
    def post(self, request: Request, host_id: str) -> Response:
        selectors.host_row(host_id)
        given = HostLossSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        hosts.host_declare_lost(host_id=host_id, actor=self.actor, **given.validated_data)
        return Response(selectors.host_detail(host_id))


class OperatorHostEventsView(OperatorView):
    @documented(
        "operator_host_events",
        answers={200: AuditEventPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="What was done about a host, newest first",
    )
    def get(self, request: Request, host_id: str) -> Response:
        return Response(page_of(request, selectors.host_events(host_id), audit_event_dict))


class OperatorPlacementView(OperatorView):
    @documented(
        "operator_placement",
        answers={200: PlacementPreviewSerializer},
        parameters=[OpenApiParameter("brokers", int, description="How many; 3 by default.")],
        tag=TAG,
        summary="Where the brokers of a new cluster would go now, and why",
    )
    def get(self, request: Request) -> Response:
        text = request.query_params.get("brokers", str(BROKERS_USUAL))
        if not (text.isascii() and text.isdigit() and len(text) < 4):
            raise field_problem("/brokers", f"brokers is a number from 1 to {BROKERS_MAX}.")
        if not 1 <= int(text) <= BROKERS_MAX:
            raise field_problem("/brokers", f"brokers is a number from 1 to {BROKERS_MAX}.")
        return Response(selectors.placement_preview(int(text)))
