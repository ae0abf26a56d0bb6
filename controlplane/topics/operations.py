"""topic.create, topic.update, topic.partitions, topic.delete."""

from dataclasses import replace
from typing import Any

from controlplane.common.kafka_configs import check_topic_settings
from controlplane.common.problems import Conflict, field_problem
from controlplane.common.words import counted
from controlplane.gateway.errors import AcceptedRefusals
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.gateway.types import LATEST, SET_ON_TOPIC, TP, NewTopic, TopicDescription
from controlplane.operations.blast_radius import Extent
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
from controlplane.operations.reach import require_reach
from controlplane.operations.read_back import read_back, read_back_everywhere, verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.states import SUCCEEDED
from controlplane.operations.summaries import summary_of
from controlplane.topics import adopting, operations_base, rules
from controlplane.topics.inputs import (
    TopicCreateInputs,
    TopicDeleteInputs,
    TopicPartitionsInputs,
    TopicUpdateInputs,
)
from controlplane.topics.models import SUPERSEDED
from controlplane.topics.operations_base import TopicKind, not_seen, topic_settings
from controlplane.topics.refusals import fields_named
from controlplane.topics.rules import is_dangerous, refuse_internal, refuse_reserved
from controlplane.topics.selectors import (
    config_values,
    deletion_extents,
    described_topic,
    held_extents,
    leased_until,
    reading_groups,
)
from controlplane.topics.serializers import ConfigDiffSerializer
from controlplane.topics.services import lease_end

WHOLE = "Every partition has a leader and all its replicas"
WHOLE_DEADLINE_S = 60.0


class TopicCreate(TopicKind):
    name = "topic.create"
    restores = "the topic is deleted, with all that was written to it"
    inputs = TopicCreateInputs

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway = self.gateway(context)
        name = inputs["name"]
        refuse_reserved(name)
        check_topic_settings(inputs["configs"], "inputs", "configs")
        if gateway.describe_topics([name]):
            raise Conflict(f"There is a topic {name} already.", code="name-taken")
        with fields_named(inputs["configs"]):
            gateway.create_topic(_new_topic(inputs), validate_only=True)
        brokers = len(gateway.describe_cluster().brokers)
        return PlanDraft(
            resource=f"topic/{name}",
            diff={"before": None, "after": inputs},
            summary=summary_of(
                "topic.create",
                topic=name,
                partitions=inputs["partitions"],
                replicas=inputs["replication_factor"],
            ),
            preconditions={"exists": False},
            warnings=rules.create_warnings(
                replication_factor=inputs["replication_factor"],
                configs=inputs["configs"],
                brokers=brokers,
            ),
        )

    def create(self, context: StepContext) -> Done:
        """The plan saw no such topic, so one of the planned shape is our own earlier try."""
        gateway, inputs = self.gateway(context), context.inputs
        made = Done(detail=detail_of("partitions", partitions=inputs["partitions"]))
        found = gateway.describe_topics([inputs["name"]]).get(inputs["name"])
        if found is None:
            with AcceptedRefusals("TOPIC_ALREADY_EXISTS"):
                gateway.create_topic(_new_topic(inputs))
                context.memo["is_made"] = True
            found = gateway.describe_topics([inputs["name"]]).get(inputs["name"])
        if found is not None and len(found.partitions) != inputs["partitions"]:
            raise StepFailedError(
                "name-taken", detail_of("failed/topic-of-another-shape", topic=inputs["name"])
            )
        self._note_id(context, found)
        return made

    @staticmethod
    def _note_id(context: StepContext, found: TopicDescription | None) -> None:
        """The first topic seen after it was made is ours: its id tells it from later ones."""
        if found is not None:
            context.memo.setdefault("topic_id", found.topic_id)

    def verify(self, context: StepContext) -> Done | Wait:
        gateway, inputs = self.gateway(context), context.inputs
        if "topic_id" not in context.memo:
            found = gateway.describe_topics([inputs["name"]]).get(inputs["name"])
            self._note_id(context, found)
        return verify_topic(
            context,
            gateway,
            inputs["name"],
            partitions=inputs["partitions"],
            configs=inputs["configs"],
        )

    def remove(self, context: StepContext) -> Done | Wait:
        """Only the topic that this operation made, and only while nobody has written to it."""
        gateway, name = self.gateway(context), context.inputs["name"]
        found = gateway.describe_topics([name]).get(name)
        ours = context.memo.get("topic_id")
        if found is None:
            return Done(detail=detail_of("topic/not-there"))
        if ours is not None and found.topic_id != ours:
            return Done(detail=detail_of("topic/others"))
        if ours is None and not context.memo.get("is_made"):
            what = detail_of("remains/topic-somebodys", topic=name)
            return Done(detail=detail_of("topic/maybe-others"), remains=(what,))
        tps = [TP(name, part.partition) for part in found.partitions]
        ends = gateway.offsets(dict.fromkeys(tps, LATEST))
        if any(at.offset for at in ends.values()):
            what = detail_of("remains/topic-written", topic=name)
            return Done(detail=detail_of("topic/holds-records"), remains=(what,))
        if len(ends) < len(tps):
            return Done(
                detail=detail_of("topic/leaderless"),
                remains=(detail_of("remains/topic-maybe-written", topic=name),),
            )
        with AcceptedRefusals("UNKNOWN_TOPIC_OR_PARTITION"):
            gateway.delete_topic(name)
        return read_back(detail_of("topic/still-deleting"))

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        return "topic.delete", {"name": plan.inputs["name"]}

    steps = (
        StepSpec(name="create", title="Create the topic", run=create, restored_by=("remove",)),
        verified_by(verify, title=WHOLE, deadline_s=WHOLE_DEADLINE_S),
        StepSpec(
            name="remove",
            title="Remove the topic while it is empty",
            run=remove,
            phase=Phase.RESTORE,
        ),
    )


class TopicUpdate(TopicKind):
    """Change settings; null puts a key back to its default. Other keys stay."""

    name = "topic.update"
    restores = "the settings go back to what they were"
    inputs = TopicUpdateInputs
    diff_shape = ConfigDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway = self.gateway(context)
        topic = described_topic(gateway, inputs["name"])
        if not inputs["configs"]:
            raise field_problem("/inputs/configs", "Name at least one setting.", "required")
        check_topic_settings(inputs["configs"], "inputs", "configs")
        own, effective, defaults = topic_settings(gateway, topic.name)
        changes = rules.config_changes(own, inputs["configs"])
        if inputs.get("adopt"):
            draft = adopting.settings_draft(topic, inputs["configs"], own, effective)
            if rules.RETENTION_MS in inputs["configs"]:
                until = leased_until(context.cluster_id, topic.name)
                draft.warnings.extend(rules.leased_warnings(until))
            return draft
        if not changes:
            raise Conflict("Every setting has this value already.", code="nothing-to-do")
        with fields_named(changes):
            gateway.alter_topic_configs(topic.name, changes, validate_only=True)
        before = {key: own.get(key) for key in changes}
        after = rules.effective_after(changes, defaults, effective)
        warnings = rules.update_warnings(
            before=effective, after=after, replication_factor=topic.replication_factor
        ) + rules.unknown_default_warnings(changes, after)
        if rules.RETENTION_MS in changes:
            warnings += rules.leased_warnings(leased_until(context.cluster_id, topic.name))
        if is_dangerous(changes, after, warnings):
            refuse_internal(
                topic.name, "this change could lose what it holds", flagged=topic.internal
            )
        return PlanDraft(
            resource=f"topic/{topic.name}",
            diff={
                "before": {"configs": before},
                "after": {"configs": changes},
                "effective_before": {key: effective.get(key) for key in changes},
                "effective_after": {key: after.get(key) for key in changes},
            },
            summary=summary_of("topic.update", settings=len(changes), topic=topic.name),
            preconditions={"configs": before, "topic_id": topic.topic_id},
            warnings=warnings,
            blast_radius=held_extents(gateway, topic)
            if any(row.get("risk") == Risk.LOSES_DATA for row in warnings)
            else [],
        )

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:
        if not plan.impact.get("blast_radius"):
            return []
        gateway = self.gateway(context)
        return held_extents(gateway, described_topic(gateway, plan.inputs["name"]))

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        gateway = self.gateway(context)
        own, _, _ = topic_settings(gateway, plan.inputs["name"])
        topic = described_topic(gateway, plan.inputs["name"])
        keys = plan.preconditions["configs"]
        return {"configs": {key: own.get(key) for key in keys}, "topic_id": topic.topic_id}

    def alter(self, context: StepContext) -> Done:
        wanted = context.diff["after"]["configs"]
        if context.inputs.get("adopt"):
            return Done(detail=adopting.UNCHANGED)
        self.gateway(context).alter_topic_configs(context.inputs["name"], wanted)
        return Done(detail=detail_of("settings/named", settings=", ".join(sorted(wanted))))

    def verify(self, context: StepContext) -> Done | Wait:
        wanted, name = context.diff["after"]["configs"], context.inputs["name"]

        def differing(view: BrokerView, _broker: int) -> str | None:
            entries = view.topic_configs([name]).get(name)
            if entries is None:
                return operations_base.settings_unread(name)
            own = config_values(entry for entry in entries if entry.source in SET_ON_TOPIC)
            return not_seen(wanted, own)

        return read_back_everywhere(context, self.gateway(context), differing)

    def put_back(self, context: StepContext) -> Done | Wait:
        """The settings that are as this operation made them; others have been set since."""
        gateway, name = self.gateway(context), context.inputs["name"]
        topic = gateway.describe_topics([name]).get(name)
        if topic is None or topic.topic_id != context.preconditions["topic_id"]:
            return Done(detail=detail_of("topic/gone"))
        before, made = context.diff["before"]["configs"], context.diff["after"]["configs"]
        own, _, _ = topic_settings(gateway, name)
        ours = {key: before[key] for key in made if own.get(key) == made[key] != before[key]}
        if not ours:
            return Done(detail=detail_of("back/as-before"))
        gateway.alter_topic_configs(name, ours)
        return read_back(operations_base.settings_not_seen(ours))

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        if plan.inputs.get("adopt"):
            return None
        return self.name, {"name": plan.inputs["name"], "configs": plan.diff["before"]["configs"]}

    steps = (
        StepSpec(
            name="alter", title="Change the configuration", run=alter, restored_by=("put-back",)
        ),
        verified_by(verify, deadline_s=120.0),
        StepSpec(
            name="put-back",
            title="Put the settings back",
            run=put_back,
            phase=Phase.RESTORE,
        ),
    )


class TopicPartitions(TopicKind):
    name = "topic.partitions"
    final = "partitions can be added, never removed"
    inputs = TopicPartitionsInputs

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway = self.gateway(context)
        topic = described_topic(gateway, inputs["name"])
        refuse_internal(
            topic.name,
            "with other partitions, groups and transactions would look in the wrong one",
            flagged=topic.internal,
        )
        have, want = len(topic.partitions), inputs["partitions"]
        if inputs.get("adopt"):
            return adopting.partitions_draft(topic, want)
        if want <= have:
            raise field_problem(
                "/inputs/partitions",
                f"{topic.name} has {counted(have, 'partition')}; give more.",
                "min_value",
            )
        with fields_named():
            gateway.create_partitions(topic.name, want, validate_only=True)
        _, effective, _ = topic_settings(gateway, topic.name)
        groups = reading_groups(gateway, topic.name)
        return PlanDraft(
            resource=f"topic/{topic.name}",
            diff={"before": {"partitions": have}, "after": {"partitions": want}},
            summary=summary_of("topic.partitions", partitions=want - have, topic=topic.name),
            preconditions={"partitions": have, "topic_id": topic.topic_id},
            warnings=rules.partitions_warnings(
                keyed_hint="compact" in (effective.get("cleanup.policy") or ""),
                groups=groups,
            ),
            blast_radius=[groups],
        )

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:
        if plan.inputs.get("adopt"):  # the brokers are not changed
            return []
        return [reading_groups(self.gateway(context), plan.inputs["name"])]

    def add(self, context: StepContext) -> Done:
        gateway, inputs = self.gateway(context), context.inputs
        topic = described_topic(gateway, inputs["name"])
        if len(topic.partitions) < inputs["partitions"]:
            gateway.create_partitions(inputs["name"], inputs["partitions"])
        return Done(detail=detail_of("partitions", partitions=inputs["partitions"]))

    def verify(self, context: StepContext) -> Done | Wait:
        name, partitions = context.inputs["name"], context.inputs["partitions"]
        gateway = self.gateway(context)
        return verify_topic(context, gateway, name, partitions=partitions, configs={})

    def count(self, context: StepContext) -> Done:
        """Nothing takes partitions away again: say how many there are."""
        name, before = context.inputs["name"], context.preconditions["partitions"]
        topic = self.gateway(context).describe_topics([name]).get(name)
        if topic is None or topic.topic_id != context.preconditions["topic_id"]:
            return Done(detail=detail_of("topic/gone"))
        have = len(topic.partitions)
        if have <= before:
            return Done(detail=detail_of("back/as-before"))
        what = detail_of("remains/partitions-added", topic=name, partitions=have, before=before)
        return Done(detail=detail_of("topic/added", added=have - before), remains=(what,))

    steps = (
        StepSpec(
            name="add",
            title="Add partitions",
            run=add,
            restored_by=("count",),
            stays=detail_of("remains/partitions"),
        ),
        verified_by(verify, title=WHOLE, deadline_s=WHOLE_DEADLINE_S),
        StepSpec(name="count", title="Say which partitions stay", run=count, phase=Phase.RESTORE),
    )


class TopicDelete(TopicKind):
    name = "topic.delete"
    risks = frozenset({Risk.LOSES_DATA})
    final = "the records are gone with the topic"
    inputs = TopicDeleteInputs

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway = self.gateway(context)
        topic = described_topic(gateway, inputs["name"])
        refuse_internal(topic.name, "it is never deleted", flagged=topic.internal)
        extents = deletion_extents(gateway, topic)
        return PlanDraft(
            resource=f"topic/{topic.name}",
            diff={
                "before": {
                    "partitions": len(topic.partitions),
                    "replication_factor": topic.replication_factor,
                },
                "after": None,
            },
            summary=summary_of("topic.delete", topic=topic.name),
            preconditions={"topic_id": topic.topic_id, "partitions": len(topic.partitions)},
            warnings=rules.delete_warnings({extent.name: extent for extent in extents}),
            blast_radius=extents,
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        topic = described_topic(self.gateway(context), plan.inputs["name"])
        return {"topic_id": topic.topic_id, "partitions": len(topic.partitions)}

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:
        gateway = self.gateway(context)
        return deletion_extents(gateway, described_topic(gateway, plan.inputs["name"]))

    def delete(self, context: StepContext) -> Done:
        if self._is_there(context):
            require_reach(self, context)
            with AcceptedRefusals("UNKNOWN_TOPIC_OR_PARTITION"):
                self.gateway(context).delete_topic(context.inputs["name"])
        context.memo["is_taken"] = True
        return Done(detail=detail_of("deletion/taken"))

    def verify(self, context: StepContext) -> Done | Wait:
        """No broker lists it or holds a replica, unless a topic has its name again by now."""
        gateway, name = self.gateway(context), context.inputs["name"]

        def differing(view: BrokerView, broker: int) -> str | None:
            found = view.describe_topics([name]).get(name)
            if found is not None:
                is_planned = found.topic_id == context.preconditions["topic_id"]
                return detail_of("deletion/still-listed") if is_planned else None
            held = len(gateway.log_dirs([name], brokers=[broker]))
            return detail_of("deletion/still-held", replicas=held) if held else None

        gone = detail_of("deletion/everywhere")
        return read_back_everywhere(context, gateway, differing, detail=gone)

    def _is_there(self, context: StepContext) -> bool:
        """The planned topic, not another one that was made under its name since."""
        name = context.inputs["name"]
        found = self.gateway(context).describe_topics([name]).get(name)
        return found is not None and found.topic_id == context.preconditions["topic_id"]

    def look(self, context: StepContext) -> Done:
        """Nothing brings a deleted topic back: say whether it is deleted."""
        name = context.inputs["name"]
        if not self._is_there(context):
            what = detail_of("remains/topic-deleted", topic=name)
            return Done(detail=detail_of("deletion/done"), remains=(what,))
        if context.memo.get("is_taken"):
            what = detail_of("remains/topic-being-deleted", topic=name)
            return Done(detail=detail_of("deletion/goes-on"), remains=(what,))
        return Done(detail=detail_of("deletion/there"))

    def show(self, operation: Operation, state: str) -> None:
        super().show(operation, state)
        if state == SUCCEEDED:
            name = operation.plan.inputs["name"]
            lease_end(operation.cluster_id, name, SUPERSEDED, "the topic was deleted")

    steps = (
        StepSpec(
            name="delete",
            title="Delete the topic",
            run=delete,
            restored_by=("look",),
            stays=detail_of("remains/topic-deletion"),
        ),
        verified_by(verify, title="No broker knows it any more", deadline_s=60.0),
        StepSpec(name="look", title="Say whether the topic stays", run=look, phase=Phase.RESTORE),
    )


def verify_topic(
    context: StepContext,
    gateway: ClusterGateway,
    name: str,
    *,
    partitions: int,
    configs: dict[str, str],
) -> Done | Wait:
    """All partitions there, led, fully replicated, configured as planned, at every broker."""
    fewest = partitions

    def differing(view: BrokerView, _broker: int) -> str | None:
        nonlocal fewest
        topic = view.describe_topics([name]).get(name)
        ready = 0 if topic is None else _ready_partitions(topic)
        fewest = min(fewest, ready)
        if topic is None:
            return detail_of("topic/not-in-metadata")
        if ready < partitions:
            return detail_of("topic/ready", ready=ready, partitions=partitions)
        if not configs:
            return None
        entries = view.topic_configs([name]).get(name)
        return not_seen(configs, config_values(entries or ()))

    outcome = read_back_everywhere(context, gateway, differing)
    progress = Progress(done=fewest, total=partitions, unit="partitions")
    return replace(outcome, progress=progress)


def _ready_partitions(topic: TopicDescription) -> int:
    return sum(
        part.leader is not None and set(part.isr) == set(part.replicas) for part in topic.partitions
    )


def _new_topic(inputs: dict[str, Any]) -> NewTopic:
    return NewTopic(
        name=inputs["name"],
        partitions=inputs["partitions"],
        replication_factor=inputs["replication_factor"],
        configs=inputs["configs"],
    )
