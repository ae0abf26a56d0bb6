"""`/clusters/{id}/healing`, `/clusters/{id}/healing/cases/{id}/dismissal`."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area
from controlplane.common.openapi import documented
from controlplane.common.problems import Forbidden, NotFound
from controlplane.healing import selectors, services
from controlplane.healing.serializers import (
    HealingCaseSerializer,
    HealingPolicyInputSerializer,
    HealingSerializer,
)
from controlplane.tenants.views import TenantView

TAG = "clusters"


class _HealingView(TenantView):
    """Who reads or writes the whole cluster; to others its policy is not there."""

    area = Area.CLUSTER

    def cluster(self, cluster_id: str) -> Cluster:
        """Raises NotFound also where the scope does not cover the whole cluster."""
        found = seen_cluster(self.tenant, self.scope, cluster_id, with_brokers=False)
        if not self.scope.sees(Area.CLUSTER, found.name):
            raise NotFound("Cluster not found.")
        return found

    def changed(self, cluster_id: str) -> Cluster:
        """Raises Forbidden where the scope covers reading alone."""
        found = self.cluster(cluster_id)
        if not self.scope.allows(self.needs, Area.CLUSTER, found.name):
            raise Forbidden("Self-healing is set by who may change the whole cluster.")
        return found


class HealingView(_HealingView):
    def held(self, cluster_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.healing_dict(self.cluster(cluster_id), locked=True)

    @documented(
        "cluster_healing_get",
        answers={200: HealingSerializer},
        tag=TAG,
        summary="Self-healing of a cluster: its policy, the last decision, its cases",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        return Response(selectors.healing_dict(self.cluster(cluster_id)))

    @documented(
        "cluster_healing_set",
        body=HealingPolicyInputSerializer,
        answers={200: HealingSerializer},
        tag=TAG,
        summary="Have brokers of a host that is gone put elsewhere: off, asked first, by itself",
    )
    def put(self, request: Request, cluster_id: str) -> Response:
        cluster = self.changed(cluster_id)
        given = HealingPolicyInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        services.policy_set(cluster=cluster, actor=self.access.actor, **given.validated_data)
        return Response(selectors.healing_dict(cluster))


class DismissalView(_HealingView):
    @documented(
        "cluster_healing_dismiss",
        answers={200: HealingCaseSerializer},
        tag=TAG,
        summary="Say no to a proposal, while this silence of the host lasts",
    )
    def post(self, request: Request, cluster_id: str, case_id: str) -> Response:
        cluster = self.changed(cluster_id)
        case = services.dismiss(cluster=cluster, case_id=case_id, actor=self.access.actor)
        return Response(selectors.case_dict(case))
