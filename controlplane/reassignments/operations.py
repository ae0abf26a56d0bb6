"""reassignment: throttle → move in bounded batches → throttle off → verify on disk.

Cancelled, it stops what is under way and moves back what had arrived; failed, it stops what
is under way. The throttle goes on every way out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from controlplane.clusters.operations_base import ClusterOperationKind, cluster_of
from controlplane.common.problems import Conflict, field_problem
from controlplane.common.words import counted
from controlplane.gateway.errors import AcceptedRefusals
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import Gap, Reading
from controlplane.gateway.types import TP, PartitionDescription, partitions_by_tp
from controlplane.operations.blast_radius import Extent, amount
from controlplane.operations.locks import Resource
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
from controlplane.operations.read_back import read_back, verified_by
from controlplane.reassignments import rules
from controlplane.reassignments.inputs import PARTITIONS_MAX, ReassignmentInputs
from controlplane.reassignments.planner.plan import changes_of, rebalance
from controlplane.reassignments.planner.types import (
    BYTES_TOLERANCE,
    LEADERS_TOLERANCE,
    REPLICAS_TOLERANCE,
    Basis,
    BrokerChange,
    Limit,
    Role,
    UnplannableError,
)
from controlplane.reassignments.rules import Move, Replicas, Survey
from controlplane.reassignments.selectors import Truth, read_truth
from controlplane.reassignments.serializers import ReassignmentDiffSerializer
from controlplane.reassignments.services import throttle_release, throttle_renew, throttle_set
from controlplane.reassignments.warnings import plan_warnings

DAY_S = 86_400.0
POLL_S = 0.5


class Reassignment(ClusterOperationKind):
    name = "reassignment"
    restores = "the partitions move back"
    inputs = ReassignmentInputs
    diff_shape = ReassignmentDiffSerializer
    cancellable = True

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        gateway = self.gateway(context)
        topics = _topics(inputs)
        truth = read_truth(gateway, topics)
        outcome = _wanted(inputs, truth)
        moves = rules.moves_of(truth.assignment, outcome.wanted, truth.sizes)
        if not moves:
            remains = "".join(f" {limit.text}" for limit in outcome.limits)
            raise Conflict(f"No move would help.{remains}", code="nothing-to-do")
        touched = {move.tp for move in moves}
        ongoing = sorted(row.tp for row in gateway.list_reassignments() if row.tp in touched)
        if ongoing:
            raise Conflict(
                f"{ongoing[0].topic}-{ongoing[0].partition} is being moved already.",
                code="reassignment-in-progress",
            )
        throttle = inputs.get("throttle_bytes_per_s")
        to_move = _to_move(moves, truth)
        return PlanDraft(
            resource=_resource(moves),
            diff={
                "partitions": [move_dict(move) for move in moves],
                "brokers": [_load_dict(change) for change in outcome.brokers],
                "balance": outcome.balance,
                "limits": [asdict(limit) for limit in outcome.limits],
            },
            summary=f"Move {counted(len(moves), 'partition')}, {to_move.said()}.",
            preconditions={
                "before": {f"{m.tp.topic}-{m.tp.partition}": list(m.before) for m in moves}
            },
            warnings=plan_warnings(gateway, moves, truth, throttle),
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

    def preconditions_now(self, context: PlanContext, plan: Plan) -> dict[str, Any]:
        """The same partitions' replicas now; sizes may grow meanwhile."""
        now = assignment_now(self.gateway(context), moves_in(plan.diff))
        return {"before": {f"{tp.topic}-{tp.partition}": list(now[tp]) for tp in sorted(now)}}

    def blast_radius_now(self, context: PlanContext, plan: Plan) -> list[Extent]:  # noqa: ARG002 - a hook
        """How much is copied may change: it is only said."""
        return []

    def throttle(self, context: StepContext) -> Done:
        bytes_per_s = context.inputs.get("throttle_bytes_per_s")
        if not bytes_per_s:
            return Done(detail="no limit was asked for")
        throttle_set(
            self.gateway(context),
            operation_id=context.operation.id,
            cluster_id=context.operation.cluster_id or "",
            moves=moves_in(context.diff),
            bytes_per_s=bytes_per_s,
        )
        return Done(detail=f"{bytes_per_s} bytes/s per broker")

    def move(self, context: StepContext) -> Done | Wait:
        return self._move(context, moves_in(context.diff))

    def move_back(self, context: StepContext) -> Done | Wait:
        return self._move(context, [_reversed(move) for move in moves_in(context.diff)])

    def stop(self, context: StepContext) -> Done | Wait:
        return _stop(self.gateway(context), moves_in(context.diff))

    def unthrottle(self, context: StepContext) -> Done:
        return Done(detail=throttle_release(self.gateway(context), context.operation.id))

    def verify(self, context: StepContext) -> Done | Wait:
        return _verify(self.gateway(context), moves_in(context.diff))

    def _move(self, context: StepContext, moves: list[Move]) -> Done | Wait:
        gateway = self.gateway(context)
        throttle_renew(context.operation.id)
        found = survey_now(gateway, moves)
        if found.foreign:
            tp = found.foreign[0].tp
            raise StepFailedError(
                "plan-stale", f"Somebody else moved {tp.topic}-{tp.partition} meanwhile."
            )
        batch = rules.next_batch(found, batch_size=context.inputs["batch_size"])
        if batch:
            gateway.reassign({move.tp: move.after for move in batch})
        settled = len(found.done) == len(moves)
        progress = _progress(gateway, moves, found)
        detail = f"{len(found.done)} of {len(moves)} partitions are there"
        waiting = None if settled else detail
        return read_back(waiting, detail=detail, progress=progress, poll_s=POLL_S)

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
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
            restored_by=("stop", "move-back"),
            stays="Partitions that had arrived on their new brokers stay there; moves under way are"
            " stopped.",
        ),
        StepSpec(name="stop", title="Stop moves under way", run=stop, phase=Phase.RESTORE),
        StepSpec(
            name="move-back",
            title="Move back what had arrived",
            run=move_back,
            phase=Phase.TEARDOWN,
            deadline_s=7 * DAY_S,
        ),
        StepSpec(name="unthrottle", title="Lift the limit", run=unthrottle, phase=Phase.ALWAYS),
        verified_by(
            verify, title="Data is on the new brokers and gone from the old", deadline_s=300.0
        ),
    )


def _to_move(moves: list[Move], truth: Truth) -> Extent:
    unsized = sum(move.is_unsized for move in moves)
    not_said = Gap(f"the size of {counted(unsized, 'partition')} was not given")
    known = Reading(
        known=sum(move.bytes_to_move for move in moves),
        gaps=(truth.gaps or (not_said,)) if unsized else (),
    )
    return amount("bytes", "bytes to copy", "byte", known, may_change=True)


def move_dict(move: Move) -> dict[str, Any]:
    return {
        "topic": move.tp.topic,
        "partition": move.tp.partition,
        "before": list(move.before),
        "after": list(move.after),
        "bytes": None if move.is_unsized else move.bytes_to_move,
        "size_bytes": move.size_bytes,
    }


def moves_in(diff: dict[str, Any]) -> list[Move]:
    return [
        Move(
            tp=TP(row["topic"], row["partition"]),
            before=tuple(row["before"]),
            after=tuple(row["after"]),
            size_bytes=row["size_bytes"],
        )
        for row in diff["partitions"]
    ]


def assignment_now(gateway: ClusterGateway, moves: list[Move]) -> dict[TP, Replicas]:
    parts = _parts_now(gateway, moves)
    return {move.tp: parts[move.tp].replicas for move in moves if move.tp in parts}


def survey_now(gateway: ClusterGateway, moves: list[Move]) -> Survey:
    """Ongoing first, assignment after: a move that ends in between is seen as done."""
    ongoing = {row.tp for row in gateway.list_reassignments()}
    return rules.survey(moves, now=assignment_now(gateway, moves), ongoing=ongoing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where replicas should be, and what that does. `balance` is None for exact moves."""

    wanted: Mapping[TP, Replicas]
    brokers: tuple[BrokerChange, ...]
    balance: dict[str, Any] | None = None
    limits: tuple[Limit, ...] = ()


def _topics(inputs: dict[str, Any]) -> list[str] | None:
    if inputs["all_topics"]:
        return None
    return sorted(
        {move["topic"] for move in inputs.get("moves", [])} | set(inputs.get("topics", []))
    )


def _wanted(inputs: dict[str, Any], truth: Truth) -> Outcome:
    if inputs.get("moves"):
        wanted = _wanted_by_moves(inputs["moves"], truth)
        brokers = truth.brokers(lambda _: Role.TARGET)
        return Outcome(
            wanted=wanted, brokers=changes_of(truth.chosen_partitions(), brokers, wanted)
        )
    targets, excluded = inputs["target_brokers"], inputs.get("excluded_brokers", [])
    for name, brokers_named in (("target_brokers", targets), ("excluded_brokers", excluded)):
        for index, broker in enumerate(brokers_named):
            _check_alive(broker, truth, f"/inputs/{name}/{index}")
    roles = dict.fromkeys(targets, Role.TARGET) | dict.fromkeys(excluded, Role.KEEP)
    try:
        found = rebalance(
            truth.chosen_partitions(),
            truth.brokers(lambda broker: roles.get(broker, Role.DRAIN)),
            changes_max=PARTITIONS_MAX,
        )
    except UnplannableError as error:
        raise field_problem("/inputs/target_brokers", f"{error}.") from error
    by_bytes = found.basis is Basis.BYTES
    balance = {
        "basis": found.basis.value,
        "bytes_tolerance": BYTES_TOLERANCE if by_bytes else None,
        "replicas_tolerance": REPLICAS_TOLERANCE if by_bytes else 0.0,
        "leaders_tolerance": LEADERS_TOLERANCE,
    }
    return Outcome(wanted=found.wanted, brokers=found.brokers, balance=balance, limits=found.limits)


def _load_dict(change: BrokerChange) -> dict[str, Any]:
    figures = (("before", change.before), ("after", change.after))
    return {"id": change.id} | {
        f"{when}_{name}": value for when, of in figures for name, value in asdict(of).items()
    }


def _progress(gateway: ClusterGateway, moves: list[Move], found: Survey) -> Progress:
    """By bytes; by partitions where the plan did not know the size of what moves."""
    if any(move.is_unsized for move in moves):
        return Progress(done=len(found.done), total=len(moves), unit="partitions")
    arrived, total = rules.bytes_arrived(moves, _sizes_now(gateway, moves))
    settled = len(found.done) == len(moves)
    return Progress(done=total if settled else arrived, total=total, unit="bytes")


def _wanted_by_moves(moves: list[dict[str, Any]], truth: Truth) -> dict[TP, Replicas]:
    wanted = {}
    for index, move in enumerate(moves):
        tp = TP(move["topic"], move["partition"])
        if tp not in truth.assignment:
            raise field_problem(
                f"/inputs/moves/{index}/partition",
                f"{tp.topic} has no partition {tp.partition}.",
            )
        for broker in move["replicas"]:
            _check_alive(broker, truth, f"/inputs/moves/{index}/replicas")
        wanted[tp] = tuple(move["replicas"])
    return wanted


def _check_alive(broker: int, truth: Truth, pointer: str) -> None:
    if broker not in truth.racks:
        raise field_problem(pointer, f"Broker {broker} is not alive in this cluster.")


def _stop(gateway: ClusterGateway, moves: list[Move]) -> Done | Wait:
    """Cancel what is under way, so that unfinished partitions are as before."""
    found = survey_now(gateway, moves)
    if not found.moving:
        return Done(detail=f"{len(found.done)} had finished, none is under way")
    with AcceptedRefusals("NO_REASSIGNMENT_IN_PROGRESS"):
        gateway.reassign({move.tp: None for move in found.moving})
    return Wait(seconds=POLL_S, detail=f"stopping {len(found.moving)} moves")


def _verify(gateway: ClusterGateway, moves: list[Move]) -> Done | Wait:
    """Assignment, in-sync replicas and log directories all say what the plan says."""
    parts = _parts_now(gateway, moves)
    held = _sizes_now(gateway, moves)
    wrong = []
    for move in moves:
        part = parts.get(move.tp)
        name = f"{move.tp.topic}-{move.tp.partition}"
        if part is None or part.replicas != move.after:
            wrong.append(f"{name} is not assigned as planned")
        elif set(part.isr) != set(move.after):
            wrong.append(f"{name} is not in sync everywhere")
        elif any((broker, move.tp) not in held for broker in move.after):
            wrong.append(f"{name} is missing on a new broker")
        elif any((broker, move.tp) in held for broker in move.removing):
            wrong.append(f"{name} is still on an old broker")
    progress = Progress(done=len(moves) - len(wrong), total=len(moves), unit="partitions")
    return read_back(
        wrong[0] if wrong else None,
        detail="log directories agree with the plan",
        progress=progress,
        poll_s=POLL_S,
    )


def _parts_now(gateway: ClusterGateway, moves: list[Move]) -> dict[TP, PartitionDescription]:
    return partitions_by_tp(gateway.describe_topics({move.tp.topic for move in moves}).values())


def _sizes_now(gateway: ClusterGateway, moves: list[Move]) -> dict[tuple[int, TP], int]:
    wanted = {move.tp for move in moves}
    return {
        (replica.broker, replica.tp): replica.size_bytes
        for replica in gateway.log_dirs(sorted({move.tp.topic for move in moves}))
        if replica.tp in wanted and not replica.is_future
    }


def _reversed(move: Move) -> Move:
    return Move(tp=move.tp, before=move.after, after=move.before, size_bytes=move.size_bytes)


def _resource(moves: list[Move]) -> str:
    topics = sorted({move.tp.topic for move in moves})
    more = f" and {len(topics) - 1} more" if len(topics) > 1 else ""
    return f"reassignment/{topics[0]}{more}"
