"""group.delete: forget an empty group and its place in every topic.

Plan with what vanishes → group still empty and its offsets where the plan saw them → DeleteGroups →
read back. The coordinator is the last guard: it refuses to delete a group with members.
"""

from collections.abc import Iterable
from typing import Any

from controlplane.common.grants import Area
from controlplane.common.problems import NotFound
from controlplane.gateway.errors import AcceptedRefusals
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import ClusterReader, Gap, Reading
from controlplane.gateway.types import TP, CommittedOffset
from controlplane.groups.group_state import (
    CHECK_TITLE,
    GroupOperationKind,
    Targets,
    check_idle,
    last_guard,
    preconditions_of,
    put_offsets_back,
    require_idle,
    require_unmoved,
    restoring,
)
from controlplane.groups.inputs import GroupDeleteInputs
from controlplane.groups.serializers import GroupDeletionDiffSerializer
from controlplane.operations.blast_radius import Extent, amount
from controlplane.operations.details import detail_of
from controlplane.operations.models import Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back, verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

GONE = "GROUP_ID_NOT_FOUND"


class GroupDelete(GroupOperationKind):
    name = "group.delete"
    risks = frozenset({Risk.SKIPS_RECORDS})
    restores = "the offsets are committed again where their partitions are still there"
    final = "the group has no offsets that could be committed again"
    inputs = GroupDeleteInputs
    diff_shape = GroupDeletionDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway, group = self.gateway(context), inputs["group"]
        if not check_idle(gateway, group):
            raise NotFound(f"There is no group {group}.")
        described = gateway.describe_groups([group])[group]
        committed = gateway.group_offsets([group]).get(group, {})
        rows, gaps = _vanishing(gateway, committed)
        unread = amount(
            "unread",
            "records-unread",
            "record",
            Reading(known=sum(row["lag"] or 0 for row in rows), gaps=gaps),
            may_change=True,
        )
        return PlanDraft(
            resource=f"group/{group}",
            diff={
                "before": {
                    "state": described.state,
                    "members": len(described.members),
                    "lag": None if gaps else unread.count,
                },
                "after": None,
                "offsets": rows,
            },
            summary=summary_of("group.delete", group=group, partitions=len(rows)),
            preconditions={"offsets": preconditions_of(_places(committed))},
            warnings=_warnings(rows, unread),
            blast_radius=[unread],
        )

    def also_read(self, plan: Plan) -> Iterable[tuple[Area, str]]:
        """Where it stood is shown, noted in the record and lost: as an offset reset needs it."""
        return sorted({(Area.TOPIC, row["topic"]) for row in plan.diff.get("offsets", ())})

    def check(self, context: StepContext) -> Done:
        planned = context.preconditions["offsets"]
        return _check(self.gateway(context), context.inputs["group"], planned)

    def delete(self, context: StepContext) -> Done:
        planned = context.preconditions["offsets"]
        return _delete(self.gateway(context), context.inputs["group"], planned)

    def verify(self, context: StepContext) -> Done | Wait:
        known = _exists(self.gateway(context), context.inputs["group"])
        differing = detail_of("group/known") if known else None
        return read_back(differing, detail=detail_of("group/gone"))

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        """Commit the saved offsets again, where there was still a partition to read them in."""
        kept: Targets = {
            TP(row["topic"], row["partition"]): row["committed"]
            for row in plan.diff["offsets"]
            if row["restorable"]
        }
        return restoring(plan.inputs["group"], kept) if kept else None

    def put_back(self, context: StepContext) -> Done | Wait:
        """Commit what is missing of the saved offsets, where their partitions are still there."""
        before: Targets = {
            TP(row["topic"], row["partition"]): row["committed"] for row in context.diff["offsets"]
        }
        nothing: Targets = dict.fromkeys(before)
        return put_offsets_back(self.gateway(context), context.inputs["group"], before, nothing)

    steps = (
        StepSpec(name="check", title=CHECK_TITLE, run=check, writes=False),
        StepSpec(name="delete", title="Delete the group", run=delete, restored_by=("put-back",)),
        verified_by(verify, title="Its coordinator does not know it any more"),
        StepSpec(
            name="put-back",
            title="Commit its offsets again",
            run=put_back,
            phase=Phase.RESTORE,
        ),
    )


def _vanishing(
    gateway: ClusterGateway, committed: dict[TP, CommittedOffset]
) -> tuple[list[dict[str, Any]], tuple[Gap, ...]]:
    """Every commit beside its log, which is null for a partition that is gone or not to be read.

    A commit in a partition that is gone cannot be put back.
    """
    if not committed:
        return [], ()
    topics = gateway.describe_topics({tp.topic for tp in committed}).values()
    there = {TP(topic.name, part.partition) for topic in topics for part in topic.partitions}
    bounds = ClusterReader(gateway).log_bounds(topics, committed)
    rows = []
    for tp, at in sorted(committed.items()):
        start, end = bounds.known.get(tp, (None, None))
        unread = None if start is None or end is None else max(end - max(at.offset, start), 0)
        rows.append(
            {
                "topic": tp.topic,
                "partition": tp.partition,
                "committed": at.offset,
                "log_start": start,
                "log_end": end,
                "lag": unread,
                "restorable": tp in there,
            }
        )
    return rows, bounds.gaps


def _places(committed: dict[TP, CommittedOffset]) -> Targets:
    return {tp: at.offset for tp, at in committed.items()}


def _exists(gateway: ClusterGateway, group: str) -> bool:
    described = gateway.describe_groups([group]).get(group)
    known = described is not None and described.state != "Dead"
    return known or bool(gateway.group_offsets([group]).get(group))


def _check(gateway: ClusterGateway, group: str, planned: dict[str, Any]) -> Done:
    """Nothing may have moved since the plan; no group is our own earlier try."""
    there = require_idle(gateway, group)
    now = preconditions_of(_places(gateway.group_offsets([group]).get(group, {})))
    if not there and not now:
        return Done(detail=detail_of("group/gone-already"))
    require_unmoved(planned, now)
    return Done(detail=detail_of("offsets/as-planned", partitions=len(now)))


def _delete(gateway: ClusterGateway, group: str, planned: dict[str, Any]) -> Done:
    _check(gateway, group, planned)
    with last_guard(), AcceptedRefusals(GONE):
        gateway.delete_group(group)
    return Done(detail=detail_of("group/taken"))


def _warnings(rows: list[dict[str, Any]], unread: Extent) -> list[dict[str, Any]]:
    if not rows:
        return []
    found = [warning_of("offsets-lost", "danger")]
    if unread.count or unread.gaps:
        found.append(warning_of("unread", **unread.params("records")))
    return found
