"""`/clusters/{id}/rebalance-schedule`."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area
from controlplane.common.openapi import documented
from controlplane.common.problems import Forbidden, NotFound
from controlplane.reassignments.schedule_serializers import (
    RebalanceScheduleInputSerializer,
    RebalanceScheduleSerializer,
)
from controlplane.reassignments.schedules import schedule_dict, schedule_set
from controlplane.tenants.views import TenantView

TAG = "reassignments"


class RebalanceScheduleView(TenantView):
    """Who reads or writes the whole cluster; to others its schedule is not there."""

    area = Area.CLUSTER

    def cluster(self, cluster_id: str) -> Cluster:
        """Raises NotFound also where the scope does not cover the whole cluster."""
        found = seen_cluster(self.tenant, self.scope, cluster_id, with_brokers=False)
        if not self.scope.sees(Area.CLUSTER, found.name):
            raise NotFound("Cluster not found.")
        return found

    def held(self, cluster_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return schedule_dict(self.cluster(cluster_id), locked=True)

    @documented(
        "cluster_rebalance_schedule_get",
        answers={200: RebalanceScheduleSerializer},
        tag=TAG,
        summary="When a cluster is rebalanced by itself, the last verdict, what it began",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        return Response(schedule_dict(self.cluster(cluster_id)))

    @documented(
        "cluster_rebalance_schedule_set",
        body=RebalanceScheduleInputSerializer,
        answers={200: RebalanceScheduleSerializer},
        tag=TAG,
        summary="Have a cluster rebalanced by itself when it is out of balance, in its windows",
    )
    def put(self, request: Request, cluster_id: str) -> Response:
        cluster = self.cluster(cluster_id)
        if not self.scope.allows(self.needs, Area.CLUSTER, cluster.name):
            raise Forbidden("The schedule is set by who may change the whole cluster.")
        given = RebalanceScheduleInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        schedule_set(cluster=cluster, actor=self.access.actor, **given.validated_data)
        return Response(schedule_dict(cluster))
