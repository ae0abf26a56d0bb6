"""Where replicas are: as the last verified reassignment left them, against what brokers say; and
whether they are spread over racks. Pure.

A partition that nobody has reassigned is where Kafka has put it, and has no desired brokers. That
its replicas are in different racks is wanted of every partition; of one that a verified operation
has left as it is, somebody has seen it in the plan. What is being moved is on its way, and says
nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from controlplane.drift.differences import REPLICAS, Difference, way
from controlplane.gateway.types import TP
from controlplane.observed.drift_sentences import difference_said, problem_said

KIND: Final = "reassignment"
BROKERS_FIELD, RACKS_FIELD = "brokers", "racks"
NAMED_MAX: Final = 10
MOVES_MAX: Final = 1_000
"""Partitions of one topic that one plan takes back or over."""
ANSWER_MOVES_MAX: Final = 5_000
"""Of all topics of one answer together."""
THROTTLE_BYTES_PER_S: Final = 50 * 2**20
Replicas = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A verified reassignment; `partitions` as its diff has them."""

    id: str
    at: datetime
    partitions: Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    replicas: Replicas
    operation_id: str
    at: datetime


def desired_replicas(operations: Iterable[Moved], made: Mapping[str, datetime]) -> dict[TP, Wanted]:
    """By partition, of operations oldest first; `made`: when an operation made or deleted a topic
    last, after which nothing older is about it.
    """
    found: dict[TP, Wanted] = {}
    for operation in operations:
        for row in operation.partitions:
            since = made.get(row["topic"])
            if since is None or since < operation.at:
                found[TP(row["topic"], row["partition"])] = Wanted(
                    replicas=tuple(row["after"]), operation_id=operation.id, at=operation.at
                )
    return found


def placement_drift(
    topic: str,
    wanted: Mapping[int, Wanted],
    seen: Mapping[int, Replicas],
    *,
    live: Collection[int],
) -> Difference | None:
    """Of one topic: partitions that are on other brokers, or prefer another leader."""
    other = {
        number: (each, seen[number])
        for number, each in sorted(wanted.items())
        if number in seen and seen[number] != each.replicas
    }
    if not other:
        return None
    only_order = all(set(now) == set(each.replicas) for each, now in other.values())
    left = {number: each.replicas for number, (each, _) in other.items()}
    now = {number: replicas for number, (_, replicas) in other.items()}
    newest = max((each for each, _ in other.values()), key=lambda each: each.at)
    gone = sorted({b for replicas in left.values() for b in replicas if b not in live})
    too_many = len(other) > MOVES_MAX
    sentence = "replicas/leaders" if only_order else "replicas/brokers"
    return Difference(
        area=REPLICAS,
        name=topic,
        field=BROKERS_FIELD,
        desired=_said(left),
        observed=_said(now),
        operation_id=newest.operation_id,
        **difference_said(sentence, topic=topic, **_where(now)),
        back=None if gone or too_many else _moves(topic, left, throttled=True),
        **_why_not_back(gone, too_many=too_many),
        adopt=None if too_many else _moves(topic, now, adopt=True),
        **_too_many("adopt", is_so=too_many),
    )


def racks_drift(
    topic: str,
    seen: Mapping[int, Replicas],
    racks: Mapping[int, str],
    *,
    accepted: Mapping[int, Wanted],
    live: Collection[int],
) -> Difference | None:
    """Of one topic: partitions with fewer racks than they could have.

    `racks` is by broker: a replica on one that is not in it says nothing of its partition.
    `accepted` is what verified operations left: of a partition that is so, somebody has seen it.
    """
    there = len({racks[broker] for broker in live if broker in racks})
    bad = {
        number: replicas
        for number, replicas in sorted(seen.items())
        if all(broker in racks for broker in replicas)
        and len({racks[broker] for broker in replicas}) < min(len(replicas), there)
        and not (number in accepted and accepted[number].replicas == replicas)
    }
    if not bad:
        return None
    too_many = len(bad) > MOVES_MAX
    most = max(min(len(replicas), there) for replicas in bad.values())
    return Difference(
        area=REPLICAS,
        name=topic,
        field=RACKS_FIELD,
        desired=f"in {most} racks",
        observed=_said(bad, racks),
        operation_id=None,
        **difference_said("replicas/racks", topic=topic, most=most, **_where(bad, racks)),
        back=way(
            KIND,
            topics=[topic],
            target_brokers=sorted(live),
            throttle_bytes_per_s=THROTTLE_BYTES_PER_S,
        ),
        adopt=None if too_many else _moves(topic, bad, adopt=True),
        **_too_many("adopt", is_so=too_many),
    )


def _too_many(way: str, *, is_so: bool = True) -> dict[str, Any]:
    return problem_said(way, "too-many", most=MOVES_MAX) if is_so else problem_said(way)


def within(difference: Difference, room: int) -> tuple[Difference, int]:
    """The difference with those of its plans for whose moves there is room, and the room left."""
    back, adopt = _moves_of(difference.back), _moves_of(difference.adopt)
    if back > room:
        difference, back = replace(difference, back=None, **_too_many("back")), 0
    room -= back
    if adopt > room:
        difference, adopt = replace(difference, adopt=None, **_too_many("adopt")), 0
    return difference, room - adopt


def _moves_of(plan: Mapping[str, Any] | None) -> int:
    return 0 if plan is None else len(plan["inputs"].get("moves", ()))


def _why_not_back(gone: list[int], *, too_many: bool) -> dict[str, Any]:
    if gone:
        named = ", ".join(map(str, gone[:NAMED_MAX]))
        return problem_said("back", "broker-gone", brokers=named)
    return _too_many("back", is_so=too_many)


def _moves(
    topic: str, where: Mapping[int, Replicas], *, adopt: bool = False, throttled: bool = False
) -> dict[str, Any]:
    moves = [
        {"topic": topic, "partition": number, "replicas": list(replicas)}
        for number, replicas in sorted(where.items())
    ]
    more: dict[str, Any] = {"adopt": True} if adopt else {}
    if throttled:
        more["throttle_bytes_per_s"] = THROTTLE_BYTES_PER_S
    return way(KIND, moves=moves, **more)


def _where(where: Mapping[int, Replicas], racks: Mapping[int, str] | None = None) -> dict[str, Any]:
    """As `_said`, in the signs of every language: `0 → 1, 2 (rack-a)`."""

    def of(replicas: Replicas) -> str:
        named = ", ".join(map(str, replicas))
        return named if racks is None else f"{named} ({_racks_of(replicas, racks)})"

    first = sorted(where.items())[:NAMED_MAX]
    said = "; ".join(f"{number} → {of(replicas)}" for number, replicas in first)
    return {"where": said, "more": max(len(where) - NAMED_MAX, 0)}


def _racks_of(replicas: Replicas, racks: Mapping[int, str]) -> str:
    return ", ".join(sorted({racks[broker] for broker in replicas}))


def _said(where: Mapping[int, Replicas], racks: Mapping[int, str] | None = None) -> str:
    def of(replicas: Replicas) -> str:
        named = ", ".join(map(str, replicas))
        return named if racks is None else f"{named} (rack {_racks_of(replicas, racks)})"

    texts = [
        f"partition {number} on {of(replicas)}"
        for number, replicas in sorted(where.items())[:NAMED_MAX]
    ]
    more = len(where) - NAMED_MAX
    return "; ".join(texts) + (f" and {more} more partitions" if more > 0 else "")
