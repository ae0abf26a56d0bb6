"""A reassignment that takes over where replicas are: nothing moves, and it is what is wanted then.

What is desired of a partition is what the last verified reassignment of it has left, so an adoption
is one of them: each of its moves ends where it begins.
"""

from typing import Any

from controlplane.common.problems import Conflict, field_problem
from controlplane.gateway.port import BrokerView, ClusterGateway
from controlplane.gateway.types import TP, partitions_by_tp
from controlplane.operations.details import detail_of
from controlplane.operations.operations import Done, PlanDraft, StepContext, Wait
from controlplane.operations.read_back import read_back_everywhere
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of
from controlplane.reassignments.diffs import move_dict, resource_of
from controlplane.reassignments.rules import Move
from controlplane.reassignments.selectors import Truth

UNCHANGED = detail_of("moves/unchanged")


def draft_of(gateway: ClusterGateway, given: list[dict[str, Any]], truth: Truth) -> PlanDraft:
    """Raises Conflict: the brokers have other replicas, or are moving some."""
    moves = []
    for index, row in enumerate(given):
        tp, replicas = TP(row["topic"], row["partition"]), tuple(row["replicas"])
        now = truth.assignment.get(tp)
        if now is None:
            said = f"{tp.topic} has no partition {tp.partition}."
            raise field_problem(f"/inputs/moves/{index}/partition", said)
        if now != replicas:
            where = ", ".join(map(str, now))
            raise Conflict(
                f"{tp.topic}-{tp.partition} is on brokers {where}.", code="not-as-observed"
            )
        moves.append(Move(tp=tp, before=now, after=now, size_bytes=truth.sizes.get(tp)))
    moving = sorted(row.tp for row in gateway.list_reassignments({move.tp for move in moves}))
    if moving:
        raise Conflict(
            f"{moving[0].topic}-{moving[0].partition} is being moved.",
            code="reassignment-in-progress",
        )
    moves.sort(key=lambda move: move.tp)
    topics = sorted({move.tp.topic for move in moves})
    return PlanDraft(
        resource=resource_of(moves),
        diff={
            "partitions": [move_dict(move) for move in moves],
            "brokers": [],
            "balance": None,
            "limits": [],
        },
        summary=summary_of("reassignment/adopted", partitions=len(moves)),
        preconditions={"before": {f"{m.tp.topic}-{m.tp.partition}": list(m.before) for m in moves}},
        warnings=[warning_of("adopts/replicas", "info")],
        impact={"bytes_to_move": 0, "seconds_estimated": None},
        typed_name=topics[0],
    )


def verified_there(context: StepContext, gateway: ClusterGateway, moves: list[Move]) -> Done | Wait:
    """Every broker says that the replicas are where they were taken over; not that they are in
    sync, which is no matter of where they are.
    """
    topics = sorted({move.tp.topic for move in moves})

    def differing(view: BrokerView, _broker: int) -> str | None:
        parts = partitions_by_tp(view.describe_topics(topics).values())
        wrong = [m.tp for m in moves if m.tp not in parts or parts[m.tp].replicas != m.after]
        if not wrong:
            return None
        partition = f"{wrong[0].topic}-{wrong[0].partition}"
        return detail_of("moves/elsewhere", partition=partition)

    return read_back_everywhere(context, gateway, differing, detail=detail_of("moves/as-they-were"))
