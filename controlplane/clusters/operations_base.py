"""What every kind of operation on a cluster shares."""

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from django.conf import settings
from django.utils import timezone

from controlplane.clusters.connections import gateway_for
from controlplane.clusters.models import CREATING, DELETED, DELETING, Broker, Cluster, LostBroker
from controlplane.clusters.selectors import cluster_row
from controlplane.common.problems import Conflict
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.observed.services import observe_touched, soon
from controlplane.operations.locks import Resource
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import OperationKind, PlanContext, StepContext
from controlplane.operations.states import CANCELLED, SUCCEEDED
from controlplane.tenants.models import Tenant

log = logging.getLogger(__name__)


READ_BACK = frozenset({SUCCEEDED, CANCELLED})
"""How an operation ended whose brokers answered to its last step: they are asked at once."""
TOUCHED_MAX = 1_000
"""More of a section is left to the next pass, which reads it sooner."""
Touched = Mapping[str, Collection[str]]
"""What of a cluster an operation has changed: keys of observed rows by section."""


def cluster_of(context: PlanContext | StepContext) -> Cluster:
    """The row of the cluster that the plan or the step is about, of its tenant only.

    Raises:
        NotFound: the tenant has no such cluster.
    """
    if isinstance(context, PlanContext):
        return cluster_row(context.tenant, context.cluster_id or "", with_brokers=False)
    if context.cluster is None:
        context.cluster = cluster_row(
            context.tenant, context.operation.cluster_id or "", with_brokers=False
        )
    return cast("Cluster", context.cluster)


class ClusterOperationKind(OperationKind):
    """An operation on an existing cluster, seen through its gateway."""

    on_cluster = True
    has_to_show = True

    def gateway(self, context: PlanContext | StepContext) -> ClusterGateway:
        cluster = cluster_of(context)
        if cluster.phase in {CREATING, DELETING}:
            raise Conflict(
                f"The cluster {cluster.name} is {cluster.phase}.", code="cluster-not-running"
            )
        return gateway_for(cluster)

    def touched(self, plan: Plan) -> Touched | None:  # noqa: ARG002 - a hook
        """What lists are to show once it succeeded or was cancelled; null: the next round does."""
        return None

    def show(self, operation: Operation, state: str) -> None:
        touched = self.touched(operation.plan) if state in READ_BACK else None
        cluster_id = operation.cluster_id or ""
        if touched is None or any(len(keys) > TOUCHED_MAX for keys in touched.values()):
            soon(cluster_id)
            return
        try:
            cluster = Cluster.objects.get(pk=cluster_id)
            observe_touched(cluster_id, gateway_for(cluster), touched)
        except GatewayError as error:
            log.warning("%s: not read back for the lists: %s", operation.id, error)
            soon(cluster_id)


class AddsCluster(OperationKind):
    """A kind whose cluster has no row before its operation: the tenant's names are the lock."""

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.CLUSTER_NAME:
            return [plan.inputs["name"]]
        return super().lock_names(resource, plan)

    def add_row(
        self, operation: Operation, plan: Plan, *, broker_count: int, **columns: Any
    ) -> Cluster:
        """The cluster's row, on which the operation's steps work from now on.

        `broker_count` is of the brokers that this service is to run for it. The tenant's starts
        take turns, so what is counted here holds. Raises as `check_room`.
        """
        check_room(plan.tenant_id, broker_count=broker_count)
        cluster = Cluster.objects.create(
            tenant_id=plan.tenant_id, name=plan.inputs["name"], phase=CREATING, **columns
        )
        operation.cluster_id = cluster.id
        operation.save(update_fields=["cluster_id"])
        return cluster

    def added(self, context: StepContext) -> Cluster:
        """The cluster, which the operation's answer names from now on."""
        cluster = cluster_of(context)
        context.memo["outcome"] = {"cluster_id": cluster.id}
        return cluster


def mark_deleted(cluster_id: str | None) -> None:
    Broker.objects.filter(cluster_id=cluster_id).delete()
    LostBroker.objects.filter(cluster_id=cluster_id).delete()
    Cluster.objects.filter(pk=cluster_id).update(
        phase=DELETED, deleted_at=timezone.now(), secrets_token=""
    )


def check_room(tenant_id: str, *, broker_count: int) -> None:
    """A tenant has its share of clusters and of the hosts, which all tenants have in common.

    Raises:
        Conflict: one more cluster, with that many brokers run here, would be beyond it.
    """
    mine = Cluster.objects.filter(tenant_id=tenant_id, deleted_at=None).count()
    if mine >= settings.CLUSTERS_PER_TENANT:
        raise Conflict(
            f"The tenant has {mine} clusters, and may have {settings.CLUSTERS_PER_TENANT}.",
            code="too-many-clusters",
        )
    brokers = Broker.objects.filter(cluster__tenant_id=tenant_id).count()
    if broker_count and brokers + broker_count > settings.BROKERS_PER_TENANT:
        raise Conflict(
            f"The tenant has {brokers} brokers, and may have {settings.BROKERS_PER_TENANT}:"
            f" {broker_count} more do not fit.",
            code="too-many-brokers",
        )


def check_name_free(tenant: Tenant, name: str) -> None:
    if Cluster.objects.filter(tenant=tenant, name=name, deleted_at=None).exists():
        raise Conflict(f"There is a cluster called {name}.", code="name-taken")
