"""cluster.remove_brokers: brokers that hold nothing leave a managed cluster.

Refused while a replica remains on one of them, with the plan that drains it; refused below the
replicas of any topic or of the cluster's own defaults. Asked again, right before each → stopped one
after the other, the controller last → every other broker says that they are replicas of nothing →
wiped by their agents → forgotten. Until it has succeeded, all of it is taken back: a broker that
was stopped runs again, and one that was wiped held nothing.
"""

from collections.abc import Collection
from typing import Any, Final

from rest_framework import serializers

from controlplane.clusters import scaling_steps as shared
from controlplane.clusters import services
from controlplane.clusters.inputs import BROKERS_MAX
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.operations_base import ClusterOperationKind, cluster_of
from controlplane.clusters.rolls import Member, order
from controlplane.clusters.scaling_out import effective_settings, managed
from controlplane.clusters.scaling_rules import Shrinking, refusal
from controlplane.clusters.selectors import host_rows
from controlplane.common.problems import Conflict, field_problem
from controlplane.common.serializers import Shape
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.details import detail_of
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    Progress,
    StepContext,
    StepFailedError,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.states import SUCCEEDED
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

RETURN_DEADLINE_S: Final = 600.0
GENERATIONS: Final = "generations"
AGAIN = "again"
"""In the memo: who is to start again."""
WAY_BACK = ("again", "returned")
NOT_BACK = detail_of("remains/brokers-stopped")


class RemoveBrokersInputs(Shape):
    brokers = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=2**31 - 1),
        min_length=1,
        max_length=BROKERS_MAX,
    )

    def validate_brokers(self, value: list[int]) -> list[int]:
        if len(set(value)) != len(value):
            raise serializers.ValidationError("A broker is named twice.")
        return sorted(value)


class RemovedBrokerSerializer(Shape):
    id = serializers.IntegerField()
    rack = serializers.CharField(allow_blank=True)
    address = serializers.CharField()
    client_port = serializers.IntegerField()
    is_controller = serializers.BooleanField(help_text="Whoever it is then is stopped last.")
    is_up = serializers.BooleanField()


class RemoveBrokersDiffSerializer(Shape):
    brokers = RemovedBrokerSerializer(many=True, help_text="In the order in which they stop.")
    count_before = serializers.IntegerField()
    count_after = serializers.IntegerField()


class RemoveBrokers(ClusterOperationKind):
    name = "cluster.remove_brokers"
    restores = "as many brokers are added again, with other ids and without data"
    inputs = RemoveBrokersInputs
    diff_shape = RemoveBrokersDiffSerializer
    cancellable = True

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster = managed(cluster_of(context))
        gateway = self.gateway(context)
        rows = list(Broker.objects.filter(cluster=cluster))
        leaving = _leaving(rows, cluster, inputs["brokers"])
        check_shrinkable(cluster, gateway, rows, inputs["brokers"])
        _check_hosts(leaving)
        described = gateway.describe_cluster()
        live = {node.id for node in described.brokers}
        by_id = {row.broker_id: row for row in leaving}
        controller = described.controller_id
        members = [Member(id=one, leads=0, is_live=one in live) for one in by_id]
        planned = [
            _shown(by_id[one], live=live, controller=controller)
            for one in order(members, controller)
        ]
        left = len(rows) - len(leaving)
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={"brokers": planned, "count_before": len(rows), "count_after": left},
            summary=summary_of(
                "cluster.remove_brokers", removed=len(leaving), brokers=len(rows), left=left
            ),
            preconditions={GENERATIONS: {str(row.broker_id): row.generation for row in leaving}},
            warnings=_warnings(leaving, planned, left),
            typed_name=cluster.name,
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """Raises Conflict: something forbids it now, in words."""
        cluster = managed(cluster_of(context))
        rows = list(Broker.objects.filter(cluster=cluster))
        leaving = _leaving(rows, cluster, plan.inputs["brokers"])
        check_shrinkable(cluster, self.gateway(context), rows, plan.inputs["brokers"])
        _check_hosts(leaving)
        return {GENERATIONS: {str(row.broker_id): row.generation for row in leaving}}

    def prepare(self, operation: Operation, plan: Plan) -> None:  # noqa: ARG002 - a hook
        """Nobody is told to connect to them from now on: their ports may be others' soon."""
        shared.settle_bootstrap(plan.cluster_id, leaving=plan.inputs["brokers"])

    def check(self, context: StepContext) -> Done:
        found = shared.members(context)
        try:
            check_shrinkable(found.cluster, self.gateway(context), found.rows, _ids(context))
        except Conflict as why:
            raise StepFailedError(why.code, why.detail, **why.extra) from why
        return Done(detail=detail_of("scale/may-go"))

    def stop(self, context: StepContext) -> Done | Wait:
        found = shared.members(context)
        return shared.stop(
            context,
            found,
            self.gateway(context),
            _ids(context),
            lambda now: _still_empty(now, context),
        )

    def check_empty(self, context: StepContext) -> Done | Wait:
        """They are stopped and cannot get anything any more: what they have now is all."""
        return shared.no_broker_names(
            context, self.gateway(context), _ids(context), memo_key="read_back_empty"
        )

    def wipe(self, context: StepContext) -> Done | Wait:
        detail = detail_of("scale/to-delete", brokers=len(_ids(context)))
        found = shared.members(context)
        return shared.tell(context, found, _ids(context), shared.DELETED, detail=detail)

    def await_wiped(self, context: StepContext) -> Done | Wait:
        return shared.await_wiped(context, _ids(context))

    def forget(self, context: StepContext) -> Done:
        return Done(detail=shared.forget(context, _ids(context)))

    def verify(self, context: StepContext) -> Done | Wait:
        return shared.no_broker_names(
            context, self.gateway(context), _ids(context), memo_key="read_back"
        )

    # -- the way back
    def again(self, context: StepContext) -> Done | Wait:
        """What was stopped starts again; what was wiped starts empty, as it was."""
        found = shared.members(context)
        if context.memo.get(AGAIN) is None:
            context.memo[AGAIN] = [
                row.broker_id
                for row in found.of(_ids(context))
                if row.desired_state != shared.RUNNING
            ]
            return Wait(seconds=0.0)  # kept before the rows say otherwise
        ids = context.memo[AGAIN]
        if not ids:
            return Done(detail=detail_of("scale/all-run"))
        if context.memo.get(shared.TOLD) == shared.RUNNING:
            shared.take_back_owed(found.cluster, ids)
        detail = detail_of("scale/to-run-again", brokers=len(ids))
        return shared.tell(context, found, ids, shared.RUNNING, detail=detail)

    def returned(self, context: StepContext) -> Done | Wait:
        rows = shared.members(context).of(_ids(context))
        waits = services.await_processes_of(rows)
        if isinstance(waits, Wait):
            return waits
        wanted = {row.broker_id for row in rows}
        live = {node.id for node in self.gateway(context).describe_cluster().brokers}
        progress = Progress(done=len(wanted & live), total=len(wanted), unit="brokers")
        if wanted <= live:
            return Done(detail=detail_of("register/again"), progress=progress)
        missing = ", ".join(map(str, sorted(wanted - live)))
        waiting = detail_of("register/waiting", brokers=missing)
        return Wait(seconds=shared.POLL_S, detail=waiting, progress=progress)

    def finish(self, operation: Operation) -> None:
        if operation.state == SUCCEEDED:
            ids = [row["id"] for row in operation.plan.diff["brokers"]]
            rows = Broker.objects.filter(cluster_id=operation.cluster_id)
            rows.filter(broker_id__in=ids).delete()
            # Their ids are given to nobody again, those that the cluster was made with either.
            clusters = Cluster.objects.filter(pk=operation.cluster_id)
            clusters.filter(highest_broker_id__lt=max(ids)).update(highest_broker_id=max(ids))
        shared.settle_bootstrap(operation.cluster_id)

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        return "cluster.add_brokers", {"count": len(plan.diff["brokers"])}

    def undo_of_rest(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        return self.name, dict(plan.inputs)

    steps = (
        StepSpec(name="check", title="They hold nothing and enough stay", run=check, writes=False),
        StepSpec(
            name="stop",
            title="Stop them, one after the other",
            run=stop,
            deadline_s=shared.STOP_DEADLINE_S,
            restored_by=WAY_BACK,
            stays=NOT_BACK,
        ),
        StepSpec(
            name="empty",
            title="No other broker knows of a replica there",
            run=check_empty,
            writes=False,
        ),
        StepSpec(
            name="wipe",
            title="Tell their hosts to delete them",
            run=wipe,
            restored_by=WAY_BACK,
            stays=NOT_BACK,
        ),
        StepSpec(
            name="wiped",
            title="Their processes and data are gone",
            run=await_wiped,
            restored_by=WAY_BACK,
            stays=NOT_BACK,
        ),
        StepSpec(
            name="forget",
            title="Nothing is desired of them any more",
            run=forget,
            restored_by=WAY_BACK,
            stays=NOT_BACK,
        ),
        verified_by(verify, title="The others go on without them"),
        StepSpec(
            name="again", title="Start what was stopped again", run=again, phase=Phase.RESTORE
        ),
        StepSpec(
            name="returned",
            title="They are in the cluster again",
            run=returned,
            phase=Phase.RESTORE,
            deadline_s=RETURN_DEADLINE_S,
        ),
    )


def check_shrinkable(
    cluster: Cluster, gateway: ClusterGateway, rows: list[Broker], leaving: Collection[int]
) -> None:
    """Raises Conflict with the first thing that forbids it, and the plan that mends it if any."""
    ids = {row.broker_id for row in rows}
    facts = Shrinking(
        leaving=frozenset(leaving),
        staying=frozenset(ids - set(leaving)),
        live=frozenset(node.id for node in gateway.describe_cluster().brokers),
        topics=tuple(gateway.list_topics()),
        moves=tuple(gateway.list_reassignments()),
        settings=effective_settings(cluster, len(rows)),
    )
    why = refusal(facts)
    if why is None:
        return
    extra = dict(why.extra)
    if why.next_plan is not None:
        extra["next_plan"] = why.next_plan
    raise Conflict(why.text, code=why.code, **extra)


def _still_empty(gateway: ClusterGateway, context: StepContext) -> list[int]:
    """Nobody is left out. Raises StepFailedError: one of them holds something by now."""
    held = shared.holding(gateway, _ids(context))
    for broker, partitions in sorted(held.items()):
        raise StepFailedError(
            "broker-not-empty",
            detail_of("failed/broker-not-empty", broker=str(broker), partition=partitions[0]),
            partitions=sorted(partitions)[:100],
        )
    return []


def _check_hosts(leaving: list[Broker]) -> None:
    """Raises Conflict: nobody can stop one of them, as its agent is away."""
    alive = {host.host_id for host in host_rows() if host.alive}
    for row in leaving:
        if row.host_id not in alive:
            raise Conflict(
                f"The agent of broker {row.broker_id}'s host is away: nobody can stop it there. A"
                " host that is gone for good is declared lost by an operator of the platform.",
                code="host-away",
            )


def _leaving(rows: list[Broker], cluster: Cluster, wanted: Collection[int]) -> list[Broker]:
    known = {row.broker_id for row in rows}
    for index, broker in enumerate(wanted):
        if broker not in known:
            raise field_problem(
                f"/inputs/brokers/{index}", f"The cluster {cluster.name} has no broker {broker}."
            )
    return [row for row in rows if row.broker_id in set(wanted)]


def _ids(context: StepContext) -> list[int]:
    return [row["id"] for row in context.diff["brokers"]]


def _shown(row: Broker, *, live: Collection[int], controller: int | None) -> dict[str, Any]:
    """As its tenant sees it: hosts are the platform's."""
    return {
        "id": row.broker_id,
        "rack": row.rack,
        "address": row.address,
        "client_port": row.client_port,
        "is_controller": row.broker_id == controller,
        "is_up": row.broker_id in live,
    }


def _warnings(
    leaving: list[Broker], planned: list[dict[str, Any]], left: int
) -> list[dict[str, Any]]:
    addresses = ", ".join(f"{row.address}:{row.client_port}" for row in leaving[:5])
    found = [
        warning_of(
            "addresses-go",
            "danger",
            risk=Risk.LOSES_ACCESS,
            addresses=addresses,
            more=len(leaving[5:]),
        )
    ]
    if left < 3:
        found.append(warning_of("few-brokers/stay"))
    if any(row["is_controller"] for row in planned):
        found.append(warning_of("controller-moves", "info"))
    return found
