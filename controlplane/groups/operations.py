"""offset.reset and its undoing, offset.restore.

Plan with from and to → group still empty and offsets still the plan's "from" → commit → read
back. The coordinator is the last guard: it refuses a commit to a group with members.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from controlplane.common.grants import Area
from controlplane.common.problems import Conflict, NotFound, field_problem
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import EARLIEST, LATEST, TP, CommittedOffset, OffsetAt
from controlplane.groups import rules
from controlplane.groups.group_state import (
    CHECK_TITLE,
    GroupOperationKind,
    Inputs,
    See,
    Targets,
    check_idle,
    last_guard,
    offset_of,
    partitions_of,
    preconditions_of,
    put_offsets_back,
    require_idle,
    require_unmoved,
    restoring,
    see_topics,
)
from controlplane.groups.inputs import OffsetResetInputs, OffsetRestoreInputs
from controlplane.groups.offset_file import FileOffset, parse
from controlplane.groups.rules import PartitionFacts, PlannedOffset
from controlplane.groups.serializers import OffsetDiffSerializer
from controlplane.operations.details import detail_of
from controlplane.operations.locks import Resource
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
from controlplane.operations.read_back import read_back, verified_by
from controlplane.operations.risks import Risk
from controlplane.operations.summaries import Summary, summary_of
from controlplane.operations.warnings import warning_of

NAMES_SAID_MAX = 5


class _OffsetKind(GroupOperationKind):
    """What resetting and restoring share: everything but how the targets are found."""

    diff_shape = OffsetDiffSerializer
    restores = (
        "the offsets that were there are committed again, and commits are removed where there was"
        " none"
    )

    @abstractmethod
    def rows(self, gateway: ClusterGateway, inputs: Inputs, see: See) -> list[PlannedOffset]:
        """From and to of every partition in scope; `see` is asked before a word is said of them."""

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway, group = self.gateway(context), inputs["group"]
        is_new = not check_idle(gateway, group)
        rows = self.rows(gateway, inputs, lambda tps: see_topics(context, tps))
        moved = rules.changes(rows)
        if not moved:
            raise _nothing_to_do(group, rows)
        sums = rules.totals(rows)
        return PlanDraft(
            resource=f"group/{group}",
            diff={"partitions": [row_dict(row) for row in rows]},
            summary=_summary(self.name, group, len(moved), sums),
            preconditions=preconditions_of({row.tp: row.from_offset for row in rows}),
            warnings=self.warnings(
                group, rows, sums, is_new=is_new and sums.uncommitted == len(rows)
            ),
            impact={
                "records_reread": sums.reread,
                "records_skipped": sums.skipped,
                "records_first_read": sums.first_read,
            },
        )

    def warnings(
        self, group: str, rows: list[PlannedOffset], sums: rules.Totals, *, is_new: bool
    ) -> list[dict[str, Any]]:
        found = [self.new_group(group)] if is_new else []
        return found + _warnings(rows, sums)

    def new_group(self, group: str) -> dict[str, str]:
        return warning_of("new-group", "danger", group=group)

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """The targets stay as confirmed; only the group and its offsets must not have moved."""
        gateway, group = self.gateway(context), plan.inputs["group"]
        check_idle(gateway, group)
        committed = gateway.group_offsets([group]).get(group, {})
        in_scope = [TP(row["topic"], row["partition"]) for row in plan.diff["partitions"]]
        return preconditions_of({tp: offset_of(committed.get(tp)) for tp in in_scope})

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.TOPIC:
            return [row["topic"] for row in plan.diff["partitions"]]
        return super().lock_names(resource, plan)

    def asked_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.TOPIC:
            partitions = plan.inputs.get("partitions", [])
            of_file = _file_offsets(plan.inputs)
            return [
                *plan.inputs.get("topics", []),
                *(row["topic"] for row in partitions),
                *(tp.topic for tp in of_file),
            ]
        return super().asked_names(resource, plan)

    def check(self, context: StepContext) -> Done:
        return _check(self.gateway(context), context.inputs["group"], *_targets(context.diff))

    def commit(self, context: StepContext) -> Done:
        return _commit(self.gateway(context), context.inputs["group"], *_targets(context.diff))

    def verify(self, context: StepContext) -> Done | Wait:
        _, after = _targets(context.diff)
        return _verify(self.gateway(context), context.inputs["group"], after)

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        before, _ = _targets(plan.diff)
        return restoring(plan.inputs["group"], before)

    def put_back(self, context: StepContext) -> Done | Wait:
        """The offsets that are where this operation took them; consumers may have come since."""
        before, after = _targets(context.diff)
        return put_offsets_back(self.gateway(context), context.inputs["group"], before, after)

    steps = (
        StepSpec(name="check", title=CHECK_TITLE, run=check, writes=False),
        StepSpec(
            name="commit",
            title="Commit the planned offsets",
            run=commit,
            restored_by=("put-back",),
        ),
        verified_by(verify, title="Read back and compare"),
        StepSpec(
            name="put-back",
            title="Commit the offsets of before",
            run=put_back,
            phase=Phase.RESTORE,
        ),
    )


class OffsetReset(_OffsetKind):
    name = "offset.reset"
    inputs = OffsetResetInputs

    def also_read(self, plan: Plan) -> Iterable[tuple[Area, str]]:
        source = plan.inputs.get("from_group")
        return [(Area.GROUP, source)] if source else ()

    def rows(self, gateway: ClusterGateway, inputs: Inputs, see: See) -> list[PlannedOffset]:
        committed = gateway.group_offsets([inputs["group"]]).get(inputs["group"], {})
        strategy, value = inputs["strategy"], inputs.get("value")
        if strategy in {rules.FILE, rules.COPY}:
            return _to_named_offsets(gateway, inputs, committed, see)
        scope = _scope(gateway, inputs, committed)
        see(scope)
        found, unknown = facts(gateway, scope, committed)
        if strategy == rules.DURATION:
            # From here on it is the instant that it was when somebody asked for the plan.
            strategy, value = rules.TIMESTAMP, now_ms() - (value or 0)
        if strategy == rules.TIMESTAMP:
            found = _with_timestamps(gateway, found, value)
        rows = rules.plan_reset(found, strategy=strategy, value=value)
        return sorted([*rows, *unknown], key=lambda row: row.tp)


class OffsetRestore(_OffsetKind):
    name = "offset.restore"
    inputs = OffsetRestoreInputs

    def new_group(self, group: str) -> dict[str, str]:
        return warning_of("new-group/again", "info", group=group)

    def rows(self, gateway: ClusterGateway, inputs: Inputs, see: See) -> list[PlannedOffset]:
        wanted = {TP(row["topic"], row["partition"]): row["offset"] for row in inputs["partitions"]}
        see(wanted)
        committed = gateway.group_offsets([inputs["group"]]).get(inputs["group"], {})
        found, unknown = facts(gateway, sorted(wanted), committed)
        rows = rules.plan_restore(found, wanted)
        return sorted([*rows, *unknown], key=lambda row: row.tp)


def facts(
    gateway: ClusterGateway, scope: list[TP], committed: dict[TP, CommittedOffset]
) -> tuple[list[PartitionFacts], list[PlannedOffset]]:
    """What the brokers say of each partition, and the rows of those that nobody leads now.

    Raises:
        Conflict: `partition-away`, a partition is gone, or nobody leads any of them.
    """
    starts = gateway.offsets(dict.fromkeys(scope, EARLIEST))
    ends = gateway.offsets(dict.fromkeys(scope, LATEST))
    away = [tp for tp in scope if tp not in starts or tp not in ends]
    there = partitions_of(gateway, {tp.topic for tp in away}) if away else set()
    for tp in away:
        if tp not in there:
            raise Conflict(f"{tp.topic}-{tp.partition} is gone.", code="partition-away")
    if away and len(away) == len(scope):
        raise Conflict(
            f"{away[0].topic}-{away[0].partition} has no leader now"
            + (f", nor has any of the other {len(away) - 1}." if len(away) > 1 else "."),
            code="partition-away",
        )
    known = [
        PartitionFacts(
            tp=tp,
            committed=offset_of(committed.get(tp)),
            log_start=starts[tp].offset,
            log_end=ends[tp].offset,
        )
        for tp in scope
        if tp in starts and tp in ends
    ]
    return known, [rules.left_unknown(tp, offset_of(committed.get(tp))) for tp in away]


def row_dict(row: PlannedOffset) -> dict[str, Any]:
    return {
        "topic": row.tp.topic,
        "partition": row.tp.partition,
        "from": row.from_offset,
        "to": row.to_offset,
        "log_start": row.log_start,
        "log_end": row.log_end,
        "effect": row.effect,
        "records": row.records,
        "reason": row.reason,
    }


def _scope(
    gateway: ClusterGateway, inputs: dict[str, Any], committed: dict[TP, CommittedOffset]
) -> list[TP]:
    """Exactly the partitions that the reset is about."""
    if inputs.get("partitions"):
        asked = sorted({TP(row["topic"], row["partition"]) for row in inputs["partitions"]})
        known = partitions_of(gateway, {tp.topic for tp in asked})
        for index, tp in enumerate(asked):
            if tp not in known:
                raise field_problem(
                    f"/inputs/partitions/{index}", f"There is no {tp.topic}-{tp.partition}."
                )
        return asked
    if inputs.get("topics"):
        known = partitions_of(gateway, set(inputs["topics"]))
        for index, name in enumerate(inputs["topics"]):
            if not any(tp.topic == name for tp in known):
                raise field_problem(f"/inputs/topics/{index}", f"There is no topic {name}.")
        return sorted(known)
    if not committed:
        raise NotFound(
            f"There is no group {inputs['group']}, or it has committed nothing; name topics or"
            " partitions."
        )
    # All partitions of its topics: one without a commit is read from the consumer's own start.
    return sorted(partitions_of(gateway, {tp.topic for tp in committed}))


def _to_named_offsets(
    gateway: ClusterGateway, inputs: dict[str, Any], committed: dict[TP, CommittedOffset], see: See
) -> list[PlannedOffset]:
    """To what a file names for each partition, or to where another group stands.

    Raises:
        Problem: the file names a partition that is not there, or the group has no commit.
    """
    is_file = inputs["strategy"] == rules.FILE
    named = _of_file(gateway, inputs) if is_file else _of_group(gateway, inputs, committed)
    see(named.scope)
    found, unknown = facts(gateway, named.scope, committed)
    rows = rules.plan_to(found, named.wanted, reason=named.reason, absent=named.absent)
    return sorted([*rows, *unknown], key=lambda row: row.tp)


@dataclass(frozen=True, slots=True)
class _Named:
    """Partitions, with the offsets that are wanted, and why (`rules.plan_to`)."""

    scope: list[TP]
    wanted: Mapping[TP, int]
    reason: str
    absent: str = ""


def _of_file(gateway: ClusterGateway, inputs: dict[str, Any]) -> _Named:
    lines = _file_offsets(inputs)
    known = partitions_of(gateway, {tp.topic for tp in lines})
    for tp, at in lines.items():
        if tp not in known:
            raise field_problem(
                "/inputs/file", f"Line {at.line}: there is no {tp.topic}-{tp.partition}."
            )
    return _Named(sorted(lines), {tp: at.offset for tp, at in lines.items()}, "as the file says")


def _of_group(
    gateway: ClusterGateway, inputs: dict[str, Any], committed: dict[TP, CommittedOffset]
) -> _Named:
    """The caller sees that group: else there is no plan (`also_read`)."""
    source = inputs["from_group"]
    commits = gateway.group_offsets([source]).get(source, {})
    if not commits:
        raise field_problem(
            "/inputs/from_group", f"There is no group {source}, or it has committed nothing."
        )
    if inputs.get("topics") or inputs.get("partitions"):
        scope = _scope(gateway, inputs, committed)
    else:
        scope = sorted(commits.keys() & partitions_of(gateway, {tp.topic for tp in commits}))
    if not scope:
        raise field_problem(
            "/inputs/from_group", f"Every topic in which {source} has a commit is deleted."
        )
    return _Named(
        scope,
        {tp: at.offset for tp, at in commits.items()},
        f"where {source} stands",
        f"{source} has no commit here: left as it is",
    )


def _file_offsets(inputs: dict[str, Any]) -> Mapping[TP, FileOffset]:
    """Checked with the inputs: it is a file."""
    return parse(inputs["file"], inputs["group"]) if inputs.get("file") else {}


def now_ms() -> int:
    return int(timezone.now().timestamp() * 1000)


def _with_timestamps(
    gateway: ClusterGateway, found: list[PartitionFacts], at_ms: int | None
) -> list[PartitionFacts]:
    answers: dict[TP, OffsetAt] = gateway.offsets(
        dict.fromkeys((fact.tp for fact in found), at_ms or 0)
    )
    return [
        PartitionFacts(
            tp=fact.tp,
            committed=fact.committed,
            log_start=fact.log_start,
            log_end=fact.log_end,
            at_timestamp=answers[fact.tp].offset
            if fact.tp in answers and answers[fact.tp].offset >= 0
            else None,
        )
        for fact in found
    ]


def _targets(diff: dict[str, Any]) -> tuple[Targets, Targets]:
    """(from, to) of the partitions that the plan moves."""
    moved = [row for row in diff["partitions"] if row["from"] != row["to"]]
    before = {TP(row["topic"], row["partition"]): row["from"] for row in moved}
    return before, {TP(row["topic"], row["partition"]): row["to"] for row in moved}


def _check(gateway: ClusterGateway, group: str, before: Targets, after: Targets) -> Done:
    """Nothing may have moved since the plan; what is there already is our own earlier try."""
    require_idle(gateway, group)
    committed = gateway.group_offsets([group]).get(group, {})
    now = {tp: offset_of(committed.get(tp)) for tp in before}
    require_unmoved(preconditions_of(before), preconditions_of(now), target=preconditions_of(after))
    return Done(detail=detail_of("offsets/as-planned", partitions=len(before)))


def _commit(gateway: ClusterGateway, group: str, before: Targets, after: Targets) -> Done:
    _check(gateway, group, before, after)
    kept = {tp: at for tp, at in after.items() if at is not None}
    dropped = [tp for tp, at in after.items() if at is None]
    with last_guard():
        if kept:
            gateway.commit_group_offsets(
                group, {tp: CommittedOffset(offset=at) for tp, at in kept.items()}
            )
        if dropped:
            gateway.delete_group_offsets(group, dropped)
    return Done(detail=detail_of("offsets/committed", committed=len(kept), removed=len(dropped)))


def _verify(gateway: ClusterGateway, group: str, after: Targets) -> Done | Wait:
    committed = gateway.group_offsets([group]).get(group, {})
    right = [tp for tp, at in after.items() if offset_of(committed.get(tp)) == at]
    progress = Progress(done=len(right), total=len(after), unit="partitions")
    if len(right) == len(after):
        return read_back(None, progress=progress)
    wrong = min(set(after) - set(right))
    now = offset_of(committed.get(wrong))
    partition = f"{wrong.topic}-{wrong.partition}"
    differs = detail_of("offsets/differ", partition=partition, found=now, planned=after[wrong])
    return read_back(differs, progress=progress)


def _nothing_to_do(group: str, rows: list[PlannedOffset]) -> Conflict:
    if rows and all(row.from_offset is None for row in rows):
        return Conflict(
            f"The group {group} has no commit in these partitions: there is no commit to shift"
            " from or to remove.",
            code="no-commit",
        )
    return Conflict("Every offset is there already.", code="nothing-to-do")


def _summary(kind: str, group: str, moved: int, sums: rules.Totals) -> Summary:
    if sums.removed and sums.removed == moved:
        return summary_of(f"{kind}/removed", group=group, partitions=moved)
    return summary_of(
        kind,
        partitions=moved,
        group=group,
        reread=sums.reread,
        skipped=sums.skipped,
        first_read=sums.first_read,
        removed=sums.removed,
    )


def _warnings(rows: list[PlannedOffset], sums: rules.Totals) -> list[dict[str, Any]]:
    found = []
    if sums.removed:
        found.append(
            warning_of(
                "commit-removed",
                "danger",
                risk=Risk.SKIPS_RECORDS,
                partitions=sums.removed,
                reread=sums.reread_at_most,
                skipped=sums.skipped_at_most,
            )
        )
    if sums.skipped:
        found.append(
            warning_of("records-skipped", "danger", risk=Risk.SKIPS_RECORDS, records=sums.skipped)
        )
    if sums.reread:
        found.append(warning_of("records-reread", records=sums.reread))
    unknown = [row.tp for row in rows if row.effect == rules.UNKNOWN]
    if unknown:
        names = ", ".join(f"{tp.topic}-{tp.partition}" for tp in unknown[:NAMES_SAID_MAX])
        found.append(
            warning_of(
                "no-leader",
                "danger",
                partitions=len(unknown),
                names=names,
                more=len(unknown[NAMES_SAID_MAX:]),
            )
        )
    left = sum(row.from_offset is None and row.to_offset is None for row in rows)
    if left:
        found.append(warning_of("no-commit", "info", partitions=left))
    if sums.uncommitted > left:
        found.append(
            warning_of(
                "first-commit",
                "info",
                partitions=sums.uncommitted - left,
                records=sums.first_read,
            )
        )
    return found
