"""Requests to create topics and partitions: checked, and placed on brokers. Pure."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence

from dataplane.cluster.context import NEVER_LED, ControllerContext
from dataplane.cluster.election import elect_first
from dataplane.cluster.placement import place
from dataplane.cluster.topic_names import check_collision, check_name, collision_key
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.partition import PartitionState

PARTITIONS_MAX = 200_000
"""Most partitions one request may make; a bound on memory, far above what a broker can carry."""


@dataclasses.dataclass(frozen=True, slots=True)
class TopicRequest:
    """A topic to create. -1 asks for the default; `assignments` excludes both counts."""

    name: str
    partitions: int = -1
    replication_factor: int = -1
    assignments: Mapping[int, Sequence[int]] = dataclasses.field(default_factory=dict)
    configs: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Defaults:
    """The brokers' defaults for what a request leaves open."""

    partitions: int
    replication_factor: int


@dataclasses.dataclass(frozen=True, slots=True)
class PlacementSeed:
    """Where the placement starts; drawn by the caller, so that planning is repeatable."""

    start_index: int
    start_shift: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic ready to be written."""

    name: str
    topic_id: uuid.UUID
    replicas: dict[int, tuple[int, ...]]
    configs: dict[str, str]

    @property
    def replication_factor(self) -> int:
        return len(next(iter(self.replicas.values())))


def plan_topics(
    context: ControllerContext,
    requests: Iterable[TopicRequest],
    defaults: Defaults,
    draw_seed: Callable[[], PlacementSeed],
    draw_id: Callable[[], uuid.UUID],
) -> dict[str, NewTopic | KafkaError]:
    """Topics that can be made, and the others' refusals, by name.

    A request is also held against the names of those before it.
    """
    results: dict[str, NewTopic | KafkaError] = {}
    planned: dict[str, list[str]] = {}
    for request in requests:
        same_key = planned.setdefault(collision_key(request.name), [])
        try:
            check_collision(request.name, same_key)
            results[request.name] = plan_topic(context, request, defaults, draw_seed(), draw_id())
            same_key.append(request.name)
        except KafkaError as refusal:
            results[request.name] = refusal
    return results


def plan_topic(
    context: ControllerContext,
    request: TopicRequest,
    defaults: Defaults,
    seed: PlacementSeed,
    topic_id: uuid.UUID,
) -> NewTopic:
    """Check a request and place its replicas. Raises KafkaError with the protocol's own code."""
    check_name(request.name)
    if request.name in context.topics:
        if context.is_queued_for_deletion(request.name):
            message = f"Topic '{request.name}' is marked for deletion."
        else:
            message = f"Topic '{request.name}' already exists."
        raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, message)
    check_collision(request.name, context.colliding(request.name))
    if request.assignments:
        if request.partitions != -1 or request.replication_factor != -1:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                "Both numPartitions or replicationFactor and replicasAssignments were set. "
                "Both cannot be used at the same time.",
            )
        replicas = _manual(context, request.assignments, first=0)
    else:
        count = defaults.partitions if request.partitions == -1 else request.partitions
        factor = request.replication_factor
        factor = defaults.replication_factor if factor == -1 else factor
        _check_count(count)
        placed = place(
            _racks(context),
            count,
            factor,
            start_index=seed.start_index,
            start_shift=seed.start_shift,
        )
        replicas = dict(enumerate(placed))
    return NewTopic(request.name, topic_id, replicas, dict(request.configs))


def plan_partitions(
    context: ControllerContext,
    topic: str,
    count: int,
    assignments: Sequence[Sequence[int]] | None,
    seed: PlacementSeed,
) -> dict[int, tuple[int, ...]]:
    """Replicas of the partitions that raise `topic` to `count`. Raises KafkaError."""
    known = context.topics.get(topic)
    if known is None or context.is_queued_for_deletion(topic):
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{topic}' does not exist."
        )
    if any(state.is_reassigning for state in known.partitions.values()):
        raise KafkaError(
            ErrorCode.REASSIGNMENT_IN_PROGRESS,
            f"A partition reassignment is in progress for the topic '{topic}'.",
        )
    have = len(known.partitions)
    if count <= have:
        problem = (
            f"Topic already has {count} partitions."
            if count == have
            else f"Topic currently has {have} partitions, "
            f"which is higher than the requested {count}."
        )
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, problem)
    _check_count(count)
    factor = len(known.partitions[0].replicas)
    if assignments is not None:
        if len(assignments) != count - have:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Increasing the number of partitions by {count - have} but "
                f"{len(assignments)} assignments provided.",
            )
        given = {have + nth: brokers for nth, brokers in enumerate(assignments)}
        if any(len(brokers) != factor for brokers in assignments):
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Inconsistent replication factor: the topic has {factor}.",
            )
        return _manual(context, given, first=have)
    # Goes on where the topic's first placement left off, as Kafka does.
    order = sorted(context.electable)
    head = known.partitions[0].preferred_leader
    start = order.index(head) if head in order else seed.start_index
    placed = place(
        _racks(context),
        count - have,
        factor,
        start_index=start,
        start_shift=start,
        first_partition=have,
    )
    return {have + nth: replicas for nth, replicas in enumerate(placed)}


def first_states(
    context: ControllerContext, replicas: Mapping[int, tuple[int, ...]]
) -> dict[int, PartitionState]:
    """States of new partitions by index; one whose replicas are all dead is left out."""
    electable = context.electable
    return {
        index: led
        for index, brokers in replicas.items()
        if (led := elect_first(assigned(index, brokers), electable)) is not None
    }


def assigned(index: int, replicas: tuple[int, ...]) -> PartitionState:
    """A partition that has replicas and was never led."""
    return PartitionState(index=index, replicas=replicas, leader_epoch=NEVER_LED)


def _racks(context: ControllerContext) -> dict[int, str | None]:
    brokers = {broker: context.brokers[broker].rack for broker in context.electable}
    if any(rack is not None for rack in brokers.values()) and None in brokers.values():
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Not all brokers have rack information for replica rack aware assignment.",
        )
    return brokers


def _check_count(count: int) -> None:
    if count > PARTITIONS_MAX:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS, f"Number of partitions must be at most {PARTITIONS_MAX}."
        )


def _manual(
    context: ControllerContext, assignments: Mapping[int, Sequence[int]], *, first: int
) -> dict[int, tuple[int, ...]]:
    def refuse(message: str) -> KafkaError:
        return KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)

    if sorted(assignments) != list(range(first, first + len(assignments))):
        raise refuse("partitions should be a consecutive 0-based integer sequence")
    factors = {len(brokers) for brokers in assignments.values()}
    if len(factors) != 1 or 0 in factors:
        raise refuse("All partitions should have the same number of replicas, at least one.")
    for index, brokers in assignments.items():
        if len(set(brokers)) != len(brokers):
            raise refuse(f"Duplicate brokers not allowed in replica assignment: {list(brokers)}")
        unknown = [broker for broker in brokers if broker not in context.brokers]
        if unknown:
            raise refuse(f"Unknown broker(s) in replica assignment of partition {index}: {unknown}")
    return {index: tuple(brokers) for index, brokers in sorted(assignments.items())}
