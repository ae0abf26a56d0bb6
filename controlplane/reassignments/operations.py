"""reassignment: limit → move in bounded batches → limit off → verify on every broker and on disk.

Cancelled, it stops what is under way, moves back what had arrived under the same limit, and
verifies that; failed, it stops what is under way and says what stays. The limit goes either way.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from django.utils import timezone

from controlplane.clusters.operations_base import ClusterOperationKind, Touched, cluster_of
from controlplane.common.problems import Conflict
from controlplane.common.words import counted
from controlplane.gateway.errors import AcceptedRefusals, GatewayError
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.gateway.readings import Gap, Reading
from controlplane.gateway.types import TP, PartitionDescription, partitions_by_tp
from controlplane.observed.sections import TOPICS
from controlplane.operations.blast_radius import Extent, amount
from controlplane.operations.details import (
    Detail,
    broker_params,
    detail_from,
    detail_of,
    rows_of,
    together,
)
from controlplane.operations.locks import Resource
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
from controlplane.operations.read_back import (
    MEMO,
    read_back,
    read_back_everywhere,
    verified_by,
)
from controlplane.operations.states import CANCELLING
from controlplane.reassignments import rules, taking_over
from controlplane.reassignments.diffs import move_dict, moves_in, resource_of
from controlplane.reassignments.inputs import ReassignmentInputs
from controlplane.reassignments.rules import Move, Replicas, Survey, reversed_moves
from controlplane.reassignments.selectors import Truth, read_truth
from controlplane.reassignments.serializers import ReassignmentDiffSerializer
from controlplane.reassignments.services import (
    throttle_keep,
    throttle_lift,
    throttle_lifted,
    throttle_prepare,
    throttle_renew,
)
from controlplane.reassignments.warnings import min_isr_warnings, plan_warnings
from controlplane.reassignments.wishes import (
    load_dict,
    nothing_to_do,
    summarized,
    topics_of,
    wanted_of,
)

DAY_S = 86_400.0
POLL_S = 0.5
OTHERS_LOOKS = 6
TOUCHED_TOPICS_MAX = 200
# In the memo: the step whose limit is noted, and what was lifted.
NOTED, LIFTED = "limit_noted", "limit_lifted"
REFUSED = "refused_in_a_row"
REFUSED_LOOKS = 60
"""So long, at POLL_S, a controller may know of a broker's absence what others do not say yet."""
AWAY, AWAY_S = "away_since_s", 900.0
"""How long a broker that is to have a replica may be away, as in a roll."""
NOT_ALIVE = "INVALID_REPLICA_ASSIGNMENT"
"""What Kafka says of replicas that are not alive, among other things."""


class Reassignment(ClusterOperationKind):
    name = "reassignment"
    restores = "the partitions move back"
    inputs = ReassignmentInputs
    diff_shape = ReassignmentDiffSerializer
    cancellable = True

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway = self.gateway(context)
        topics = topics_of(inputs)
        truth = read_truth(gateway, topics)
        if inputs.get("adopt"):
            return taking_over.draft_of(gateway, inputs["moves"], truth)
        outcome = wanted_of(inputs, truth)
        moves = rules.moves_of(truth.assignment, outcome.wanted, truth.sizes)
        if not moves:
            raise Conflict(nothing_to_do(inputs, outcome.limits), code="nothing-to-do")
        touched = {move.tp for move in moves}
        ongoing = sorted(row.tp for row in gateway.list_reassignments(touched))
        if ongoing:
            raise Conflict(
                f"{ongoing[0].topic}-{ongoing[0].partition} is being moved already.",
                code="reassignment-in-progress",
            )
        throttle = inputs.get("throttle_bytes_per_s")
        to_move = _to_move(moves, truth)
        return PlanDraft(
            resource=resource_of(moves),
            diff={
                "partitions": [move_dict(move) for move in moves],
                "brokers": [load_dict(change) for change in outcome.brokers],
                "balance": outcome.balance,
                "limits": [asdict(limit) for limit in outcome.limits],
            },
            summary=summarized(inputs, len(moves), to_move),
            preconditions={
                "before": {f"{m.tp.topic}-{m.tp.partition}": list(m.before) for m in moves}
            },
            warnings=[
                *plan_warnings(gateway, moves, truth, throttle),
                *min_isr_warnings(gateway, moves),
            ],
            impact={
                "bytes_to_move": None if to_move.gaps else to_move.count,
                "seconds_estimated": rules.seconds_estimated(
                    moves, throttle, batch_size=inputs["batch_size"]
                ),
            },
            blast_radius=[to_move],
            typed_name=topics[0] if topics and len(topics) == 1 else cluster_of(context).name,
        )

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.TOPIC:
            return [row["topic"] for row in plan.diff["partitions"]]
        return super().lock_names(resource, plan)

    def touched(self, plan: Plan) -> Touched | None:
        """Its topics, unless they are so many that the next pass reads them sooner."""
        topics = {row["topic"] for row in plan.diff["partitions"]}
        return {TOPICS: topics} if len(topics) <= TOUCHED_TOPICS_MAX else None

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """The same partitions' replicas now; sizes may grow meanwhile."""
        now = assignment_now(self.gateway(context), moves_in(plan.diff))
        return {"before": {f"{tp.topic}-{tp.partition}": list(now[tp]) for tp in sorted(now)}}

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:  # noqa: ARG002 - a hook
        """How much is copied may change: it is only said."""
        return []

    def prepare(self, operation: Operation, plan: Plan) -> None:
        throttle_prepare(operation, plan.inputs.get("throttle_bytes_per_s"))

    def throttle(self, context: StepContext) -> Done | Wait:
        moves = moves_in(context.diff)
        if _note_limit(context, "throttle", moves):
            return Wait(seconds=0.0)
        if context.inputs.get("adopt"):
            return Done(detail=taking_over.UNCHANGED)
        kept = throttle_keep(self.gateway(context), context.operation, moves, all_brokers=True)
        if kept.bytes_per_s is None:
            return Done(detail=detail_of("limit/not-asked"))
        return Done(detail=detail_of("limit/per-broker", limit_bytes_per_s=kept.bytes_per_s))

    def move(self, context: StepContext) -> Done | Wait:
        if context.inputs.get("adopt"):
            return Done(detail=taking_over.UNCHANGED)
        return self._move(context, moves_in(context.diff))

    def move_back(self, context: StepContext) -> Done | Wait:
        return self._move(context, reversed_moves(moves_in(context.diff)), back=True)

    def verify_back(self, context: StepContext) -> Done | Wait:
        """As before on every broker, but for what somebody else moved or deleted meanwhile."""
        gateway, moves = self.gateway(context), reversed_moves(moves_in(context.diff))
        found = survey_now(gateway, moves)
        others = {move.tp for move in (*found.foreign, *found.gone)}
        back = [move for move in moves if move.tp not in others]
        out_of_reach = _out_of_reach(found)
        remains = tuple(out_of_reach)
        said = together(detail_of("moves/back", partitions=len(back)), *out_of_reach)
        if not back:
            return Done(detail=said, remains=remains)
        outcome = _verify(context, gateway, back, detail=said, memo_key="read_back_restored")
        return replace(outcome, remains=remains) if isinstance(outcome, Done) else outcome

    def stop(self, context: StepContext) -> Done | Wait:
        goes_back = context.operation.state == CANCELLING
        return _stop(self.gateway(context), moves_in(context.diff), goes_back=goes_back)

    def unthrottle(self, context: StepContext) -> Done | Wait:
        """Lifted first, noted by the next tick: beat lifts once more what nobody has noted."""
        lifted = context.memo.pop(LIFTED, None)
        if lifted is not None:
            throttle_lifted(context.operation.id)
            return Done(detail=_as_kept(lifted))
        said, is_lifted = throttle_lift(self.gateway(context), context.operation)
        if not is_lifted:
            return Done(detail=said)
        context.memo[LIFTED] = rows_of(said)
        return Wait(seconds=0.0, detail=said)

    def verify(self, context: StepContext) -> Done | Wait:
        if context.inputs.get("adopt"):
            return taking_over.verified_there(
                context, self.gateway(context), moves_in(context.diff)
            )
        return _verify(
            context,
            self.gateway(context),
            moves_in(context.diff),
            detail=detail_of("moves/agreed"),
        )

    def _move(self, context: StepContext, moves: list[Move], *, back: bool = False) -> Done | Wait:
        """The limit first: what is submitted, and what moves already, moves under it."""
        if _note_limit(context, "move-back" if back else "move", moves):
            return Wait(seconds=0.0)
        gateway = self.gateway(context)
        limit = throttle_keep(gateway, context.operation, moves).said
        found = survey_now(gateway, moves)
        if not back and _others_seen(context, found):
            return Wait(seconds=POLL_S, detail=detail_of("moves/differs"))
        waits_for = _submit(context, gateway, found)
        progress = _progress(gateway, moves, found)
        there = detail_of("moves/there", there=len(found.done), moves=len(moves))
        detail = together(there, *_out_of_reach(found), *waits_for, limit)
        waiting = detail if found.todo or found.moving else None
        return read_back(waiting, detail=detail, progress=progress, poll_s=POLL_S)

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        if plan.inputs.get("adopt"):
            return None
        back = [
            {"topic": m.tp.topic, "partition": m.tp.partition, "replicas": list(m.before)}
            for m in moves_in(plan.diff)
        ]
        inputs: dict[str, Any] = {"moves": back, "batch_size": plan.inputs["batch_size"]}
        if plan.inputs.get("throttle_bytes_per_s"):
            inputs["throttle_bytes_per_s"] = plan.inputs["throttle_bytes_per_s"]
        return self.name, inputs

    steps = (
        StepSpec(
            name="throttle", title="Limit replication", run=throttle, restored_by=("unthrottle",)
        ),
        StepSpec(
            name="move",
            title="Move replicas",
            run=move,
            deadline_s=7 * DAY_S,
            restored_by=("stop", "move-back", "verify-back"),
            stays=detail_of("remains/moves"),
        ),
        StepSpec(name="stop", title="Stop moves under way", run=stop, phase=Phase.RESTORE),
        StepSpec(
            name="move-back",
            title="Move back what had arrived",
            run=move_back,
            phase=Phase.TEARDOWN,
            deadline_s=7 * DAY_S,
        ),
        StepSpec(
            name="verify-back",
            title="Data is on the old brokers again and gone from the new",
            run=verify_back,
            phase=Phase.TEARDOWN,
            deadline_s=300.0,
        ),
        StepSpec(name="unthrottle", title="Lift the limit", run=unthrottle, phase=Phase.ALWAYS),
        verified_by(
            verify, title="Data is on the new brokers and gone from the old", deadline_s=300.0
        ),
    )


def _note_limit(context: StepContext, step: str, moves: list[Move]) -> bool:
    """In a step's first tick only note which brokers get the limit: True then.

    The tick that follows asks the brokers. So none takes more statements than others do.
    """
    if context.memo.get(NOTED) == step:
        return False
    context.memo[NOTED] = step
    context.memo.pop(LIFTED, None)  # it is about to be set once more
    if throttle_renew(context.operation, moves) is None:
        throttle_prepare(context.operation, context.inputs.get("throttle_bytes_per_s"))
    return True


def _to_move(moves: list[Move], truth: Truth) -> Extent:
    unsized = sum(move.is_unsized for move in moves)
    not_said = Gap(f"the size of {counted(unsized, 'partition')} was not given")
    known = Reading(
        known=sum(move.bytes_to_move for move in moves),
        gaps=(truth.gaps or (not_said,)) if unsized else (),
    )
    return amount("bytes", "bytes-to-copy", "byte", known, may_change=True)


def assignment_now(gateway: ClusterGateway, moves: list[Move]) -> dict[TP, Replicas]:
    parts = _parts_now(gateway, moves)
    return {move.tp: parts[move.tp].replicas for move in moves if move.tp in parts}


def survey_now(gateway: ClusterGateway, moves: list[Move]) -> Survey:
    """Ongoing first, assignment after: a move that ends in between is seen as done."""
    ongoing = {row.tp for row in gateway.list_reassignments({move.tp for move in moves})}
    return rules.survey(moves, now=assignment_now(gateway, moves), ongoing=ongoing)


def _progress(gateway: ClusterGateway, moves: list[Move], found: Survey) -> Progress:
    """By bytes; by partitions where the plan did not know the size of what moves."""
    if any(move.is_unsized for move in moves):
        return Progress(done=len(found.done), total=len(moves), unit="partitions")
    arrived, total = rules.bytes_arrived(moves, _sizes_now(gateway, moves))
    settled = len(found.done) == len(moves)
    return Progress(done=total if settled else arrived, total=total, unit="bytes")


def _submit(context: StepContext, gateway: ClusterGateway, found: Survey) -> list[Detail]:
    """Begin what may move next; what is waited for.

    A broker that restarts, was killed or stops is back as a rule: its moves wait for AWAY_S. The
    controller knows of it before other brokers do: for REFUSED_LOOKS looks in a row its refusal is
    taken for that.

    Raises:
        GatewayError: the cluster refuses them although every broker is up.
        StepFailedError: a broker stays away.
    """
    if not found.todo:
        context.memo.pop(AWAY, None)
        return []
    live = {node.id for node in gateway.describe_cluster().brokers}
    batch, away = rules.next_batch(found, batch_size=context.inputs["batch_size"], live=live)
    said = _waits_for(context, away)
    if not batch:
        return said
    try:
        gateway.reassign({move.tp: move.after for move in batch})
    except GatewayError as error:
        refused = context.memo.get(REFUSED, 0) + 1
        if error.code != NOT_ALIVE or refused > REFUSED_LOOKS:
            raise
        context.memo[REFUSED] = refused
        return [*said, detail_of("moves/refused", reason=error.said)]
    context.memo.pop(REFUSED, None)
    return said


def _waits_for(context: StepContext, away: tuple[int, ...]) -> list[Detail]:
    """Raises StepFailedError: one of them has been away for too long."""
    if not away:
        context.memo.pop(AWAY, None)
        return []
    now_s = timezone.now().timestamp()
    if now_s - context.memo.setdefault(AWAY, now_s) > AWAY_S:
        raise StepFailedError(
            "brokers-away",
            detail_of("failed/nothing-moved", minutes=round(AWAY_S / 60), **broker_params(away)),
        )
    return [detail_of("moves/waiting", **broker_params(away))]


def _stop(gateway: ClusterGateway, moves: list[Move], *, goes_back: bool) -> Done | Wait:
    """Cancel what is under way, so that unfinished partitions are as before; say what is not."""
    found = survey_now(gateway, moves)
    if not found.moving:
        stays = () if goes_back else _groups((found.done, "moves/on-new"))
        detail = _what_stays(found, goes_back=goes_back)
        return Done(detail=detail, remains=tuple(stays))
    with AcceptedRefusals("NO_REASSIGNMENT_IN_PROGRESS"):
        gateway.reassign({move.tp: None for move in found.moving})
    return Wait(seconds=POLL_S, detail=detail_of("moves/stopping", moves=len(found.moving)))


def _others_seen(context: StepContext, found: Survey) -> bool:
    """Whether a look shows what neither the plan nor the world before it had.

    One look proves nothing: any broker answers it, and one may still hold the replicas of a move
    that has ended elsewhere.

    Raises:
        StepFailedError: OTHERS_LOOKS looks in a row showed it.
    """
    if not found.foreign and not found.gone:
        context.memo.pop("others_seen", None)
        return False
    context.memo["others_seen"] = context.memo.get("others_seen", 0) + 1
    if context.memo["others_seen"] >= OTHERS_LOOKS:
        _refuse_others(found)
    return True


def _refuse_others(found: Survey) -> None:
    for moves, did in ((found.foreign, "moved"), (found.gone, "deleted")):
        if moves:
            raise StepFailedError(
                "plan-stale",
                detail_of("failed/others-moved", did=did, **rules.name_params(moves)),
            )


def _out_of_reach(found: Survey) -> list[Detail]:
    """What does not go back."""
    return _groups((found.foreign, "moves/others"), (found.gone, "moves/gone"))


def _groups(*groups: tuple[tuple[Move, ...], str]) -> list[Detail]:
    """What is said of the partitions of each group, by the code that stands beside it."""
    return [detail_of(code, **rules.name_params(moves)) for moves, code in groups if moves]


def _what_stays(found: Survey, *, goes_back: bool) -> Detail:
    """Every partition is in one of these clauses."""
    arrived = "moves/on-new-for-now" if goes_back else "moves/on-new"
    said = _groups((found.todo, "moves/on-old"), (found.done, arrived))
    return together(detail_of("moves/none-any-more"), *said, *_out_of_reach(found))


def _as_kept(lifted: Any) -> str:
    """What the tick before has noted; one of an earlier version noted a text."""
    return lifted if isinstance(lifted, str) else detail_from(lifted)


def _verify(
    context: StepContext,
    gateway: ClusterGateway,
    moves: list[Move],
    *,
    detail: Detail,
    memo_key: str = MEMO,
) -> Done | Wait:
    """Each broker's metadata says what the plan says, and each one's log directories hold it."""
    topics = sorted({move.tp.topic for move in moves})
    most_wrong = 0

    def differing(view: BrokerView, broker: int) -> str | None:
        nonlocal most_wrong
        parts = partitions_by_tp(view.describe_topics(topics).values())
        held = {
            replica.tp
            for replica in gateway.log_dirs(topics, brokers=[broker])
            if not replica.is_future
        }
        wrong = [text for move in moves if (text := _wrong(move, parts, held, broker))]
        most_wrong = max(most_wrong, len(wrong))
        return wrong[0] if wrong else None

    outcome = read_back_everywhere(
        context, gateway, differing, detail=detail, poll_s=POLL_S, memo_key=memo_key
    )
    done = len(moves) - most_wrong
    return replace(outcome, progress=Progress(done=done, total=len(moves), unit="partitions"))


def _wrong(
    move: Move, parts: Mapping[TP, PartitionDescription], held: Collection[TP], broker: int
) -> str | None:
    part = parts.get(move.tp)
    name = f"{move.tp.topic}-{move.tp.partition}"
    if part is None or part.replicas != move.after:
        return detail_of("moves/not-assigned", partition=name)
    if set(part.isr) != set(move.after):
        return detail_of("moves/not-in-sync", partition=name)
    if broker in move.after and move.tp not in held:
        return detail_of("moves/missing-here", partition=name)
    if broker in move.removing and move.tp in held:
        return detail_of("moves/still-here", partition=name)
    return None


def _parts_now(gateway: ClusterGateway, moves: list[Move]) -> dict[TP, PartitionDescription]:
    return partitions_by_tp(gateway.describe_topics({move.tp.topic for move in moves}).values())


def _sizes_now(gateway: ClusterGateway, moves: list[Move]) -> dict[tuple[int, TP], int]:
    wanted = {move.tp for move in moves}
    return {
        (replica.broker, replica.tp): replica.size_bytes
        for replica in gateway.log_dirs(sorted({move.tp.topic for move in moves}))
        if replica.tp in wanted and not replica.is_future
    }
