"""Whether a broker may be put on another host now, and what would be lost by it. Pure.

A broker that comes back under its id with an empty directory is only harmless while every partition
of it is led, and held in sync, by others: were it in the ISR of one, it could be elected with an
empty log, and the others would cut theirs to it. So it is begun elsewhere once no live broker names
it in any ISR, and not before.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from controlplane.clusters.rolls import Facts, Obstacle, Unavoidable, held, obstacles
from controlplane.common.words import counted
from controlplane.gateway.types import TopicDescription
from controlplane.operations.details import detail_of, name_params

MOVE, REBUILD = "move", "rebuild"
"""`move`: its host lives and stops it. `rebuild`: its host is away or was declared lost."""
NAMED_MAX: Final = 5
NOTHING_ACCEPTED: Final = Unavoidable(offline=frozenset(), unwritable=frozenset())
"""A roll takes what no order can avoid, as it is short; a broker may be away for hours here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is known of the broker: `has_row` while it counts as one of the cluster's brokers."""

    broker: int
    has_row: bool
    is_live: bool
    host_alive: bool


def way_of(found: Situation) -> str | Obstacle:
    """How it is put elsewhere, or why it cannot be."""
    if not found.has_row:
        return REBUILD
    if found.host_alive:
        return MOVE
    if found.is_live:
        return Obstacle(
            code="agent-away",
            text=detail_of("obstacle/agent-away", broker=str(found.broker)),
        )
    return REBUILD


def in_the_way(way: str, broker: int, facts: Facts) -> list[Obstacle]:
    """What forbids it now; nothing when it may be done."""
    if way == MOVE:
        return obstacles(broker, facts, NOTHING_ACCEPTED)
    found = []
    lost = would_be_lost(broker, facts.topics)
    if lost:
        found.append(
            Obstacle(
                code="partitions-lost",
                text=detail_of(
                    "obstacle/partitions-lost",
                    partitions=len(lost),
                    broker=str(broker),
                    **name_params(lost, NAMED_MAX),
                ),
            )
        )
    if broker in facts.live:
        found.append(
            Obstacle(code="broker-up", text=detail_of("obstacle/broker-up", broker=str(broker)))
        )
    if facts.controller is None:
        found.append(Obstacle(code="no-controller", text=detail_of("obstacle/no-controller")))
    if facts.moving:
        moving = [f"{tp.topic}-{tp.partition}" for tp in facts.moving]
        text = detail_of(
            "obstacle/reassigning", partitions=len(moving), **name_params(moving, NAMED_MAX)
        )
        found.append(Obstacle(code="reassigning", text=text))
    return found


def would_be_lost(broker: int, topics: Iterable[TopicDescription]) -> list[str]:
    """Partitions of the broker of which nobody else is in sync."""
    return [
        f"{topic}-{part.partition}"
        for topic, part in held(broker, topics)
        if not set(part.isr) - {broker}
    ]


def still_counted(broker: int, topics: Iterable[TopicDescription]) -> list[str]:
    """Partitions that name the broker in their ISR, or as their leader."""
    return [
        f"{topic}-{part.partition}"
        for topic, part in held(broker, topics)
        if broker in part.isr or part.leader == broker
    ]


def sole_holder(broker: int, topics: Iterable[TopicDescription]) -> list[str]:
    """Partitions of which the broker alone is in sync: it must not be taken away."""
    return [
        f"{topic}-{part.partition}"
        for topic, part in held(broker, topics)
        if set(part.isr) == {broker}
    ]


def named(names: Iterable[str]) -> str:
    found = sorted(names)
    more = len(found) - NAMED_MAX
    return ", ".join(found[:NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def bootstrap_after(servers: str, before: tuple[str, int] | None, after: tuple[str, int]) -> str:
    """The cluster's addresses with one broker's replaced by its new one, in their order."""
    old = "" if before is None else f"{before[0]}:{before[1]}"
    new = f"{after[0]}:{after[1]}"
    found = [new if each == old else each for each in servers.split(",") if each]
    return ",".join(dict.fromkeys(found if new in found else [*found, new]))


def rack_reason(rack: str, racks: Mapping[str, int]) -> str:
    """Why there, as far as it is a tenant's to know."""
    there = counted(racks.get(rack, 0), "broker")
    return f"Rack {rack or 'unknown'} has {there} of the cluster without it."
