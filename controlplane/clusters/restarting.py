"""broker.restart: one broker of a managed cluster is stopped and started by its agent.

Plan with what is not served meanwhile → no more than that → another generation of what the host
shall run → the agent reports it running → it registers → its replicas are in sync again. The agent
stops a broker cleanly, so that it hands its leadership over first, and fences it before the start.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from controlplane.clusters import services
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.clusters.operations_base import ClusterOperationKind, cluster_of
from controlplane.clusters.roll_look import MIN_ISR, least_in_sync
from controlplane.clusters.rolls import behind, held
from controlplane.common.problems import Conflict, NotFound
from controlplane.common.serializers import Shape
from controlplane.common.words import counted
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import Gap
from controlplane.gateway.types import TopicDescription
from controlplane.operations.blast_radius import Extent, listed
from controlplane.operations.details import detail_of
from controlplane.operations.models import Plan
from controlplane.operations.operations import (
    Done,
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
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

GENERATION = "generation"
NOTED = "noted"
"""In the memo: our own rows say that the broker is to start again."""
IN_SYNC_POLL_S = 1.0
IN_SYNC_DEADLINE_S = 1_800.0
"""How long replicas may take to read what they have missed."""
STAYS = detail_of("remains/broker-restarting")


class BrokerRestartInputs(Shape):
    broker = serializers.IntegerField(min_value=0, max_value=2**31 - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stake:
    """What hangs on one broker. Topics by name; `unknown`: those whose settings nobody gave."""

    leads: int
    replicas: int
    offline: frozenset[str]
    unwritable: frozenset[str]
    unknown: frozenset[str] = frozenset()


def stake(
    broker_id: int, topics: Iterable[TopicDescription], min_isr: dict[str, int | None]
) -> Stake:
    """What would not be served while the broker is away. Pure.

    Offline: partitions of which nobody else is in sync. Unwritable for acks=all: those that then
    have fewer in sync than `min_isr` of their topic, and have enough now.
    """
    leads = replicas = 0
    offline, unwritable, unknown = set(), set(), set()
    for topic, part in held(broker_id, topics):
        replicas += 1
        leads += part.leader == broker_id
        if broker_id not in part.isr:
            continue
        others = len(part.isr) - 1
        least = min_isr.get(topic)
        if not others:
            offline.add(topic)
        elif least is None:
            unknown.add(topic)
        elif others < least <= len(part.isr):
            unwritable.add(topic)
    return Stake(
        leads=leads,
        replicas=replicas,
        offline=frozenset(offline),
        unwritable=frozenset(unwritable),
        unknown=frozenset(unknown),
    )


class BrokerRestart(ClusterOperationKind):
    name = "broker.restart"
    final = "there is nothing to put back"
    inputs = BrokerRestartInputs

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        cluster = cluster_of(context)
        if cluster.kind != MANAGED:
            raise Conflict(
                f"The brokers of {cluster.name} are not run by this service.",
                code="cluster-not-managed",
            )
        gateway = self.gateway(context)
        broker = broker_row(cluster, inputs["broker"])
        found = _stake_of(gateway, broker.broker_id)
        before = {
            "broker": broker.broker_id,
            "host": broker.address,
            "leader_partitions": found.leads,
            "partitions": found.replicas,
            GENERATION: broker.generation,
        }
        return PlanDraft(
            resource=f"broker/{broker.broker_id}",
            diff={"before": before, "after": {**before, GENERATION: broker.generation + 1}},
            summary=summary_of(
                "broker.restart",
                broker=str(broker.broker_id),
                partitions=found.leads,
                replicas=found.replicas,
            ),
            preconditions={GENERATION: broker.generation},
            warnings=_warnings(found),
            blast_radius=_extents(found),
            typed_name=f"{cluster.name}/{broker.broker_id}",
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        broker = broker_row(cluster_of(context), plan.inputs["broker"])
        return {GENERATION: broker.generation}

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:
        return _extents(_stake_of(self.gateway(context), plan.inputs["broker"]))

    def check(self, context: StepContext) -> Done:
        require_reach(self, context)
        return Done(detail=detail_of("roll/no-more-hangs/one"))

    def restart(self, context: StepContext) -> Done | Wait:
        """By a generation that follows from the plan, so that again it is the same restart.

        Noted by the first tick, written to the host by the second: each takes few statements.
        """
        cluster, broker_id = cluster_of(context), context.inputs["broker"]
        if not context.memo.get(NOTED):
            context.memo[NOTED] = True
            generation = context.preconditions[GENERATION] + 1
            return services.note_restart(cluster, broker_id, generation)
        return services.write_restart(cluster, broker_id)

    def await_process(self, context: StepContext) -> Done | Wait:
        return services.await_processes(cluster_of(context), only=context.inputs["broker"])

    def await_registration(self, context: StepContext) -> Done | Wait:
        return services.await_registration(cluster_of(context), only=context.inputs["broker"])

    def verify(self, context: StepContext) -> Done | Wait:
        in_sync, every = behind(context.inputs["broker"], self.gateway(context).list_topics())
        return read_back(
            None
            if in_sync == every
            else detail_of("replicas/so-far", in_sync=in_sync, replicas=every),
            detail=detail_of("replicas/in-sync", replicas=every),
            progress=Progress(done=in_sync, total=every, unit="replicas"),
            poll_s=IN_SYNC_POLL_S,
        )

    steps = (
        StepSpec(
            name="check", title="No more hangs on it than the plan says", run=check, writes=False
        ),
        StepSpec(name="restart", title="Stop and start the broker", run=restart, stays=STAYS),
        StepSpec(name="process", title="The broker process runs", run=await_process, writes=False),
        StepSpec(
            name="registration",
            title="The broker registers with the cluster",
            run=await_registration,
            writes=False,
        ),
        verified_by(verify, title="Its replicas are in sync again", deadline_s=IN_SYNC_DEADLINE_S),
    )


def broker_row(cluster: Cluster, broker_id: int) -> Broker:
    """Raises NotFound: the cluster has no such broker."""
    found = cluster.brokers.filter(broker_id=broker_id).first()
    if found is None:
        raise NotFound(f"The cluster {cluster.name} has no broker {broker_id}.")
    return found


def _stake_of(gateway: ClusterGateway, broker_id: int) -> Stake:
    topics = [
        topic
        for topic in gateway.list_topics()
        if any(broker_id in part.replicas for part in topic.partitions)
    ]
    return stake(broker_id, topics, least_in_sync(gateway, [topic.name for topic in topics]))


def _extents(found: Stake) -> list[Extent]:
    gaps: tuple[Gap, ...] = ()
    if found.unknown:
        names = ", ".join(sorted(found.unknown)[:3])
        gaps = (Gap(f"{MIN_ISR} of {counted(len(found.unknown), 'topic')} ({names})"),)
    return [
        listed(
            "offline",
            "topics-offline",
            "topic",
            found.offline,
        ),
        listed(
            "unwritable",
            "topics-unwritable",
            "topic",
            found.unwritable,
            gaps,
        ),
    ]


def _warnings(found: Stake) -> list[dict[str, Any]]:
    rows = []
    if found.offline:
        rows.append(
            warning_of(
                "partitions-offline/broker",
                "danger",
                risk=Risk.LOSES_ACCESS,
                topics=len(found.offline),
            )
        )
    if found.unwritable:
        rows.append(
            warning_of(
                "below-min-isr/broker",
                "danger",
                risk=Risk.LOSES_ACCESS,
                topics=len(found.unwritable),
            )
        )
    if found.leads and not rows:
        rows.append(warning_of("leaders-move/broker", "info", partitions=found.leads))
    return rows
