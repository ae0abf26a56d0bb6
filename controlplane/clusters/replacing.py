"""cluster.replace_broker: a broker goes on under its id on another host, which placement chooses.

Plan with the place and what forbids it → everything else is whole, asked of every broker → stopped
where it is (of a host that is away: declared lost, and fenced) → no live broker counts it in any
ISR → its row moves → a limit on what it will read → it begins there with an empty directory, which
has an id of its own → all its replicas are in sync, the limit goes → its leaders → what it left is
fenced and deleted.

Until it is in sync there the old directory stays as it was, and is the way back. Its address
reaches clients by the cluster's metadata.
"""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from controlplane.clusters import replacing_places as places
from controlplane.clusters import services
from controlplane.clusters.models import MANAGED, Broker, Cluster, LostBroker
from controlplane.clusters.operations_base import ClusterOperationKind, cluster_of
from controlplane.clusters.rebuild_limits import (
    THROTTLE_BYTES_PER_S,
    THROTTLE_MIN_BYTES_PER_S,
    limiter,
)
from controlplane.clusters.replacing_rules import (
    MOVE,
    REBUILD,
    Situation,
    in_the_way,
    rack_reason,
    way_of,
    would_be_lost,
)
from controlplane.clusters.replacing_steps import Replacement
from controlplane.clusters.roll_look import look
from controlplane.clusters.rolls import Facts, Obstacle, held
from controlplane.clusters.rules import Placement, placement_warnings
from controlplane.clusters.selectors import explained, host_rows
from controlplane.clusters.specs import check_config
from controlplane.common.problems import Conflict, NotFound
from controlplane.common.serializers import Shape
from controlplane.operations.details import detail_of
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import verified_by
from controlplane.operations.summaries import Summary, summary_of
from controlplane.operations.warnings import warning_of

KIND = "cluster.replace_broker"
SYNC_DEADLINE_S = 7 * 86_400.0
"""All that the broker had is read anew."""
LOST_NAMED_MAX = 100
STAYS = detail_of("remains/replaced")
BACK = ("return",)
WAYS = (MOVE, REBUILD)


class ReplaceBrokerInputs(Shape):
    broker = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    throttle_bytes_per_s = serializers.IntegerField(
        min_value=THROTTLE_MIN_BYTES_PER_S,
        max_value=2**63 - 1,
        required=False,
        allow_null=True,
        default=THROTTLE_BYTES_PER_S,
        help_text="Limit of what it reads anew, on each broker both ways; null: none.",
    )


class ReplacedSerializer(Shape):
    address = serializers.CharField(allow_null=True)
    rack = serializers.CharField(allow_blank=True)
    client_port = serializers.IntegerField(allow_null=True)


class ReplaceDiffSerializer(Shape):
    broker = serializers.IntegerField()
    way = serializers.ChoiceField(
        WAYS,
        help_text="`move`: it is stopped where it is. `rebuild`: its host is away or was lost.",
    )
    before = ReplacedSerializer()
    after = ReplacedSerializer()
    replicas = serializers.IntegerField(help_text="That are read anew.")
    leaders = serializers.IntegerField(help_text="Partitions that it leads now.")
    reason = serializers.CharField(help_text="Why its new place was chosen.")
    throttle_bytes_per_s = serializers.IntegerField(
        allow_null=True,
        required=False,
        help_text="Limit of what it reads anew; null: none. Absent in plans of before.",
    )


class ClusterReplaceBroker(ClusterOperationKind):
    name = KIND
    final = "the broker stays where it is; another plan moves it again"
    inputs = ReplaceBrokerInputs
    diff_shape = ReplaceDiffSerializer
    cancellable = True

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        """Raises Conflict with the reason: nothing may be lost, nor fall below the minimum."""
        cluster = cluster_of(context)
        row, left = located(cluster, inputs["broker"])
        found = host_rows()
        facts = look(self.gateway(context), list(Broker.objects.filter(cluster=cluster)))
        way = _way(inputs["broker"], row, facts, {each.host_id for each in found if each.alive})
        decision = places.place_elsewhere(cluster, inputs["broker"], left["host_id"], found)
        others = list(Broker.objects.filter(cluster=cluster).exclude(broker_id=inputs["broker"]))
        place = places.placed(decision)
        parts = [part for _, part in held(inputs["broker"], facts.topics)]
        limit = inputs.get("throttle_bytes_per_s", THROTTLE_BYTES_PER_S)
        return PlanDraft(
            resource=f"broker/{inputs['broker']}",
            diff={
                "broker": inputs["broker"],
                "way": way,
                "before": _shown(left),
                "after": _shown(place),
                "replicas": len(parts),
                "leaders": sum(part.leader == inputs["broker"] for part in parts),
                "reason": rack_reason(place["rack"], places.racks_of(others, but=inputs["broker"])),
                "throttle_bytes_per_s": limit,
            },
            summary=_summary(inputs["broker"], way, len(parts)),
            preconditions={
                **_row_now(row, left),
                "placement": [{"broker_id": inputs["broker"], **place}],
                # For operators (`administration.selectors.plan_placement`).
                "explained": explained(decision),
            },
            warnings=[
                *_warnings(cluster, inputs["broker"], way, place, others),
                _limit_warning(limit),
            ],
            typed_name=f"{cluster.name}/{inputs['broker']}",
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """What was chosen need not be the best any more, but has to be possible."""
        cluster = cluster_of(context)
        broker = plan.inputs["broker"]
        row, left = located(cluster, broker)
        found = host_rows()
        facts = look(self.gateway(context), list(Broker.objects.filter(cluster=cluster)))
        _way(broker, row, facts, {each.host_id for each in found if each.alive})
        places.still_free(cluster, broker, _planned(plan.preconditions))
        return {**plan.preconditions, **_row_now(row, left)}

    def prepare(self, operation: Operation, plan: Plan) -> None:
        limiter().prepare(operation, plan.diff.get("throttle_bytes_per_s"))

    # -- steps
    def replacement(self, context: StepContext) -> Replacement:
        rows, count = places.brokers_of(context.operation.cluster_id or "", context.tenant)
        if rows:
            context.cluster = rows[0].cluster
        cluster = cluster_of(context)
        return Replacement(
            context=context,
            cluster=cluster,
            brokers=rows,
            broker_count=count,
            gateway=self.gateway(context),
            broker=context.inputs["broker"],
            way=context.diff["way"],
            generation=context.preconditions["generation"],
            planned=_planned(context.preconditions),
            now_s=timezone.now().timestamp(),
        )

    def check(self, context: StepContext) -> Done:
        broker, planned = context.inputs["broker"], _planned(context.preconditions)
        places.still_free(cluster_of(context), broker, planned)
        return Done(detail=detail_of("step/as-planned"))

    def leave(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).leave()

    def await_left(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).await_left()

    def await_out(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).await_out_of_isr()

    def move(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).move()

    def limit(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).limit()

    def unlimit(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).unlimit()

    def begin(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).begin()

    def await_there(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).await_there()

    def await_sync(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).await_sync()

    def elect(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).elect()

    def wipe(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).wipe()

    def verify(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).verify()

    def bring_back(self, context: StepContext) -> Done | Wait:
        return self.replacement(context).bring_back()

    steps = (
        StepSpec(name="check", title="Its new place is still free", run=check, writes=False),
        StepSpec(
            name="leave",
            title="Stop it where it is, once everything else is whole",
            run=leave,
            deadline_s=3_600.0,
            restored_by=BACK,
            stays=STAYS,
        ),
        StepSpec(
            name="left",
            title="It has ended there, or may not come back",
            run=await_left,
            restored_by=BACK,
            stays=STAYS,
        ),
        StepSpec(
            name="uncounted",
            title="No partition counts it any more",
            run=await_out,
            writes=False,
        ),
        StepSpec(
            name="move",
            title="Give it its new place",
            run=move,
            restored_by=BACK,
            stays=STAYS,
        ),
        StepSpec(
            name="limit",
            title="Limit what it will read",
            run=limit,
            restored_by=("unlimit",),
        ),
        StepSpec(
            name="begin",
            title="Begin there with an empty directory",
            run=begin,
            restored_by=BACK,
            stays=STAYS,
        ),
        StepSpec(
            name="registration",
            title="It runs there, and registers with the cluster",
            run=await_there,
            deadline_s=600.0,
            writes=False,
        ),
        StepSpec(
            name="sync",
            title="All its replicas are in sync",
            run=await_sync,
            deadline_s=SYNC_DEADLINE_S,
            restored_by=("unlimit",),
            stays=detail_of("remains/replaced/reads"),
        ),
        StepSpec(name="unlimit", title="Lift the limit", run=unlimit, phase=Phase.ALWAYS),
        StepSpec(
            name="leaders",
            title="It leads again what prefers it",
            run=elect,
            stays=detail_of("remains/replaced/leaders"),
        ),
        StepSpec(
            name="wipe",
            title="Delete what it has left",
            run=wipe,
            stays=detail_of("remains/replaced/in-sync"),
        ),
        verified_by(verify, title="Every broker counts it in again", deadline_s=120.0),
        StepSpec(
            name="return",
            title="Start it where it was, once nothing of it is left elsewhere",
            run=bring_back,
            phase=Phase.RESTORE,
        ),
    )


def _limit_warning(limit: int | None) -> dict[str, str]:
    if limit is None:
        return warning_of("no-limit")
    return warning_of("limited", "info", limit_bytes_per_s=limit)


def located(cluster: Cluster, broker_id: int) -> tuple[Broker | None, dict[str, Any]]:
    """Its row, null of a lost broker, and the place that it is on or was lost with.

    Raises:
        Conflict: this service does not run the cluster's brokers.
        NotFound: the cluster neither has such a broker nor has lost one.
    """
    if cluster.kind != MANAGED:
        raise Conflict(
            f"The brokers of {cluster.name} are not run by this service.",
            code="cluster-not-managed",
        )
    row = Broker.objects.filter(cluster=cluster, broker_id=broker_id).first()
    if row is not None:
        return row, places.place_of(row)
    lost = LostBroker.objects.filter(cluster=cluster, broker_id=broker_id).first()
    if lost is None:
        raise NotFound(f"The cluster {cluster.name} has no broker {broker_id}.")
    return None, {
        "host_id": lost.host_id,
        "address": lost.address,
        "rack": lost.rack,
        "client_port": lost.client_port,
    }


def _way(broker: int, row: Broker | None, facts: Facts, alive: set[str]) -> str:
    """Raises Conflict: it cannot be put elsewhere now, and why."""
    way = way_of(
        Situation(
            broker=broker,
            has_row=row is not None,
            is_live=broker in facts.live,
            host_alive=row is not None and row.host_id in alive,
        )
    )
    if isinstance(way, Obstacle):
        raise _refused([way])
    found = in_the_way(way, broker, facts)
    if found:
        raise _refused(found, would_be_lost(broker, facts.topics))
    return way


def _refused(found: list[Obstacle], lost: list[str] | None = None) -> Conflict:
    text = "; ".join(one.text for one in found)
    return Conflict(
        f"{text[:1].upper()}{text[1:]}.",
        code=found[0].code,
        obstacles=[{"code": one.code, "text": one.text} for one in found],
        partitions=sorted(lost or ())[:LOST_NAMED_MAX],
    )


def _row_now(row: Broker | None, left: dict[str, Any]) -> dict[str, Any]:
    return {
        "generation": 0 if row is None else row.generation,
        "is_lost": row is None,
        "host": left["host_id"],
    }


def _planned(preconditions: dict[str, Any]) -> dict[str, Any]:
    (place,) = preconditions["placement"]
    return {name: place[name] for name in places.PLACE_FIELDS}


def _shown(place: dict[str, Any]) -> dict[str, Any]:
    """A place as a tenant sees it: hosts are the platform's."""
    return {name: place[name] for name in ("address", "rack", "client_port")}


def _summary(broker: int, way: str, replicas: int) -> Summary:
    code = "cluster.replace_broker" if way == MOVE else "cluster.replace_broker/given-up"
    return summary_of(code, broker=str(broker), replicas=replicas)


def _warnings(
    cluster: Cluster, broker: int, way: str, place: dict[str, Any], others: list[Broker]
) -> list[dict[str, Any]]:
    effective = check_config(cluster.config, broker_count=len(others) + 1)
    found = placement_warnings(
        [*(services.placement_of(row) for row in others), Placement(broker_id=broker, **place)],
        replicas=int(effective["default.replication.factor"]),
        min_isr=int(effective["min.insync.replicas"]),
    )
    found.append(warning_of("redundancy-lower"))
    is_moved = way == MOVE
    last = warning_of("leaders-move/replace", "info") if is_moved else warning_of("old-data-wiped")
    return [*found, last]
