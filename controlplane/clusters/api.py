"""`/clusters`, `/clusters/{id}/brokers/{id}/log`."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters import selectors
from controlplane.clusters.broker_log import broker_log
from controlplane.clusters.broker_serializers import BrokerLogPageSerializer
from controlplane.clusters.brokers import broker_id_of
from controlplane.clusters.operations import ClusterDelete
from controlplane.clusters.questions import LEVELS
from controlplane.clusters.serializers import (
    ClientConfigSerializer,
    ClusterPageSerializer,
    ClusterPlanInputSerializer,
    ClusterPlanSerializer,
    ClusterSerializer,
)
from controlplane.clusters.version_serializers import ClusterVersionsSerializer
from controlplane.clusters.versions_read import cluster_versions
from controlplane.common.etags import FIELD
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of_list, page_of_source
from controlplane.common.problems import field_problem
from controlplane.operations.plans import plan_create
from controlplane.operations.selectors import operation_get, plan_dict
from controlplane.operations.services import operation_start
from controlplane.operations.shapes import plan_shape
from controlplane.tenants.views import TenantView

TAG = "clusters"


class ClustersView(TenantView):
    area = Area.OUTLINE
    asks_outside = True

    @documented(
        "cluster_list",
        answers={200: ClusterPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="The tenant's clusters",
    )
    def get(self, request: Request) -> Response:
        return Response(
            page_of_list(request, selectors.cluster_list(self.tenant, self.scope), "id")
        )

    @documented(
        "cluster_create",
        body=ClusterPlanInputSerializer,
        answers={201: ClusterPlanSerializer, 202: ClusterPlanSerializer},
        tag=TAG,
        summary="Plan a new cluster; with confirm, start it at once",
    )
    def post(self, request: Request) -> Response:
        given = ClusterPlanInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        inputs = dict(given.validated_data)
        confirm = inputs.pop("confirm")

        plan = plan_create(
            tenant=self.tenant,
            actor=self.access.actor,
            kind_name="cluster.create",
            cluster_id=None,
            inputs=inputs,
        )
        if not confirm:
            body = {"plan": plan_dict(plan, self.scope), "operation": None}
            return Response(body, status=status.HTTP_201_CREATED)
        operation = operation_start(
            tenant=self.tenant,
            actor=self.access.actor,
            plan_id=plan.id,
            plan_hash=plan.plan_hash,
        )
        plan.refresh_from_db()
        body = {
            "plan": plan_dict(plan, self.scope),
            "operation": operation_get(self.tenant, self.scope, operation.id),
        }
        return Response(body, status=status.HTTP_202_ACCEPTED)


class ClusterView(TenantView):
    area = Area.OUTLINE
    asks_outside = True

    def held(self, cluster_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        # Nothing is locked: what a write makes here is a plan, compared again when confirmed.
        row = selectors.seen_cluster(self.tenant, self.scope, cluster_id)
        return {FIELD: selectors.cluster_tag(row)}

    @documented("cluster_get", answers={200: ClusterSerializer}, tag=TAG, summary="One cluster")
    def get(self, request: Request, cluster_id: str) -> Response:
        return Response(selectors.cluster_get(self.tenant, self.scope, cluster_id))

    @documented(
        "cluster_delete",
        answers={201: plan_shape(ClusterDelete.name)},
        tag=TAG,
        summary="Plan the cluster's deletion; confirm it with the cluster's name",
    )
    def delete(self, request: Request, cluster_id: str) -> Response:
        plan = plan_create(
            tenant=self.tenant,
            actor=self.access.actor,
            kind_name="cluster.delete",
            cluster_id=selectors.seen_cluster(self.tenant, self.scope, cluster_id).id,
            inputs={},
        )
        return Response(plan_dict(plan, self.scope), status=status.HTTP_201_CREATED)


class ClientConfigView(TenantView):
    area = Area.OUTLINE

    @documented(
        "cluster_client_config",
        answers={200: ClientConfigSerializer},
        tag=TAG,
        summary="How a client connects",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = selectors.seen_cluster(self.tenant, self.scope, cluster_id)
        return Response(selectors.client_config(cluster))


class ClusterVersionsView(TenantView):
    area = Area.OUTLINE

    @documented(
        "cluster_versions",
        answers={200: ClusterVersionsSerializer},
        tag=TAG,
        summary="Which release its brokers run, and which they could",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = selectors.seen_cluster(self.tenant, self.scope, cluster_id)
        return Response(cluster_versions(self.scope, cluster))


class BrokerLogView(TenantView):
    area = Area.OUTLINE

    @documented(
        "broker_log",
        answers={200: BrokerLogPageSerializer},
        parameters=[
            *PAGED,
            OpenApiParameter(
                "level", str, enum=LEVELS, description="Of this level or above; all by default."
            ),
        ],
        tag=TAG,
        summary="The last lines of a broker's log, as its host's agent reads them now",
    )
    def get(self, request: Request, cluster_id: str, broker_id: str) -> Response:
        cluster = selectors.seen_cluster(self.tenant, self.scope, cluster_id)
        broker = broker_id_of(broker_id)
        level = request.query_params.get("level")
        if level is not None and level not in LEVELS:
            raise field_problem("/level", f"level is one of {', '.join(LEVELS)}.")
        found: dict[str, Any] = {}

        def read(before: str | None, lines: int) -> tuple[list[dict[str, Any]], str | None]:
            found.update(
                broker_log(
                    self.scope, cluster, broker, lines=lines, level=level or "", before=before
                )
            )
            return found.pop("lines"), found.pop("next")

        page = page_of_source(request, read)
        return Response({**page, **found})
