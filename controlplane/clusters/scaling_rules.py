"""Growing and shrinking a managed cluster: ids, defaults of a number of brokers, refusals. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from controlplane.clusters.rules import Placement
from controlplane.common.words import counted
from controlplane.gateway.types import OngoingReassignment, TopicDescription

NAMES_SAID_MAX: Final = 3
PARTITIONS_NAMED_MAX: Final = 100
"""Of what remains on brokers that are to leave; how many more there are is said."""
THROTTLE_BYTES_PER_S: Final = 50 * 2**20
"""What a plan that is offered next lets a broker copy; it is seen, and may be changed."""
OFFSETS_TOPIC, TRANSACTIONS_TOPIC = "__consumer_offsets", "__transaction_state"
DEFAULT_FACTOR, MIN_ISR = "default.replication.factor", "min.insync.replicas"
OF_NUMBER: Final = (
    DEFAULT_FACTOR,
    MIN_ISR,
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "transaction.state.log.min.isr",
)
"""Settings whose defaults follow from how many brokers a cluster has."""
_MADE_ONCE: Final = {
    "offsets.topic.replication.factor": OFFSETS_TOPIC,
    "transaction.state.log.replication.factor": TRANSACTIONS_TOPIC,
    "transaction.state.log.min.isr": TRANSACTIONS_TOPIC,
}
"""They are read when their topic is made; a topic that is there has its own replicas."""

NextPlan = dict[str, Any]
"""`{"kind", "inputs"}` of the plan that is offered next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why brokers do not leave. `next_plan` is what would take it out of the way."""

    code: str
    text: str
    next_plan: NextPlan | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def next_ids(count: int, *, highest_given: int, used: Iterable[int]) -> list[int]:
    """Ids that no broker of the cluster has ever had: data of an earlier one may be somewhere."""
    first = max([highest_given, 0, *used]) + 1
    return list(range(first, first + count))


def pinned(
    before: Mapping[str, Any], after: Mapping[str, Any], chosen: Collection[str]
) -> dict[str, str]:
    """Defaults that would change with the number alone, as settings that keep what they were.

    Brokers that run have them in their files: new ones with others would refuse what the others
    take. `before` and `after` are all settings, by key, with the one and the other number.
    """
    return {
        key: str(before[key])
        for key in OF_NUMBER
        if key not in chosen and str(before[key]) != str(after[key])
    }


def reason(placed: Placement, present: Sequence[tuple[str, str]]) -> str:
    """Why a new broker goes there, as its tenant may read it: hosts are the platform's.

    `present`: host and rack of each broker that the cluster has by then.
    """
    racks = Counter(rack for _, rack in present)
    here = racks[placed.rack]
    if not placed.rack:
        return "The hosts have no racks."
    text = f"Rack {placed.rack} has {counted(here, 'broker')} of the cluster"
    if racks and here <= min(racks.values()):
        return f"{text}, as few as any."
    return f"{text}; the racks with fewer have no place free."


def added_notes(placed: Sequence[Placement], present: Sequence[tuple[str, str]]) -> dict[int, str]:
    """`reason` of each of several, in the order in which they are placed."""
    by_then, found = list(present), {}
    for row in placed:
        found[row.broker_id] = reason(row, by_then)
        by_then.append((row.host_id, row.rack))
    return found


def held_by(leaving: Collection[int], topics: Iterable[TopicDescription]) -> dict[str, list[int]]:
    """By `topic-partition`: which of these brokers are among its replicas."""
    found = {}
    for topic in topics:
        for part in topic.partitions:
            there = sorted(set(part.replicas) & set(leaving))
            if there:
                found[f"{topic.name}-{part.partition}"] = there
    return found


def moving_onto(leaving: Collection[int], moves: Iterable[OngoingReassignment]) -> list[str]:
    return sorted(
        f"{row.tp.topic}-{row.tp.partition}"
        for row in moves
        if set(leaving) & {*row.replicas, *row.adding}
    )


def rebalance_next(brokers: Collection[int]) -> NextPlan:
    """Topics over all of these brokers, under a limit."""
    return {
        "kind": "reassignment",
        "inputs": {
            "all_topics": True,
            "target_brokers": sorted(brokers),
            "throttle_bytes_per_s": THROTTLE_BYTES_PER_S,
        },
    }


def drain_next(leaving: Collection[int], staying: Collection[int]) -> NextPlan:
    """One broker is emptied and nothing else moves; several, by spreading over those that stay."""
    if len(leaving) > 1:
        return rebalance_next(staying)
    (broker,) = leaving
    inputs = {"drain_broker": broker, "throttle_bytes_per_s": THROTTLE_BYTES_PER_S}
    return {"kind": "reassignment", "inputs": inputs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinking:
    """What a plan to remove brokers is judged by.

    Attributes:
        leaving: ids of those that are to go; `staying`: of all others that the cluster should have.
        live: ids of those that have registered.
        settings: all settings of its brokers, typed, by key.
    """

    leaving: frozenset[int]
    staying: frozenset[int]
    live: frozenset[int]
    topics: tuple[TopicDescription, ...]
    moves: tuple[OngoingReassignment, ...]
    settings: Mapping[str, Any]


def refusal(facts: Shrinking) -> Refusal | None:
    """The first thing that forbids it, the one that is to be mended first; None: they may go."""
    return _too_few(facts) or _above_factor(facts) or _above_defaults(facts) or _not_empty(facts)


def _too_few(facts: Shrinking) -> Refusal | None:
    if not facts.staying:
        return Refusal(
            code="last-broker", text="No broker would be left. A cluster goes by being deleted."
        )
    if not facts.staying & facts.live:
        return Refusal(code="no-live-broker", text="None of the brokers that would be left is up.")
    return None


def _above_factor(facts: Shrinking) -> Refusal | None:
    left = len(facts.staying)
    wide = sorted(
        topic.name
        for topic in facts.topics
        if any(len(part.replicas) > left for part in topic.partitions)
    )
    if not wide:
        return None
    inputs = {
        "topics": wide[:1_000],
        "replication_factor": left,
        "throttle_bytes_per_s": THROTTLE_BYTES_PER_S,
    }
    return Refusal(
        code="below-replication-factor",
        text=f"{counted(left, 'broker')} would be left, and {_named(wide, 'topic')} with more"
        " replicas than that.",
        next_plan={"kind": "reassignment", "inputs": inputs},
        extra={"topics": wide[:PARTITIONS_NAMED_MAX], "topics_total": len(wide)},
    )


def _above_defaults(facts: Shrinking) -> Refusal | None:
    left = len(facts.staying)
    there = {topic.name for topic in facts.topics}
    wrong = {
        key: str(left)
        for key in OF_NUMBER
        if int(facts.settings[key]) > left and _MADE_ONCE.get(key) not in there
    }
    if not wrong:
        return None
    said = ", ".join(f"{key} {facts.settings[key]}" for key in wrong)
    return Refusal(
        code="below-default-replication",
        text=f"{counted(left, 'broker')} would be left, and settings of the cluster ask for more:"
        f" {said}. Topics could not be made, or not written to.",
        next_plan={"kind": "cluster.configure", "inputs": {"config": wrong}},
        extra={"settings": sorted(wrong)},
    )


def _not_empty(facts: Shrinking) -> Refusal | None:
    held = held_by(facts.leaving, facts.topics)
    if held:
        brokers = sorted({broker for found in held.values() for broker in found})
        names = sorted(held)
        return Refusal(
            code="broker-not-empty",
            text=f"{_brokers(brokers)} still {_holds(brokers)} replicas of"
            f" {_named(names, 'partition')}.",
            next_plan=drain_next(brokers, facts.staying & facts.live),
            extra={"partitions": names[:PARTITIONS_NAMED_MAX], "partitions_total": len(names)},
        )
    moving = moving_onto(facts.leaving, facts.moves)
    if moving:
        return Refusal(
            code="reassignment-in-progress",
            text=f"Replicas of {_named(moving, 'partition')} are being moved onto or off brokers"
            " that are to go.",
            extra={
                "partitions": moving[:PARTITIONS_NAMED_MAX],
                "partitions_total": len(moving),
            },
        )
    return None


def _brokers(ids: Sequence[int]) -> str:
    names = ", ".join(map(str, ids))
    return f"Broker {names}" if len(ids) == 1 else f"Brokers {names}"


def _holds(ids: Sequence[int]) -> str:
    return "holds" if len(ids) == 1 else "hold"


def _named(names: Sequence[str], noun: str) -> str:
    """`1 topic (a)`, `7 topics (a, b, c, …)`."""
    more = ", …" if len(names) > NAMES_SAID_MAX else ""
    return f"{counted(len(names), noun)} ({', '.join(names[:NAMES_SAID_MAX])}{more})"
