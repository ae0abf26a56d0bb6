"""`/clusters/{id}/reassignments`, and what a reassignment's operation has besides its steps."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.selectors import reader_of, seen_cluster, seen_gateway
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, PROBLEM, documented
from controlplane.common.paging import page_of_list
from controlplane.reassignments import changing, progress
from controlplane.reassignments.serializers import (
    MoveProgressPageSerializer,
    ReassignmentPageSerializer,
    ThrottleInputSerializer,
    ThrottleSerializer,
)
from controlplane.tenants.views import TenantView

TAG = "reassignments"
_PROBLEM = "application/problem+json"


class ReassignmentsView(TenantView):
    area = Area.OUTLINE

    @documented(
        "reassignment_list",
        answers={200: ReassignmentPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="What the brokers are moving right now, or were when they last said so",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        gateway = seen_gateway(cluster, self.scope)
        ongoing = progress.ongoing(reader_of(cluster, self.scope), gateway)
        found = page_of_list(request, ongoing.rows, "key")
        rows, gaps = ongoing.page(gateway, [each["row"] for each in found["data"]])
        shown = {"data": rows, "page": found["page"], "unknown": gaps}
        return Response({**shown, "observed": ongoing.observed})


class MovesView(TenantView):
    @documented(
        "operation_moves",
        answers={200: MoveProgressPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="How far each partition of a reassignment is",
    )
    def get(self, request: Request, reassignment_id: str) -> Response:
        operation = progress.reassignment_of(self.tenant, reassignment_id)
        found = page_of_list(request, progress.planned_rows(operation), "key")
        moves = [each["move"] for each in found["data"]]
        return Response(
            {
                **progress.moves_with_progress(operation, moves),
                "page": found["page"],
                "goes_back": progress.goes_back(operation),
                "throttle_bytes_per_s": changing.throttle_dict(operation)["throttle_bytes_per_s"],
            }
        )


class ThrottleView(TenantView):
    def held(self, reassignment_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        operation = changing.limited_operation(self.tenant, reassignment_id, locked=True)
        return changing.throttle_dict(operation)

    @documented(
        "operation_throttle_get",
        answers={200: ThrottleSerializer},
        tag=TAG,
        summary="The limit of a reassignment, a broker's replacement or an emptied directory",
    )
    def get(self, request: Request, reassignment_id: str) -> Response:
        operation = changing.limited_operation(self.tenant, reassignment_id)
        return Response(changing.throttle_dict(operation))

    @documented(
        "operation_throttle_change",
        body=ThrottleInputSerializer,
        answers={200: ThrottleSerializer, (409, _PROBLEM): PROBLEM},
        tag=TAG,
        summary="Change that limit while replicas are copied",
    )
    def post(self, request: Request, reassignment_id: str) -> Response:
        given = ThrottleInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        changing.throttle_change(
            tenant=self.tenant,
            actor=self.access.actor,
            operation_id=reassignment_id,
            bytes_per_s=given.validated_data["throttle_bytes_per_s"],
        )
        operation = changing.limited_operation(self.tenant, reassignment_id)
        return Response(changing.throttle_dict(operation))
