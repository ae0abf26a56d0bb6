"""cluster.create and cluster.delete."""

import secrets
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from controlplane.clusters import services
from controlplane.clusters.authority import authority_secrets, certify, has_tls
from controlplane.clusters.candidates import no_longer_fit
from controlplane.clusters.inputs import ClusterCreateInputs, NoInputs
from controlplane.clusters.models import (
    DELETING,
    FAILED,
    MANAGED,
    REGISTERED,
    RUNNING,
    Broker,
    Cluster,
)
from controlplane.clusters.operations_base import (
    AddsCluster,
    ClusterOperationKind,
    check_name_free,
    check_room,
    cluster_of,
    mark_deleted,
)
from controlplane.clusters.release_fit import unlike
from controlplane.clusters.release_wanted import NO_RELEASE, Releases
from controlplane.clusters.rules import Placement, config_warnings, placement_warnings
from controlplane.clusters.selectors import (
    deletion_extents,
    explained,
    host_rows,
    own_extents,
    placed_now,
)
from controlplane.clusters.specs import (
    ADMIN_MECHANISM,
    ADMIN_USER,
    BROKER_USER,
    ZOOKEEPER_PASSWORD,
    check_config,
)
from controlplane.clusters.unfinished import Unfinished, keys_of, unfinished_on
from controlplane.common.crypto import new_password, seal, unseal
from controlplane.common.problems import Conflict
from controlplane.operations.blast_radius import Extent
from controlplane.operations.details import detail_of
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import (
    Done,
    OperationKind,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepSpec,
    Wait,
)
from controlplane.operations.reach import require_reach
from controlplane.operations.read_back import verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.states import CANCELLED, STEP_DONE, SUCCEEDED
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of
from spark_analytics.contracts.telemetry import (
    TELEMETRY_TOPIC,
)

NOTED = "desired"
"""In the memo: what is noted of the brokers."""
NOT_BACK = detail_of("remains/cluster-deleted")


def _have_desired(context: StepContext, cluster: Cluster, state: str) -> Done | Wait:
    """Noted by the first tick, written to the hosts by the second: each takes few statements."""
    if context.memo.get(NOTED) != state:
        context.memo[NOTED] = state
        return services.note_desired(cluster, state=state)
    return services.write_desired(cluster, state=state)


class _RemovesBrokers(OperationKind):
    """The way down of a managed cluster: of one that is deleted, was cancelled or did not start."""

    def remove(self, context: StepContext) -> Done | Wait:
        cluster = cluster_of(context)
        if cluster.kind == REGISTERED:
            return services.let_go(cluster)
        return _have_desired(context, cluster, "deleted")

    def await_removed(self, context: StepContext) -> Done | Wait:
        cluster = cluster_of(context)
        if cluster.kind == REGISTERED:
            return services.let_go(cluster)
        return services.await_deleted(cluster, context.memo)

    def purge(self, context: StepContext) -> Done:
        cluster = cluster_of(context)
        if cluster.kind == REGISTERED:
            return services.let_go(cluster)
        return services.purge(cluster, context.memo)


class ClusterCreate(AddsCluster, _RemovesBrokers):
    name = "cluster.create"
    final = "a cluster that is made can only be deleted"
    inputs = ClusterCreateInputs
    cancellable = True

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        check_name_free(context.tenant, inputs["name"])
        check_room(context.tenant.pk, broker_count=inputs["broker_count"])
        config = inputs.get("config", {})
        count = inputs["broker_count"]
        effective = check_config(config, broker_count=count)
        decision, releases = placed_now(range(1, count + 1))
        placed = decision.placed
        return PlanDraft(
            resource=f"cluster/{inputs['name']}",
            diff={"before": None, "after": {"brokers": [_shown(row) for row in placed]}},
            summary=summary_of(
                "cluster.create", brokers=count, hosts=len({p.host_id for p in placed})
            ),
            preconditions={
                "placement": [asdict(row) for row in placed],
                # For operators (`administration.selectors.plan_placement`).
                "explained": explained(decision),
            },
            warnings=_create_warnings(count, inputs["listener_security"])
            + placement_warnings(
                placed,
                replicas=int(effective["default.replication.factor"]),
                min_isr=int(effective["min.insync.replicas"]),
            )
            + config_warnings(effective, chosen=config, broker_count=count)
            + _unlike(placed, releases),
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """What was chosen need not be the best any more, but has to be possible."""
        check_name_free(context.tenant, plan.inputs["name"])
        check_room(context.tenant.pk, broker_count=plan.inputs["broker_count"])
        placed = [Placement(**row) for row in plan.preconditions["placement"]]
        found = host_rows()
        gone = no_longer_fit(placed, found, NO_RELEASE)
        return {**plan.preconditions, **({"placement": sorted(gone)} if gone else {})}

    def prepare(self, operation: Operation, plan: Plan) -> None:
        placed = [Placement(**row) for row in plan.preconditions["placement"]]
        cluster = self.add_row(
            operation,
            plan,
            broker_count=len(placed),
            kind=MANAGED,
            bootstrap_servers=",".join(f"{p.address}:{p.client_port}" for p in placed),
            # A plan of before there was the choice says nothing.
            security_protocol=plan.inputs.get("listener_security", "SASL_PLAINTEXT"),
            sasl_mechanism=ADMIN_MECHANISM,
            admin_username=ADMIN_USER,
            secrets_token=seal(first_secrets()),
            config=plan.inputs.get("config", {}),
        )
        brokers = [Broker(cluster=cluster, **asdict(placement)) for placement in placed]
        if has_tls(cluster):
            now = timezone.now()
            made = authority_secrets(cluster.id, now=now)
            cluster.secrets_token = seal(unseal(cluster.secrets_token) | made)
            cluster.save(update_fields=["secrets_token"])
            for broker in brokers:
                certify(broker, made, now=now)
        Broker.objects.bulk_create(brokers)

    def check(self, context: StepContext) -> Done:
        return services.still_placed(cluster_of(context))

    def write_desired(self, context: StepContext) -> Done | Wait:
        return _have_desired(context, cluster_of(context), "running")

    def await_processes(self, context: StepContext) -> Done | Wait:
        return services.await_processes(cluster_of(context))

    def await_registration(self, context: StepContext) -> Done | Wait:
        return services.await_registration(cluster_of(context))

    def verify(self, context: StepContext) -> Done | Wait:
        return services.verify_cluster(self.added(context))

    def undo_of_rest(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:  # noqa: ARG002 - a hook
        return ClusterDelete.name, {}

    def finish(self, operation: Operation) -> None:
        clearing = operation.steps.filter(phase=Phase.RESTORE).values_list("state", flat=True)
        if operation.state == CANCELLED or set(clearing) == {STEP_DONE}:
            mark_deleted(operation.cluster_id)
        else:
            phase = RUNNING if operation.state == SUCCEEDED else FAILED
            Cluster.objects.filter(pk=operation.cluster_id).update(phase=phase)

    steps = (
        StepSpec(
            name="check",
            title="Every broker's place is still free",
            run=check,
            writes=False,
        ),
        StepSpec(
            name="desired",
            title="Write what the hosts shall run",
            run=write_desired,
            restored_by=("remove", "removed", "purge"),
            stays=detail_of("remains/cluster-failed"),
        ),
        StepSpec(
            name="processes", title="Broker processes start", run=await_processes, writes=False
        ),
        StepSpec(
            name="registration",
            title="Brokers register with the cluster",
            run=await_registration,
            writes=False,
        ),
        StepSpec(
            name="verify",
            title="The cluster answers its administrator",
            run=verify,
            phase=Phase.VERIFY,
        ),
        StepSpec(
            name="remove",
            title="Stop and delete brokers",
            run=_RemovesBrokers.remove,
            phase=Phase.RESTORE,
        ),
        StepSpec(
            name="removed",
            title="Brokers are gone",
            run=_RemovesBrokers.await_removed,
            phase=Phase.RESTORE,
        ),
        StepSpec(
            name="purge",
            title="Clear ZooKeeper",
            run=_RemovesBrokers.purge,
            phase=Phase.RESTORE,
        ),
    )


LETTING_GO = {
    "remove": "Remove what Penstock wrote there",
    "removed": "Remove what was still left there",
    "purge": "Try once more, if anything is left",
    "verify": "Penstock governs it no more",
}
"""Titles of the steps of a deletion by which a registered Kafka is let go."""


class ClusterDelete(_RemovesBrokers, ClusterOperationKind):
    name = "cluster.delete"
    other_titles = LETTING_GO
    final = "what is deleted with it does not come back"
    inputs = NoInputs

    def plan(
        self,
        context: PlanContext,
        inputs: dict[str, Any],  # noqa: ARG002 - a deletion has no inputs
    ) -> PlanDraft:
        cluster = cluster_of(context)
        if cluster.phase == DELETING:
            raise Conflict(
                f"The cluster {cluster.name} is being deleted already.", code="cluster-not-running"
            )
        managed = cluster.kind == MANAGED
        left = _left_undone(cluster)
        brokers = [broker.key for broker in cluster.brokers.all()]
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={"before": {"brokers": brokers, "kind": cluster.kind}, "after": None},
            summary=summary_of("cluster.delete", brokers=len(brokers))
            if managed
            else summary_of("cluster.delete/registered"),
            preconditions=_preconditions(cluster, left),
            warnings=[_deletion_warning(managed=managed), *(row.warning for row in left)],
            blast_radius=_reached(cluster),
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:  # noqa: ARG002 - a hook
        cluster = cluster_of(context)
        return _preconditions(cluster, _left_undone(cluster))

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:  # noqa: ARG002 - a hook
        return _reached(cluster_of(context))

    def title_of(self, spec: StepSpec, plan: Plan) -> str:
        """A registered Kafka keeps its brokers and its ZooKeeper: no step may say otherwise."""
        if plan.diff["before"]["kind"] == REGISTERED:
            return self.other_titles.get(spec.name, spec.title)
        return spec.title

    def check(self, context: StepContext) -> Done:
        require_reach(self, context)
        return Done(detail=detail_of("step/as-planned"))

    def verify(self, context: StepContext) -> Done | Wait:
        cluster = cluster_of(context)
        if cluster.kind == REGISTERED:
            return Done(detail=detail_of("cluster/runs-on"))
        return services.await_deleted(cluster)

    def prepare(self, operation: Operation, plan: Plan) -> None:  # noqa: ARG002 - a hook
        Cluster.objects.filter(pk=plan.cluster_id).update(phase=DELETING)

    def finish(self, operation: Operation) -> None:
        if operation.state == SUCCEEDED:
            mark_deleted(operation.cluster_id)
            return
        begun = any(step.was_begun for step in operation.steps.all() if step.name != "check")
        before = operation.plan.preconditions.get("phase", RUNNING)
        phase = FAILED if begun else before
        Cluster.objects.filter(pk=operation.cluster_id).update(phase=phase)

    steps = (
        StepSpec(
            name="check",
            title="It holds no more than the plan says",
            run=check,
            writes=False,
        ),
        StepSpec(
            name="remove",
            title="Stop and delete brokers",
            run=_RemovesBrokers.remove,
            stays=NOT_BACK,
        ),
        StepSpec(
            name="removed",
            title="Brokers are gone",
            run=_RemovesBrokers.await_removed,
            stays=NOT_BACK,
        ),
        StepSpec(name="purge", title="Clear ZooKeeper", run=_RemovesBrokers.purge, stays=NOT_BACK),
        verified_by(verify, title="No host has anything of it any more"),
    )


def _left_undone(cluster: Cluster) -> list[Unfinished]:
    """With brokers of ours all of it goes; a Kafka that runs on keeps what is not ended there."""
    return unfinished_on(cluster) if cluster.kind == REGISTERED else []


def _preconditions(cluster: Cluster, left: list[Unfinished]) -> dict[str, Any]:
    brokers = [broker.key for broker in cluster.brokers.all()]
    return {"brokers": brokers, "phase": cluster.phase, "unfinished": keys_of(left)}


def _reached(cluster: Cluster) -> list[Extent]:
    return deletion_extents(cluster) if cluster.kind == MANAGED else own_extents(cluster)


def _deletion_warning(*, managed: bool) -> dict[str, str]:
    if managed:
        return warning_of("data-loss/cluster", "danger", risk=Risk.LOSES_DATA)
    return warning_of("credentials-forgotten", risk=Risk.LOSES_ACCESS, topic=TELEMETRY_TOPIC)


def _shown(placed: Placement) -> dict[str, Any]:
    """A broker's place as its tenant sees it: hosts are the platform's."""
    return {name: value for name, value in asdict(placed).items() if name != "host_id"}


def first_secrets() -> dict[str, str]:
    return {
        "admin": new_password(),
        "broker": new_password(),
        ZOOKEEPER_PASSWORD: new_password(),
        f"salt:{BROKER_USER}": secrets.token_hex(24),
        f"salt:{ADMIN_USER}": secrets.token_hex(24),
    }


def _unlike(placed: list[Placement], releases: Releases) -> list[dict[str, Any]]:
    """Brokers of a new cluster speak the newest protocol of what their hosts' agents are of."""
    hosts = {row.host_id for row in placed}
    spoken = unlike(releases.installed[host] for host in hosts if host in releases.installed)
    if not spoken:
        return []
    return [warning_of("releases-differ", "danger", protocols=", ".join(spoken))]


def _create_warnings(brokers: int, security: str) -> list[dict[str, Any]]:
    found = []
    if security == "SASL_PLAINTEXT":
        found.append(warning_of("not-encrypted"))
    if brokers < 3:
        found.append(warning_of("few-brokers"))
    return found
