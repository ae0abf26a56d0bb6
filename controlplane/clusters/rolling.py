"""cluster.restart: all brokers of a managed cluster, one after the other, while it serves.

Plan with the order and what no order can avoid → no more than that → for each broker: everything
else is whole, asked of every broker → another generation of what its host shall run → the process
is new, it registers, its replicas are in sync → the leaders that prefer it are its own again. The
first one is the canary: the roll waits and looks whether anything got worse.

A broker that is chosen is noted before anything is done to it, and its generation follows from the
plan: whoever goes on after a killed worker goes on with the same broker and restarts none twice.
The agent stops a broker cleanly, so that it hands its leadership over first.
"""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from controlplane.clusters import services
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.clusters.operations_base import ClusterOperationKind, cluster_of
from controlplane.clusters.probing import PROBE_TOPIC
from controlplane.clusters.roll_book import RollBook
from controlplane.clusters.roll_look import (
    MIN_ISR,
    OFFLINE,
    UNWRITABLE,
    least_in_sync,
)
from controlplane.clusters.roll_steps import Roller
from controlplane.clusters.rolls import (
    Member,
    Unavoidable,
    behind,
    held,
    order,
    summed_up,
    unavoidable,
    who_is_done,
)
from controlplane.common.problems import Conflict, field_problem
from controlplane.common.serializers import Shape
from controlplane.common.words import counted
from controlplane.gateway.readings import Gap
from controlplane.gateway.types import TopicDescription
from controlplane.operations.blast_radius import Extent, listed
from controlplane.operations.details import detail_of
from controlplane.operations.models import Plan
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
from controlplane.operations.reach import require_reach
from controlplane.operations.read_back import read_back, verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.rolled import FAILED, RESTARTED
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

BROKERS_MAX = 1_000
CANARY_S = 60
CANARY_MAX_S = 86_400
ROLL_DEADLINE_S = 30 * 86_400.0
"""Each wait within has a bound of its own."""
IN_SYNC_DEADLINE_S = 1_800.0
STAYS = detail_of("remains/roll")
GENERATIONS = "generations"


class ClusterRestartInputs(Shape):
    brokers = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=2**31 - 1),
        required=False,
        min_length=1,
        max_length=BROKERS_MAX,
        help_text="Only these; without them all.",
    )
    canary_s = serializers.IntegerField(
        required=False,
        default=CANARY_S,
        min_value=0,
        max_value=CANARY_MAX_S,
        help_text="After the first broker: for how many seconds the roll looks whether anything"
        " got worse before it takes the second. 0: not.",
    )


class RolledBrokerSerializer(Shape):
    id = serializers.IntegerField()
    host = serializers.CharField()
    rack = serializers.CharField(allow_blank=True)
    leaders = serializers.IntegerField(help_text="Partitions that it leads now.")
    replicas = serializers.IntegerField()
    is_controller = serializers.BooleanField(help_text="Whoever it is then is taken last.")
    is_up = serializers.BooleanField()


class RollDiffSerializer(Shape):
    brokers = RolledBrokerSerializer(many=True, help_text="In the order of the roll.")
    canary_s = serializers.IntegerField()


class RollKind(ClusterOperationKind):
    """What every operation that restarts the brokers of a cluster in turn shares."""

    cancellable = True
    pausable = True

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        rows = rolled(cluster_of(context), plan.inputs.get("brokers"))
        return {GENERATIONS: {str(row.broker_id): row.generation for row in rows}}

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:
        gateway = self.gateway(context)
        topics = gateway.list_topics()
        least = least_in_sync(gateway, [topic.name for topic in topics])
        planned = [row["id"] for row in plan.diff["brokers"]]
        return extents(unavoidable_of_all(planned, topics, least))

    def check(self, context: StepContext) -> Done:
        require_reach(self, context)
        return Done(detail=detail_of("roll/no-more-hangs"))

    def roller(self, context: StepContext) -> Roller:
        # All by one statement: the tick that restarts a broker takes many.
        rows, count = services.counted_brokers(
            Broker.objects.filter(
                cluster_id=context.operation.cluster_id,
                cluster__tenant=context.tenant,
                cluster__deleted_at=None,
            ).select_related("cluster")
        )
        if rows:
            context.cluster = rows[0].cluster
        cluster = cluster_of(context)
        generations = {
            int(broker): generation + 1
            for broker, generation in context.preconditions[GENERATIONS].items()
        }
        return Roller(
            context=context,
            cluster=cluster,
            brokers=rows,
            broker_count=count,
            gateway=self.gateway(context),
            generations=generations,
            book=RollBook(context.memo, [row["id"] for row in context.diff["brokers"]]),
            canary_s=float(context.diff["canary_s"]),
            now_s=now_s(),
        )

    def roll(self, context: StepContext) -> Done | Wait:
        roller = self.roller(context)
        return roller.tick() or Done(
            detail=detail_of("roll/done", brokers=roller.book.done), progress=roller.progress()
        )

    def verify(self, context: StepContext) -> Done | Wait:
        wanted = [row["id"] for row in context.diff["brokers"]]
        topics = self.gateway(context).list_topics()
        counts = [behind(broker, topics) for broker in wanted]
        in_sync, every = sum(one for one, _ in counts), sum(both for _, both in counts)
        return read_back(
            None
            if in_sync == every
            else detail_of("replicas/so-far", in_sync=in_sync, replicas=every),
            detail=detail_of("replicas/in-sync-of", replicas=every, brokers=len(wanted)),
            progress=Progress(done=in_sync, total=every, unit="replicas"),
            poll_s=1.0,
        )

    def settle(self, context: StepContext) -> Done | Wait:
        roller = self.roller(context)
        waits = roller.settle()
        if waits is not None:
            return waits
        said = who_is_done(roller.book.states, RESTARTED, FAILED)
        remains = summed_up(roller.book.states, RESTARTED, FAILED)
        return Done(
            detail=said or detail_of("roll/none"),
            progress=roller.progress(),
            remains=(remains,) if remains else (),
        )


class ClusterRestart(RollKind):
    name = "cluster.restart"
    final = "there is nothing to put back"
    inputs = ClusterRestartInputs
    diff_shape = RollDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster = cluster_of(context)
        rows = rolled(cluster, inputs.get("brokers"))
        gateway = self.gateway(context)
        topics = gateway.list_topics()
        least = least_in_sync(gateway, [topic.name for topic in topics])
        described = gateway.describe_cluster()
        live = {node.id for node in described.brokers}
        lost = unavoidable_of_all([row.broker_id for row in rows], topics, least)
        planned = in_order(rows, topics, live, described.controller_id)
        return PlanDraft(
            resource=f"cluster/{cluster.name}",
            diff={"brokers": planned, "canary_s": inputs.get("canary_s", CANARY_S)},
            summary=summary_of("cluster.restart", brokers=len(rows)),
            preconditions={GENERATIONS: {str(row.broker_id): row.generation for row in rows}},
            warnings=roll_warnings(cluster, planned, lost),
            blast_radius=extents(lost),
            typed_name=cluster.name,
        )

    steps = (
        StepSpec(
            name="check",
            title="No more hangs on the brokers than the plan says",
            run=RollKind.check,
            writes=False,
        ),
        StepSpec(
            name="roll",
            title="Restart the brokers, one after the other",
            run=RollKind.roll,
            deadline_s=ROLL_DEADLINE_S,
            restored_by=("settle",),
            stays=STAYS,
        ),
        verified_by(
            RollKind.verify, title="All their replicas are in sync", deadline_s=IN_SYNC_DEADLINE_S
        ),
        StepSpec(
            name="settle",
            title="Wait for the broker under way, leave the others as they are",
            run=RollKind.settle,
            phase=Phase.RESTORE,
            deadline_s=IN_SYNC_DEADLINE_S + 600.0,
        ),
    )


def now_s() -> float:
    """Seconds since the epoch."""
    return timezone.now().timestamp()


def rolled(cluster: Cluster, only: list[int] | None) -> list[Broker]:
    """The rows of the brokers that a roll is about.

    Raises:
        Conflict: this service runs none of them.
        Problem: one of `only` is no broker of the cluster.
    """
    if cluster.kind != MANAGED:
        raise Conflict(
            f"The brokers of {cluster.name} are not run by this service.",
            code="cluster-not-managed",
        )
    rows = list(Broker.objects.filter(cluster=cluster))
    if not rows:
        raise Conflict(f"The cluster {cluster.name} has no brokers.", code="nothing-to-do")
    unknown = sorted(set(only or ()) - {row.broker_id for row in rows})
    if unknown:
        raise field_problem("/inputs/brokers", f"The cluster has no broker {unknown[0]}.")
    return [row for row in rows if only is None or row.broker_id in only]


def in_order(
    rows: list[Broker], topics: list[TopicDescription], live: set[int], controller: int | None
) -> list[dict[str, Any]]:
    """The brokers as the plan shows them, in the order in which they are taken."""
    parts = {row.broker_id: [part for _, part in held(row.broker_id, topics)] for row in rows}
    leads = {one: sum(part.leader == one for part in found) for one, found in parts.items()}
    by_id = {row.broker_id: row for row in rows}
    members = [Member(id=one, leads=leads[one], is_live=one in live) for one in by_id]
    return [
        {
            "id": one,
            "host": by_id[one].address,
            "rack": by_id[one].rack,
            "leaders": leads[one],
            "replicas": len(parts[one]),
            "is_controller": one == controller,
            "is_up": one in live,
        }
        for one in order(members, controller)
    ]


def unavoidable_of_all(
    brokers: list[int], topics: list[TopicDescription], least: dict[str, int | None]
) -> Unavoidable:
    found = [unavoidable(broker, topics, least) for broker in brokers]
    return Unavoidable(
        offline=frozenset().union(*(one.offline for one in found)),
        unwritable=frozenset().union(*(one.unwritable for one in found)),
        unknown=frozenset().union(*(one.unknown for one in found)),
    )


def extents(lost: Unavoidable) -> list[Extent]:
    gaps: tuple[Gap, ...] = ()
    if lost.unknown:
        names = ", ".join(sorted(lost.unknown)[:3])
        gaps = (Gap(f"{MIN_ISR} of {counted(len(lost.unknown), 'topic')} ({names})"),)
    return [
        listed(
            OFFLINE,
            "topics-offline-in-turn",
            "topic",
            lost.offline,
        ),
        listed(
            UNWRITABLE,
            "topics-unwritable-in-turn",
            "topic",
            lost.unwritable,
            gaps,
        ),
    ]


def roll_warnings(
    cluster: Cluster, planned: list[dict[str, Any]], lost: Unavoidable
) -> list[dict[str, Any]]:
    rows = []
    if lost.offline:
        rows.append(
            warning_of(
                "partitions-offline/roll",
                "danger",
                risk=Risk.LOSES_ACCESS,
                topics=len(lost.offline),
            )
        )
    if lost.unwritable:
        rows.append(
            warning_of(
                "below-min-isr/roll",
                "danger",
                risk=Risk.LOSES_ACCESS,
                topics=len(lost.unwritable),
            )
        )
    away = [row["id"] for row in planned if not row["is_up"]]
    if away:
        rows.append(warning_of("brokers-away", brokers=", ".join(map(str, away))))
    if len(planned) < cluster.brokers.count():
        rows.append(warning_of("not-all", "info"))
    rows.append(warning_of("probe", "info", topic=PROBE_TOPIC))
    if not lost.offline and not lost.unwritable:
        rows.append(warning_of("leaders-move/roll", "info"))
    return rows
