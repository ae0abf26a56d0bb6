"""What a user should know before moving replicas."""

from collections.abc import Sequence
from typing import Any

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.risks import Risk
from controlplane.operations.warnings import warning_of
from controlplane.reassignments.rules import Move
from controlplane.reassignments.selectors import Truth
from controlplane.reassignments.services import RATE_KEYS

MIN_ISR = "min.insync.replicas"
TOPICS_A_QUESTION = 500


def plan_warnings(
    gateway: ClusterGateway, moves: Sequence[Move], truth: Truth, throttle: int | None
) -> list[dict[str, Any]]:
    found = []
    if throttle is None and any(move.adding and move.size_bytes != 0 for move in moves):
        found.append(warning_of("unthrottled"))
    if throttle is not None:
        found.append(warning_of("throttle-is-wide", "info"))
        if any(move.adding and move.size_bytes != 0 for move in moves):
            found.append(warning_of("throttle-is-coarse", "info"))
    fewer = [move for move in moves if len(move.after) < len(move.before)]
    if fewer:
        found.append(
            warning_of("fewer-replicas", "danger", risk=Risk.LOSES_DATA, partitions=len(fewer))
        )
    one_rack = [move for move in moves if _on_one_rack(move, truth)]
    if one_rack:
        found.append(warning_of("one-rack/replicas", partitions=len(one_rack)))
    out_of_sync = _out_of_sync(moves, truth)
    if out_of_sync:
        found.append(warning_of("under-replicated", "danger", partitions=out_of_sync))
    leftover, not_asked = _leftover_throttle(gateway, truth)
    if not_asked:
        found.append(warning_of("throttle-unknown", brokers=", ".join(map(str, not_asked))))
    if leftover:
        found.append(warning_of("throttle-present", brokers=", ".join(map(str, leftover))))
    return found


def min_isr_warnings(gateway: ClusterGateway, moves: Sequence[Move]) -> list[dict[str, Any]]:
    """What fewer replicas than before mean for writers with acks=all."""
    after: dict[str, int] = {}
    for move in moves:
        if len(move.after) < len(move.before):
            least = after.get(move.tp.topic, len(move.after))
            after[move.tp.topic] = min(least, len(move.after))
    needed = _min_isr(gateway, sorted(after))
    below = [name for name, left in after.items() if left < needed.get(name, 0)]
    exactly = [name for name, left in after.items() if left == needed.get(name) and left > 1]
    unknown = [name for name in after if name not in needed]
    found = []
    if below:
        found.append(warning_of("below-min-isr/moves", "danger", **_named(below)))
    if exactly:
        found.append(warning_of("at-min-isr", **_named(exactly)))
    if unknown:
        found.append(warning_of("min-isr-unknown", **_named(unknown)))
    return found


def _min_isr(gateway: ClusterGateway, topics: Sequence[str]) -> dict[str, int]:
    """By topic, where the brokers say it."""
    found: dict[str, int] = {}
    try:
        for at in range(0, len(topics), TOPICS_A_QUESTION):
            some = gateway.topic_configs(topics[at : at + TOPICS_A_QUESTION], (MIN_ISR,))
            for name, entries in some.items():
                for entry in entries:
                    if entry.name == MIN_ISR and entry.value and entry.value.isdigit():
                        found[name] = int(entry.value)
    except GatewayError:
        return found
    return found


def _named(topics: Sequence[str], most: int = 5) -> dict[str, Any]:
    """Parameters of sentences with topics in them."""
    ordered = sorted(topics)
    return {"topics": ", ".join(ordered[:most]), "more": len(ordered[most:])}


def _on_one_rack(move: Move, truth: Truth) -> bool:
    """Newly so, and avoidable: the cluster has more than one rack."""
    if len(set(truth.racks.values())) < 2 or len(move.after) < 2:
        return False
    return (
        len({truth.racks.get(broker) for broker in move.after}) == 1
        and len({truth.racks.get(broker) for broker in move.before}) > 1
    )


def _out_of_sync(moves: Sequence[Move], truth: Truth) -> int:
    touched = {move.tp for move in moves}
    return sum(
        len(part.isr) < len(part.replicas)
        for topic in truth.topics.values()
        for part in topic.partitions
        if (topic.name, part.partition) in touched
    )


def _leftover_throttle(gateway: ClusterGateway, truth: Truth) -> tuple[list[int], list[int]]:
    """(brokers with a throttle, brokers of which nobody knows)."""
    answering = sorted(truth.held)
    throttled = [
        broker
        for broker, entries in gateway.broker_configs(answering).items()
        if any(
            entry.name in RATE_KEYS and entry.source == "DYNAMIC_BROKER_CONFIG" for entry in entries
        )
    ]
    return sorted(throttled), sorted(set(truth.racks) - set(answering))
