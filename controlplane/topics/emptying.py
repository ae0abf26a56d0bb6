"""topic.empty: delete every record that a topic held when the plan was made, and keep the topic.

The plan names the offset of each partition up to which records go: what is written after it stays.
"""

from collections.abc import Mapping
from typing import Any

from controlplane.common.grants import Area
from controlplane.common.problems import Conflict, Unavailable
from controlplane.common.words import counted
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import ClusterReader, Gap, Reading, total
from controlplane.gateway.types import EARLIEST, TP, TopicDescription
from controlplane.operations.blast_radius import Extent, amount, listed
from controlplane.operations.details import detail_of
from controlplane.operations.models import Plan
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
from controlplane.operations.read_back import read_back, verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import naming_warning, warning_of
from controlplane.topics.inputs import TopicEmptyInputs
from controlplane.topics.operations_base import TopicKind, topic_settings
from controlplane.topics.rules import refuse_internal
from controlplane.topics.selectors import described_topic
from controlplane.topics.serializers import EmptyDiffSerializer

Ends = Mapping[TP, int]
"""By partition the offset up to which records go: the first that stays."""


class TopicEmpty(TopicKind):
    name = "topic.empty"
    risks = frozenset({Risk.LOSES_DATA})
    final = "records that are deleted do not come back"
    inputs = TopicEmptyInputs
    diff_shape = EmptyDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway = self.gateway(context)
        topic = described_topic(gateway, inputs["name"])
        refuse_internal(topic.name, "it is never emptied", flagged=topic.internal)
        _check_deletes(gateway, topic.name)
        bounds = _bounds(gateway, topic)
        ends = {tp: end for tp, (_, end) in bounds.items()}
        held = sum(end - start for start, end in bounds.values())
        if not held:
            raise Conflict(f"{topic.name} holds no records.", code="nothing-to-do")
        extents, unread = _measured(gateway, topic, ends)
        size = next(extent for extent in extents if extent.name == "bytes")
        return PlanDraft(
            resource=f"topic/{topic.name}",
            diff={
                "before": {
                    "records": held,
                    "bytes": None if size.gaps else size.count,
                },
                "after": {"records": 0, "bytes": 0},
                "partitions": [
                    {
                        "topic": tp.topic,
                        "partition": tp.partition,
                        "log_start": start,
                        "until": end,
                        "records": end - start,
                    }
                    for tp, (start, end) in sorted(bounds.items())
                ],
            },
            summary=summary_of("topic.empty", records=held, topic=topic.name),
            preconditions={"topic_id": topic.topic_id, "partitions": len(topic.partitions)},
            warnings=_warnings(extents, unread),
            blast_radius=extents,
        )

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        gateway = self.gateway(context)
        topic = described_topic(gateway, plan.inputs["name"])
        _check_deletes(gateway, topic.name)
        return {"topic_id": topic.topic_id, "partitions": len(topic.partitions)}

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:
        """Of what lies before the planned ends: what was written since is not deleted."""
        gateway = self.gateway(context)
        topic = described_topic(gateway, plan.inputs["name"])
        return _measured(gateway, topic, _ends_of(plan.diff))[0]

    def empty(self, context: StepContext) -> Done:
        gateway = self.gateway(context)
        if not self._is_there(context, gateway):
            raise StepFailedError("topic-gone", detail_of("failed/topic-gone"))
        left = _left(gateway, _ends_of(context.diff))
        if not left:
            return Done(detail=detail_of("emptying/nothing-left"))
        require_reach(self, context)
        context.memo["is_sent"] = True
        gateway.delete_records(left)
        return Done(detail=detail_of("emptying/asked", partitions=len(left)))

    def verify(self, context: StepContext) -> Done | Wait:
        """Every leader says that its log begins where the plan said, or later."""
        ends = _ends_of(context.diff)
        left = _left(self.gateway(context), ends)
        progress = Progress(done=len(ends) - len(left), total=len(ends), unit="partitions")
        if not left:
            return read_back(None, detail=detail_of("emptying/begins-there"), progress=progress)
        first = min(left)
        partition = f"{first.topic}-{first.partition}"
        return read_back(
            detail_of("emptying/still-holds", partition=partition, offset=left[first]),
            progress=progress,
        )

    def look(self, context: StepContext) -> Done:
        """Nothing brings records back: say how many partitions have lost theirs."""
        name, gateway = context.inputs["name"], self.gateway(context)
        if not self._is_there(context, gateway):
            return Done(detail=detail_of("topic/gone"))
        rows = [row for row in context.diff["partitions"] if row["records"]]
        starts = gateway.offsets({_tp(row): EARLIEST for row in rows})
        gone = [
            row for row in rows if (at := starts.get(_tp(row))) and at.offset > row["log_start"]
        ]
        if not gone or not context.memo.get("is_sent"):
            return Done(detail=detail_of("back/as-before"))
        what = detail_of("remains/records-of", partitions=len(gone), topic=name)
        return Done(
            detail=detail_of("emptying/emptied", emptied=len(gone), partitions=len(rows)),
            remains=(what,),
        )

    def _is_there(self, context: StepContext, gateway: ClusterGateway) -> bool:
        """The planned topic, not another one that was made under its name since."""
        name = context.inputs["name"]
        found = gateway.describe_topics([name]).get(name)
        return found is not None and found.topic_id == context.preconditions["topic_id"]

    steps = (
        StepSpec(
            name="empty",
            title="Delete the records",
            run=empty,
            restored_by=("look",),
            stays=detail_of("remains/records"),
        ),
        verified_by(verify, title="Every log begins at its planned offset", deadline_s=60.0),
        StepSpec(name="look", title="Say what is deleted", run=look, phase=Phase.RESTORE),
    )


def _check_deletes(gateway: ClusterGateway, name: str) -> None:
    """Raises Conflict `compacted`: brokers delete records by offset only where they delete any."""
    _, effective, _ = topic_settings(gateway, name)
    if "delete" not in (effective.get("cleanup.policy") or "delete"):
        raise Conflict(
            f"{name} is compacted (cleanup.policy compact), which brokers do not empty."
            " Add delete to its cleanup.policy first.",
            code="compacted",
        )


def _bounds(gateway: ClusterGateway, topic: TopicDescription) -> dict[TP, tuple[int, int]]:
    """(log start, log end) of every partition.

    Raises:
        Unavailable: not every leader says; a topic is emptied whole or not at all.
    """
    found = ClusterReader(gateway).log_bounds([topic])
    if found.gaps:
        why = "; ".join(gap.reason for gap in found.gaps)
        raise Unavailable(f"Not every partition of {topic.name} can be read now: {why}.")
    return found.known


def _measured(
    gateway: ClusterGateway, topic: TopicDescription, ends: Ends
) -> tuple[list[Extent], dict[str, int]]:
    """The extents of what lies before `ends`, and the unread records of each group that loses some.

    Bytes are of the whole logs, so they are the most that can go, and grow while records come.
    """
    reader = ClusterReader(gateway)
    bounds = reader.log_bounds([topic])
    starts = {tp: start for tp, (start, _) in bounds.known.items()}
    records = {tp: max(0, end - starts[tp]) for tp, end in ends.items() if tp in starts}
    users = reader.groups()
    names = [name for name, use in users.known.items() if topic.name in use.topics]
    unread, gaps = _unread(gateway, names, starts, ends)
    return [
        amount("records", "records", "record", total(Reading(known=records, gaps=bounds.gaps))),
        amount(
            "bytes",
            "bytes-at-most",
            "byte",
            total(reader.leader_bytes([topic])),
            may_change=True,
        ),
        listed(
            "groups",
            "groups-losing",
            "group",
            unread,
            (*users.gaps, *gaps),
            of=Area.GROUP,
        ),
    ], unread


def _unread(
    gateway: ClusterGateway, groups: list[str], starts: Ends, ends: Ends
) -> tuple[dict[str, int], tuple[Gap, ...]]:
    """By group, of those that lose any: records before `ends` that it has not committed past.

    A partition without a commit of the group is not counted: whether it would read it is its
    consumers' choice.
    """
    if not groups:
        return {}, ()
    try:
        committed = gateway.group_offsets(groups)
    except GatewayError as error:
        return {}, (Gap(f"the groups' offsets could not be read ({error.said})"),)
    found = {}
    for group, offsets in committed.items():
        unread = sum(
            max(0, end - max(offsets[tp].offset, starts[tp]))
            for tp, end in ends.items()
            if tp in offsets and tp in starts
        )
        if unread:
            found[group] = unread
    return found, ()


def _warnings(extents: list[Extent], unread: Mapping[str, int]) -> list[dict[str, Any]]:
    rows = {extent.name: extent for extent in extents}
    size = rows["bytes"].params("size_bytes", whole="size")
    said = {**rows["records"].params("records"), **size}
    found = [
        warning_of("data-loss/emptied", "danger", risk=Risk.LOSES_DATA, **said),
        warning_of("later-stays", "info"),
    ]
    if unread:
        worst = sorted(unread.items(), key=lambda row: (-row[1], row[0]))
        found.append(
            naming_warning(
                "unread-lost",
                "danger",
                Area.GROUP,
                [(group, f"{group} ({counted(records, 'record')})") for group, records in worst],
                risk=Risk.LOSES_DATA,
            )
        )
    return found


def _tp(row: Mapping[str, Any]) -> TP:
    return TP(row["topic"], row["partition"])


def _ends_of(diff: Mapping[str, Any]) -> dict[TP, int]:
    return {_tp(row): row["until"] for row in diff["partitions"]}


def _left(gateway: ClusterGateway, ends: Ends) -> dict[TP, int]:
    """Those of `ends` before which a log still begins, or of which no leader says where it does."""
    starts = gateway.offsets(dict.fromkeys(ends, EARLIEST))
    return {
        tp: end for tp, end in ends.items() if (at := starts.get(tp)) is None or at.offset < end
    }
