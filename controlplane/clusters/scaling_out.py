"""cluster.add_brokers: a managed cluster gets more brokers, on hosts that the placement chooses.

Plan with a place and a reason for each → the places are still free → what their hosts shall run →
each process runs, registers, and answers when it is asked by its name. One that fails takes away
what it made, but for a broker that a topic was put on meanwhile. New brokers hold nothing: the plan
that spreads what is there is offered next, under a limit.
"""

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework import serializers

from controlplane.clusters import scaling_steps as shared
from controlplane.clusters import services
from controlplane.clusters.authority import certify, has_tls
from controlplane.clusters.candidates import no_longer_fit
from controlplane.clusters.inputs import BROKERS_MAX
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.clusters.operations_base import ClusterOperationKind, cluster_of
from controlplane.clusters.rules import Placement, placement_warnings
from controlplane.clusters.scaling_rules import added_notes, next_ids, pinned, rebalance_next
from controlplane.clusters.selectors import explained, host_rows, placed_now, release_rows
from controlplane.clusters.specs import check_config
from controlplane.common.crypto import unseal
from controlplane.common.kafka_configs import is_tenants
from controlplane.common.problems import Conflict
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
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back, verified_by
from controlplane.operations.states import STEP_DONE, SUCCEEDED
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

STAYS = detail_of("remains/brokers-added")


class AddBrokersInputs(Shape):
    count = serializers.IntegerField(
        min_value=1, max_value=BROKERS_MAX, help_text="How many more brokers."
    )


class AddedBrokerSerializer(Shape):
    broker_id = serializers.IntegerField()
    rack = serializers.CharField(allow_blank=True)
    address = serializers.CharField()
    client_port = serializers.IntegerField()
    internal_port = serializers.IntegerField()
    reason = serializers.CharField(help_text="Why there.")


class AddBrokersDiffSerializer(Shape):
    brokers = AddedBrokerSerializer(many=True)
    count_before = serializers.IntegerField()
    count_after = serializers.IntegerField()
    settings_kept = serializers.DictField(
        child=serializers.CharField(),
        help_text="Defaults that follow from the number of brokers, written down as they are.",
    )


class AddBrokers(ClusterOperationKind):
    name = "cluster.add_brokers"
    restores = "the new brokers are removed, while they hold no replicas"
    inputs = AddBrokersInputs
    diff_shape = AddBrokersDiffSerializer
    cancellable = True

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster = managed(cluster_of(context))
        count = inputs["count"]
        check_brokers_room(str(context.tenant.pk), count)
        rows, before = services.counted_brokers(Broker.objects.filter(cluster=cluster))
        ids = next_ids(
            count,
            highest_given=cluster.highest_broker_id,
            used=shared.ids_in_use(cluster, self.gateway(context)),
        )
        present = [(row.host_id, row.rack) for row in rows]
        decision, _ = placed_now(ids, cluster=cluster, present=present)
        kept = settings_kept(cluster, before, before + count)
        notes = added_notes(decision.placed, present)
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={
                "brokers": [_shown(row, notes[row.broker_id]) for row in decision.placed],
                "count_before": len(rows),
                "count_after": len(rows) + count,
                "settings_kept": kept,
            },
            summary=summary_of("cluster.add_brokers", added=count, brokers=len(rows)),
            preconditions={
                "placement": [asdict(row) for row in decision.placed],
                # For operators (`administration.selectors.plan_placement`).
                "explained": explained(decision),
                "settings_kept": kept,
            },
            warnings=_warnings(cluster, rows, decision.placed, kept, before),
            typed_name=cluster.name,
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """What was chosen need not be the best any more, but has to be possible."""
        cluster = managed(cluster_of(context))
        placed = _placed(plan)
        check_brokers_room(str(context.tenant.pk), len(placed))
        used = shared.ids_in_use(cluster, self.gateway(context))
        taken = {row.broker_id for row in placed} & used
        if taken or min(row.broker_id for row in placed) <= cluster.highest_broker_id:
            raise Conflict("The ids of the new brokers were given to others.", code="ids-taken")
        _, before = services.counted_brokers(Broker.objects.filter(cluster=cluster))
        found = host_rows()
        gone = no_longer_fit(placed, found, release_rows(found, cluster))
        return {
            **plan.preconditions,
            "settings_kept": settings_kept(cluster, before, before + len(placed)),
            **({"placement": sorted(gone)} if gone else {}),
        }

    def prepare(self, operation: Operation, plan: Plan) -> None:  # noqa: ARG002 - a hook
        """The rows, whose ports are nobody else's from now on, and the ids, for good."""
        cluster = Cluster.objects.select_for_update().get(pk=plan.cluster_id)
        placed = _placed(plan)
        cluster.highest_broker_id = max(
            cluster.highest_broker_id, *(row.broker_id for row in placed)
        )
        cluster.config = {**plan.diff["settings_kept"], **cluster.config}
        cluster.save(update_fields=["highest_broker_id", "config"])
        brokers = [
            Broker(cluster=cluster, desired_state=shared.JOINING, **asdict(row)) for row in placed
        ]
        if has_tls(cluster):
            secrets = unseal(cluster.secrets_token)
            for broker in brokers:
                certify(broker, secrets, now=timezone.now())
        Broker.objects.bulk_create(brokers)

    def check(self, context: StepContext) -> Done:
        """Raises StepFailedError with the first broker whose host does not take it any more."""
        found = shared.members(context)
        new = found.of(_ids(context))
        there = [row for row in found.rows if row not in new]
        return services.still_placed(found.cluster, new, there=there)

    def write_desired(self, context: StepContext) -> Done:
        found = shared.members(context)
        new = found.of(_ids(context))
        services.write_state(found.cluster, new, state=shared.RUNNING, count=found.count)
        return Done(detail=detail_of("scale/to-run", brokers=len(new)))

    def await_processes(self, context: StepContext) -> Done | Wait:
        return services.await_processes_of(self._new(context))

    def await_registration(self, context: StepContext) -> Done | Wait:
        """Until the brokers that are there show each new one among them."""
        wanted = set(_ids(context))
        live = {node.id for node in self.gateway(context).describe_cluster().brokers}
        progress = Progress(done=len(wanted & live), total=len(wanted), unit="brokers")
        if wanted <= live:
            return Done(detail=detail_of("register/new"), progress=progress)
        missing = ", ".join(map(str, sorted(wanted - live)))
        waiting = detail_of("register/waiting", brokers=missing)
        return Wait(seconds=shared.POLL_S, detail=waiting, progress=progress)

    def verify(self, context: StepContext) -> Done | Wait:
        """Each new broker is asked by its name, and is in everybody's list."""
        gateway, ids = self.gateway(context), _ids(context)
        live = {node.id for node in gateway.describe_cluster().brokers}
        for broker in sorted(set(ids) & live):
            gateway.at(broker).list_acls()
        missing = sorted(set(ids) - live)
        context.memo["outcome"] = {"next_plan": rebalance_next(live)}
        return read_back(
            detail_of("register/missing", broker=str(missing[0])) if missing else None,
            detail=detail_of("scale/answer", brokers=len(ids)),
        )

    # -- the way back
    def withdraw(self, context: StepContext) -> Done | Wait:
        """Whoever got replicas meanwhile, of a topic that was made, stays."""
        ids = _ids(context)

        def holders(gateway: ClusterGateway) -> Collection[int]:
            held = shared.holding(gateway, ids)
            context.memo[shared.KEPT] = sorted(held)
            return held.keys()

        found = shared.members(context)
        return shared.stop(context, found, self.gateway(context), ids, holders)

    def wipe(self, context: StepContext) -> Done | Wait:
        """Those that have stopped; one that was put into a topic before that is started again."""
        stopped = context.memo.get(shared.STOP, {}).get("done", [])
        found = shared.members(context)
        if context.memo.get(shared.TOLD) is None:
            late = set(shared.holding(self.gateway(context), stopped))
            if late:
                return self._keep(context, found, stopped, late)
        detail = detail_of("scale/to-delete", brokers=len(stopped))
        return shared.tell(context, found, stopped, shared.DELETED, detail=detail)

    def _keep(
        self, context: StepContext, found: shared.Members, stopped: list[int], late: set[int]
    ) -> Wait:
        shared.note(found.cluster, late, shared.RUNNING)
        rows = shared.members(context).of(late)
        services.write_state(found.cluster, rows, state=shared.RUNNING, count=found.count)
        context.memo[shared.STOP]["done"] = sorted(set(stopped) - late)
        context.memo[shared.KEPT] = sorted({*context.memo.get(shared.KEPT, ()), *late})
        return Wait(seconds=0.0, detail=detail_of("scale/holds-replicas"))

    def await_wiped(self, context: StepContext) -> Done | Wait:
        return shared.await_wiped(context, context.memo.get(shared.STOP, {}).get("done", []))

    def forget(self, context: StepContext) -> Done:
        gone = context.memo.get(shared.STOP, {}).get("done", [])
        kept = context.memo.get(shared.KEPT, [])
        remains = tuple(
            detail_of("remains/broker-holds-replicas", broker=str(broker)) for broker in kept
        )
        return Done(detail=shared.forget(context, gone), remains=remains)

    def finish(self, operation: Operation) -> None:
        plan = operation.plan
        ids = [row["broker_id"] for row in plan.diff["brokers"]]
        rows = Broker.objects.filter(cluster_id=operation.cluster_id, broker_id__in=ids)
        if operation.state == SUCCEEDED:
            rows.update(desired_state=shared.RUNNING)
            shared.settle_bootstrap(operation.cluster_id)
            return
        steps = list(operation.steps.all())
        told = any(step.was_begun for step in steps if step.name == "desired")
        back = {step.state for step in steps if step.phase == Phase.RESTORE}
        if told and back != {STEP_DONE}:
            return  # what could not be taken away is to be seen
        kept = operation.memo.get(shared.KEPT, [])
        rows.exclude(broker_id__in=kept).delete()
        if kept:
            rows.filter(desired_state=shared.JOINING).update(desired_state=shared.RUNNING)
            shared.settle_bootstrap(operation.cluster_id)
        else:
            _unpin(operation.cluster_id, plan.diff["settings_kept"])

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        ids = [row["broker_id"] for row in plan.diff["brokers"]]
        return "cluster.remove_brokers", {"brokers": ids}

    def _new(self, context: StepContext) -> list[Broker]:
        return shared.members(context).of(_ids(context))

    steps = (
        StepSpec(
            name="check", title="Every new broker's place is still free", run=check, writes=False
        ),
        StepSpec(
            name="desired",
            title="Write what the hosts shall run",
            run=write_desired,
            restored_by=("withdraw", "wipe", "wiped", "forget"),
            stays=STAYS,
        ),
        StepSpec(
            name="processes", title="The new processes start", run=await_processes, writes=False
        ),
        StepSpec(
            name="registration",
            title="They register with the cluster",
            run=await_registration,
            writes=False,
        ),
        verified_by(verify, title="Each new broker answers"),
        StepSpec(name="withdraw", title="Stop the new brokers", run=withdraw, phase=Phase.RESTORE),
        StepSpec(name="wipe", title="Delete them", run=wipe, phase=Phase.RESTORE),
        StepSpec(
            name="wiped", title="Nothing of them is left", run=await_wiped, phase=Phase.RESTORE
        ),
        StepSpec(
            name="forget",
            title="Nothing is desired of them any more",
            run=forget,
            phase=Phase.RESTORE,
        ),
    )


def managed(cluster: Cluster) -> Cluster:
    """Raises Conflict: its brokers are run by somebody else."""
    if cluster.kind != MANAGED:
        raise Conflict(
            f"The brokers of {cluster.name} are not run by this service.",
            code="cluster-not-managed",
        )
    return cluster


def check_brokers_room(tenant_id: str, count: int) -> None:
    """Raises Conflict: a tenant has its share of the hosts, which all tenants have in common."""
    brokers = Broker.objects.filter(cluster__tenant_id=tenant_id).count()
    if brokers + count > settings.BROKERS_PER_TENANT:
        raise Conflict(
            f"The tenant has {brokers} brokers, and may have {settings.BROKERS_PER_TENANT}:"
            f" {count} more do not fit.",
            code="too-many-brokers",
        )


def effective_settings(cluster: Cluster, count: int) -> dict[str, Any]:
    """All settings of its brokers, typed, when it has so many."""
    chosen = {key: value for key, value in cluster.config.items() if is_tenants(key)}
    return check_config(chosen, broker_count=count)


def settings_kept(cluster: Cluster, before: int, after: int) -> dict[str, str]:
    """The defaults that a change of the number would change; none where they are chosen."""
    return pinned(
        effective_settings(cluster, before), effective_settings(cluster, after), cluster.config
    )


def _unpin(cluster_id: str | None, kept: dict[str, str]) -> None:
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is None or not kept:
        return
    config = {key: value for key, value in cluster.config.items() if kept.get(key) != value}
    Cluster.objects.filter(pk=cluster_id).update(config=config)


def _ids(context: StepContext) -> list[int]:
    return [row["broker_id"] for row in context.diff["brokers"]]


def _placed(plan: Plan) -> list[Placement]:
    return [Placement(**row) for row in plan.preconditions["placement"]]


def _shown(placed: Placement, why: str) -> dict[str, Any]:
    """A broker's place as its tenant sees it: hosts are the platform's."""
    row = {name: value for name, value in asdict(placed).items() if name != "host_id"}
    return {**row, "reason": why}


def _warnings(
    cluster: Cluster,
    rows: list[Broker],
    placed: list[Placement],
    kept: dict[str, str],
    before: int,
) -> list[dict[str, Any]]:
    settings_now = effective_settings(cluster, before)
    found = placement_warnings(
        [*(services.placement_of(row) for row in rows), *placed],
        replicas=int(settings_now["default.replication.factor"]),
        min_isr=int(settings_now["min.insync.replicas"]),
    )
    if kept:
        said = ", ".join(f"{key} {value}" for key, value in kept.items())
        found.append(warning_of("settings-kept", "info", settings=said))
    found.append(warning_of("empty-at-first", "info"))
    return found
