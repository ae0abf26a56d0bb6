"""Which reassignments may begin, be cancelled or be completed, and what that does to replicas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from dataplane.cluster.context import ControllerContext
from dataplane.cluster.failover import Changes
from dataplane.cluster.reassignment import begin, cancel, complete, is_complete, unneeded_after
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

Target: TypeAlias = tuple[int, ...] | None
"""Replicas to move to; None cancels."""


class ReplicaChanges(NamedTuple):
    """Replicas that have no data yet, and per partition those that are no longer wanted."""

    new_on: set[tuple[TopicPartition, int]]
    dropped: dict[TopicPartition, tuple[int, ...]]


def decide(
    context: ControllerContext, targets: Mapping[TopicPartition, Target]
) -> tuple[Changes, dict[TopicPartition, KafkaError | None]]:
    """Begin or cancel, each partition by itself: new states, and outcomes (None: accepted)."""
    results: dict[TopicPartition, KafkaError | None] = {}
    accepted: Changes = {}
    for partition, target in targets.items():
        try:
            accepted[partition] = _decide(context, partition, target)
            results[partition] = None
        except KafkaError as refusal:
            results[partition] = refusal
    return accepted, results


def _decide(
    context: ControllerContext, partition: TopicPartition, target: Target
) -> PartitionState:
    state = context.state(partition)
    if state is None or (context.is_queued_for_deletion(partition.topic) and target is not None):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
    if target is None:
        if not state.is_reassigning:
            raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        after = cancel(state, context.electable_for(partition))
    else:
        _check_target(context, target)
        after = begin(state, target, context.electable_for(partition))
    if after is None:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "None of the replicas that would stay is in sync: records would be lost.",
        )
    return after


def _check_target(context: ControllerContext, target: tuple[int, ...]) -> None:
    problem = None
    if not target:
        problem = "Empty replica list specified in partition reassignment."
    elif len(set(target)) != len(target):
        problem = f"Duplicate replica ids in partition reassignment replica list: {list(target)}"
    elif any(broker < 0 for broker in target):
        problem = f"Invalid broker id in replica list: {list(target)}"
    else:
        live = context.electable
        if not live.issuperset(target):
            problem = (
                f"Replica assignment has brokers that are not alive. "
                f"Replica list: {list(target)}, live broker list: {sorted(live)}"
            )
    if problem:
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)


def completed(
    context: ControllerContext, partitions: Iterable[TopicPartition] | None = None
) -> Changes:
    """States after those reassignments whose target replicas are all in sync.

    None looks at all that are under way.
    """
    finished: Changes = {}
    for partition in sorted(context.reassigning if partitions is None else partitions):
        state = context.state(partition)
        if state is None or not is_complete(state):
            continue
        done = complete(state, context.electable_for(partition))
        if done is not None:
            finished[partition] = done
    return finished


def replica_changes(context: ControllerContext, changes: Changes) -> ReplicaChanges:
    """What new states add to and take from the brokers, before the context holds them."""
    new_on: set[tuple[TopicPartition, int]] = set()
    dropped: dict[TopicPartition, tuple[int, ...]] = {}
    for partition, after in changes.items():
        before = context.state(partition)
        if before is None:
            continue
        new_on |= {(partition, r) for r in after.replicas if r not in before.replicas}
        dropped[partition] = unneeded_after(before, after)
    return ReplicaChanges(new_on, dropped)


def ongoing(context: ControllerContext, partitions: list[TopicPartition] | None) -> Changes:
    """States of the partitions under reassignment; None asks for all."""
    asked = sorted(context.reassigning) if partitions is None else partitions
    return {
        partition: state
        for partition in asked
        if (state := context.state(partition)) is not None and state.is_reassigning
    }
