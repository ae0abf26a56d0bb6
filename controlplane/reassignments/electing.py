"""leaders.elect: partitions are led by the broker that they prefer again.

Plan with the leaders per broker before and after → elect in bounded batches, what leads already is
no fault → every broker names the planned leaders. No data moves; clients follow by themselves.
"""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from controlplane.clusters.operations_base import ClusterOperationKind, Touched, cluster_of
from controlplane.common.problems import Conflict, NotFound, field_problem
from controlplane.common.serializers import Shape
from controlplane.common.words import counted
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.gateway.types import TP, TopicDescription, partitions_by_tp
from controlplane.observed.sections import TOPICS
from controlplane.operations.blast_radius import Extent
from controlplane.operations.details import detail_of
from controlplane.operations.locks import Resource
from controlplane.operations.models import Plan
from controlplane.operations.operations import (
    Done,
    PlanContext,
    PlanDraft,
    Progress,
    StepContext,
    StepFailedError,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back_everywhere, verified_by
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of
from controlplane.reassignments.elections import Election, Elections, cut, elections

PARTITIONS_MAX = 5_000
"""Of one plan; more are left to the next one, and the plan says so."""
BATCH = 500
"""Partitions of one request to the controller, and of one tick."""
BLOCKED_SHOWN = 100
TOUCHED_TOPICS_MAX = 200
DONE = "elected"
STAYS = detail_of("remains/leaders")


class LeadersElectInputs(Shape):
    topics = serializers.ListField(
        child=serializers.CharField(max_length=249),
        required=False,
        min_length=1,
        max_length=1_000,
        help_text="Without them: all topics.",
    )
    broker = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        help_text="Only partitions that prefer this broker.",
    )


class ElectedSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    before = serializers.IntegerField(allow_null=True, help_text="Its leader; null: none.")
    after = serializers.IntegerField(help_text="The broker that it prefers.")


class BrokerLeadersSerializer(Shape):
    id = serializers.IntegerField()
    before_leaders = serializers.IntegerField()
    after_leaders = serializers.IntegerField()


class LeadersElectDiffSerializer(Shape):
    partitions = ElectedSerializer(many=True)
    brokers = BrokerLeadersSerializer(many=True, help_text="Partitions led, of all topics.")
    blocked = ElectedSerializer(
        many=True,
        help_text="At most 100 that keep their leader: whom they prefer is not in sync.",
    )
    blocked_total = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Beyond what one plan takes.")


class LeadersElect(ClusterOperationKind):
    name = "leaders.elect"
    final = "an election only chooses the first replica; another leader is made by a reassignment"
    inputs = LeadersElectInputs
    diff_shape = LeadersElectDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        every = self._found(self.gateway(context), inputs)
        if not every.wanted:
            raise Conflict(_nothing(every), code="nothing-to-do")
        found = cut(every, PARTITIONS_MAX)
        left_out = len(every.wanted) - len(found.wanted)
        return PlanDraft(
            resource=_resource(inputs, found),
            diff={
                "partitions": [_row(one) for one in found.wanted],
                "brokers": [
                    {"id": broker, "before_leaders": before, "after_leaders": after}
                    for broker, (before, after) in found.leaders.items()
                ],
                "blocked": [_row(one) for one in found.blocked[:BLOCKED_SHOWN]],
                "blocked_total": len(found.blocked),
                "left_out": left_out,
            },
            summary=summary_of("leaders.elect", partitions=len(found.wanted)),
            preconditions={"before": _leaders(found.wanted)},
            warnings=_warnings(found, left_out),
            typed_name=cluster_of(context).name,
        )

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.TOPIC:
            return sorted({row["topic"] for row in plan.diff["partitions"]})
        return super().lock_names(resource, plan)

    def touched(self, plan: Plan) -> Touched | None:
        """Its topics, unless they are so many that the next pass reads them sooner."""
        topics = {row["topic"] for row in plan.diff["partitions"]}
        return {TOPICS: topics} if len(topics) <= TOUCHED_TOPICS_MAX else None

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """The leaders of the same partitions, as far as electing still changes them."""
        now = self._found(self.gateway(context), plan.inputs).wanted
        planned = {_name(one.tp) for one in elected_in(plan.diff)}
        return {"before": {at: who for at, who in _leaders(now).items() if at in planned}}

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:  # noqa: ARG002 - a hook
        """Nothing is lost by it, and clients follow."""
        return []

    def _found(self, gateway: ClusterGateway, inputs: dict[str, Any]) -> Elections:
        names, broker = inputs.get("topics"), inputs.get("broker")
        topics = gateway.list_topics()
        _check_names(names, topics)
        live = {node.id for node in gateway.describe_cluster().brokers}
        if broker is not None and broker not in live:
            raise field_problem("/inputs/broker", f"Broker {broker} is not in the cluster.")
        return elections(topics, live, only=names, broker=broker)

    def elect(self, context: StepContext) -> Done | Wait:
        """A batch a tick; again it elects none twice, as who leads already is no refusal."""
        rows = elected_in(context.diff)
        done = context.memo.get(DONE, 0)
        batch = rows[done : done + BATCH]
        refused = self.gateway(context).elect_preferred_leaders({one.tp for one in batch})
        if refused:
            tp, code = min(refused.items())
            raise StepFailedError(
                "election-refused",
                detail_of(
                    "failed/election-refused",
                    refused=len(refused),
                    partition=_name(tp),
                    error=code,
                    done=done + len(batch) - len(refused),
                    partitions=len(rows),
                ),
            )
        context.memo[DONE] = done = done + len(batch)
        progress = Progress(done=done, total=len(rows), unit="partitions")
        if done < len(rows):
            so_far = detail_of("elected/so-far", done=done, partitions=len(rows))
            return Wait(seconds=0.0, detail=so_far, progress=progress)
        return Done(detail=detail_of("elected/all", partitions=done), progress=progress)

    def verify(self, context: StepContext) -> Done | Wait:
        wanted = {one.tp: one.after for one in elected_in(context.diff)}
        names = sorted({tp.topic for tp in wanted})

        def differing(view: BrokerView, _broker: int) -> str | None:
            parts = partitions_by_tp(view.describe_topics(names).values())
            # A topic that somebody deleted meanwhile has no leader to ask for.
            others = [
                tp for tp, after in wanted.items() if tp in parts and parts[tp].leader != after
            ]
            if not others:
                return None
            partition, more = _name(others[0]), len(others) - 1
            return detail_of("elected/differ", partition=partition, more=more)

        return read_back_everywhere(
            context,
            self.gateway(context),
            differing,
            detail=detail_of("elected/agreed", leaders=len(wanted)),
        )

    steps = (
        StepSpec(
            name="elect", title="Elect the preferred leaders", run=elect, deadline_s=600.0,
            stays=STAYS,
        ),
        verified_by(verify, title="Every broker names the planned leaders", deadline_s=120.0),
    )  # fmt: skip


def elected_in(diff: dict[str, Any]) -> list[Election]:
    return [
        Election(tp=TP(row["topic"], row["partition"]), before=row["before"], after=row["after"])
        for row in diff["partitions"]
    ]


def _check_names(names: list[str] | None, topics: Iterable[TopicDescription]) -> None:
    there = {topic.name for topic in topics}
    missing = sorted(set(names or ()) - there)
    if missing:
        raise NotFound(f"There is no topic {missing[0]} on this cluster.")


def _nothing(found: Elections) -> str:
    if not found.blocked:
        return "Every partition is led by the broker that it prefers."
    first = found.blocked[0]
    return (
        f"{counted(len(found.blocked), 'partition')} could be led by another broker, which is not"
        f" in sync yet: {_name(first.tp)} waits for broker {first.after}."
    )


def _warnings(found: Elections, left_out: int) -> list[dict[str, Any]]:
    rows = [warning_of("leaders-move/elect", "info", partitions=len(found.wanted))]
    if found.blocked:
        rows.append(warning_of("not-in-sync", "info", partitions=len(found.blocked)))
    if left_out:
        rows.append(warning_of("left-out", "info", partitions=left_out, most=PARTITIONS_MAX))
    return rows


def _resource(inputs: dict[str, Any], found: Elections) -> str:
    if inputs.get("broker") is not None:
        return f"broker/{inputs['broker']}"
    topics = {one.tp.topic for one in found.wanted}
    return f"topic/{min(topics)}" if len(topics) == 1 else "leaders"


def _row(one: Election) -> dict[str, Any]:
    return {
        "topic": one.tp.topic,
        "partition": one.tp.partition,
        "before": one.before,
        "after": one.after,
    }


def _leaders(of: Iterable[Election]) -> dict[str, list[int | None]]:
    return {_name(one.tp): [one.before, one.after] for one in of}


def _name(tp: TP) -> str:
    return f"{tp.topic}-{tp.partition}"
