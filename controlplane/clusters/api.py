"""`/clusters`, `/hosts`."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters import selectors
from controlplane.clusters.operations import ClusterDelete
from controlplane.clusters.serializers import (
    ClientConfigSerializer,
    ClusterPageSerializer,
    ClusterPlanInputSerializer,
    ClusterPlanSerializer,
    ClusterSerializer,
    HostListSerializer,
)
from controlplane.common.etags import FIELD
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of_list
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


class HostsView(TenantView):
    @documented(
        "host_list", answers={200: HostListSerializer}, tag=TAG, summary="Hosts and their agents"
    )
    def get(self, request: Request) -> Response:
        return Response({"data": selectors.host_list()})
