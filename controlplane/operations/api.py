"""`/plans`, `/operations` and an operation's sub-resources."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, PROBLEM, documented
from controlplane.common.paging import page_of
from controlplane.operations import plans, selectors, services
from controlplane.operations.serializers import (
    OperationInputSerializer,
    OperationPageSerializer,
    OperationSerializer,
    PlanInputSerializer,
    SecretSerializer,
)
from controlplane.operations.shapes import PLAN, PLAN_INPUT
from controlplane.tenants.views import TenantView

TAG = "operations"
_PROBLEM = "application/problem+json"


class PlansView(TenantView):
    area = Area.OPERATION
    asks_outside = True

    @documented(
        "plan_create",
        body=PLAN_INPUT,
        answers={201: PLAN, (429, _PROBLEM): PROBLEM},
        tag=TAG,
        summary="Say what would be done",
    )
    def post(self, request: Request) -> Response:
        given = PlanInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)

        plan = plans.plan_create(
            tenant=self.tenant,
            actor=self.access.actor,
            kind_name=given.validated_data["kind"],
            cluster_id=given.validated_data["cluster_id"],
            inputs=given.validated_data["inputs"],
        )
        return Response(selectors.plan_dict(plan, self.scope), status=status.HTTP_201_CREATED)


class PlanView(TenantView):
    area = Area.OPERATION

    @documented("plan_get", answers={200: PLAN}, tag=TAG, summary="One plan")
    def get(self, request: Request, plan_id: str) -> Response:
        plan = selectors.plan_get(self.tenant, self.scope, plan_id)
        return Response(selectors.plan_dict(plan, self.scope))


class OperationsView(TenantView):
    area = Area.OPERATION
    asks_outside = True

    @documented(
        "operation_list",
        answers={200: OperationPageSerializer},
        parameters=[
            *PAGED,
            OpenApiParameter("cluster_id", str),
            OpenApiParameter("state", str, description="A state, several by comma, or `active`."),
        ],
        tag=TAG,
        summary="Operations, newest first",
    )
    def get(self, request: Request) -> Response:
        rows = selectors.filtered(
            selectors.operations(self.tenant, self.scope),
            cluster_id=request.query_params.get("cluster_id"),
            state=request.query_params.get("state"),
        )
        return Response(page_of(request, rows, selectors.shown(self.scope, self.tenant)))

    @documented(
        "operation_create",
        body=OperationInputSerializer,
        answers={
            202: OperationSerializer,
            (409, _PROBLEM): PROBLEM,
            (410, _PROBLEM): PROBLEM,
        },
        tag=TAG,
        summary="Confirm a plan and start it",
    )
    def post(self, request: Request) -> Response:
        given = OperationInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        fields = dict(given.validated_data)
        fields["confirm"] = fields["confirm"] or ""
        operation = services.operation_start(tenant=self.tenant, actor=self.access.actor, **fields)
        return Response(
            selectors.operation_get(self.tenant, self.scope, operation.id),
            status=status.HTTP_202_ACCEPTED,
            headers={"Location": f"/api/v1/operations/{operation.id}"},
        )


class OperationView(TenantView):
    area = Area.OPERATION

    @documented(
        "operation_get", answers={200: OperationSerializer}, tag=TAG, summary="One operation"
    )
    def get(self, request: Request, operation_id: str) -> Response:
        return Response(selectors.operation_get(self.tenant, self.scope, operation_id))


class CancellationView(TenantView):
    area = Area.OPERATION

    @documented(
        "operation_cancel",
        answers={202: OperationSerializer},
        tag=TAG,
        summary="Ask an operation to stop and restore",
    )
    def post(self, request: Request, operation_id: str) -> Response:
        services.operation_cancel(
            tenant=self.tenant, actor=self.access.actor, operation_id=operation_id
        )
        body = selectors.operation_get(self.tenant, self.scope, operation_id)
        return Response(body, status=status.HTTP_202_ACCEPTED)


class PauseView(TenantView):
    area = Area.OPERATION

    @documented(
        "operation_pause",
        answers={202: OperationSerializer},
        tag=TAG,
        summary="Have it stop before the next broker; the one under way is finished",
    )
    def post(self, request: Request, operation_id: str) -> Response:
        services.operation_pause(
            tenant=self.tenant, actor=self.access.actor, operation_id=operation_id
        )
        body = selectors.operation_get(self.tenant, self.scope, operation_id)
        return Response(body, status=status.HTTP_202_ACCEPTED)


class ResumptionView(TenantView):
    area = Area.OPERATION

    @documented(
        "operation_resume",
        answers={202: OperationSerializer},
        tag=TAG,
        summary="Have a paused operation go on",
    )
    def post(self, request: Request, operation_id: str) -> Response:
        services.operation_resume(
            tenant=self.tenant, actor=self.access.actor, operation_id=operation_id
        )
        body = selectors.operation_get(self.tenant, self.scope, operation_id)
        return Response(body, status=status.HTTP_202_ACCEPTED)


class UndoPlanView(TenantView):
    area = Area.OPERATION
    asks_outside = True

    @documented(
        "operation_undo_plan",
        answers={201: PLAN, (429, _PROBLEM): PROBLEM},
        tag=TAG,
        summary="A plan that puts back what the operation changed",
    )
    def post(self, request: Request, operation_id: str) -> Response:
        plan = services.undo_plan_create(
            tenant=self.tenant, actor=self.access.actor, operation_id=operation_id
        )
        return Response(selectors.plan_dict(plan, self.scope), status=status.HTTP_201_CREATED)


class SecretView(TenantView):
    area = Area.OPERATION
    shows_secret = True

    @documented(
        "operation_secret",
        answers={200: SecretSerializer, (410, _PROBLEM): PROBLEM},
        tag=TAG,
        summary="Take the password that the operation made: it is given once and then forgotten",
    )
    def post(self, request: Request, operation_id: str) -> Response:
        values = services.secret_take(
            tenant=self.tenant, actor=self.access.actor, operation_id=operation_id
        )
        return Response(values, headers={"Cache-Control": "no-store"})
