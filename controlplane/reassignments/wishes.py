"""What a reassignment is asked to reach, as new replica lists: exact moves, topics spread over
brokers, another replication factor, or everything off one broker.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from controlplane.common.problems import field_problem
from controlplane.gateway.types import TP
from controlplane.operations.blast_radius import Extent
from controlplane.operations.summaries import Summary, summary_of
from controlplane.reassignments.inputs import PARTITIONS_MAX
from controlplane.reassignments.planner.evacuate import evacuate
from controlplane.reassignments.planner.factor import change_factor
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
from controlplane.reassignments.rules import Replicas
from controlplane.reassignments.selectors import Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where replicas should be, and what that does. `balance` is None for exact moves."""

    wanted: Mapping[TP, Replicas]
    brokers: tuple[BrokerChange, ...]
    balance: dict[str, Any] | None = None
    limits: tuple[Limit, ...] = ()


def topics_of(inputs: dict[str, Any]) -> list[str] | None:
    """None: all of them."""
    if inputs["all_topics"] or inputs.get("drain_broker") is not None:
        return None
    return sorted(
        {move["topic"] for move in inputs.get("moves", [])} | set(inputs.get("topics", []))
    )


def wanted_of(inputs: dict[str, Any], truth: Truth) -> Outcome:
    """What the person asked for, as new replica lists.

    Raises:
        Problem: it cannot be; the field says which part of it.
    """
    if inputs.get("moves"):
        return _outcome(truth, _wanted_by_moves(inputs["moves"], truth))
    if inputs.get("drain_broker") is not None:
        return _drained(inputs["drain_broker"], truth)
    if inputs.get("replication_factor") is not None:
        return _resized(inputs["replication_factor"], truth)
    return _spread(inputs, truth)


def _outcome(
    truth: Truth, wanted: Mapping[TP, Replicas], limits: tuple[Limit, ...] = ()
) -> Outcome:
    brokers = changes_of(truth.chosen_partitions(), truth.brokers(lambda _: Role.TARGET), wanted)
    return Outcome(wanted=wanted, brokers=brokers, limits=limits)


def _drained(leaving: int, truth: Truth) -> Outcome:
    if leaving not in truth.racks and not any(
        leaving in replicas for replicas in truth.assignment.values()
    ):
        raise field_problem(
            "/inputs/drain_broker", f"The cluster has no broker {leaving}, nor a replica on it."
        )
    try:
        found = evacuate(
            truth.chosen_partitions(),
            truth.brokers(lambda _: Role.TARGET),
            leaving,
            only_there=truth.unled,
            changes_max=PARTITIONS_MAX,
        )
    except UnplannableError as error:
        raise field_problem("/inputs/drain_broker", f"{_sentence(error)}.") from error
    return _outcome(truth, found.wanted, found.limits)


def _resized(factor: int, truth: Truth) -> Outcome:
    try:
        found = change_factor(
            truth.chosen_partitions(),
            truth.brokers(lambda _: Role.TARGET),
            factor,
            in_sync=truth.in_sync,
            changes_max=PARTITIONS_MAX,
        )
    except UnplannableError as error:
        raise field_problem("/inputs/replication_factor", f"{_sentence(error)}.") from error
    return _outcome(truth, found.wanted, found.limits)


def _sentence(error: UnplannableError) -> str:
    text = str(error)
    return f"{text[0].upper()}{text[1:]}"


def _spread(inputs: dict[str, Any], truth: Truth) -> Outcome:
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


def load_dict(change: BrokerChange) -> dict[str, Any]:
    figures = (("before", change.before), ("after", change.after))
    return {"id": change.id} | {
        f"{when}_{name}": value for when, of in figures for name, value in asdict(of).items()
    }


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


def summarized(inputs: dict[str, Any], partitions: int, to_move: Extent) -> Summary:
    """`Move 3 partitions, 2 MiB.` in the words of what was asked for."""
    of = {"partitions": partitions, **to_move.params("size_bytes", whole="size")}
    if inputs.get("drain_broker") is not None:
        return summary_of("reassignment/drain", broker=str(inputs["drain_broker"]), **of)
    factor = inputs.get("replication_factor")
    if factor is not None:
        return summary_of("reassignment/factor", replicas=factor, **of)
    return summary_of("reassignment", **of)


def nothing_to_do(inputs: dict[str, Any], limits: tuple[Limit, ...]) -> str:
    """Why there is no move, in a sentence, with what the planner could not reach."""
    factor, leaving = inputs.get("replication_factor"), inputs.get("drain_broker")
    said = "No move would help."
    if factor is not None:
        said = f"Every partition has a replication factor of {factor} already."
    if leaving is not None:
        said = f"Nothing can leave broker {leaving}." if limits else f"Broker {leaving} is empty."
    return " ".join([said, *(limit.text for limit in limits)])
