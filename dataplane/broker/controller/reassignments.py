"""The controller moves replicas: begins, cancels and completes reassignments."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller import topics as controller_topics
from dataplane.cluster.reassignment import begin, cancel, complete, is_complete, unneeded_after
from dataplane.cluster.requests import Stop
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataplane.broker.controller.controller import Controller
    from dataplane.model.partition import PartitionState

log = logging.getLogger(__name__)

Target = tuple[int, ...] | None
"""Replicas to move to; None cancels."""


async def reassign(
    controller: Controller, targets: Mapping[TopicPartition, Target]
) -> dict[TopicPartition, KafkaError | None]:
    """Begin or cancel, each partition by itself. None: accepted."""
    results: dict[TopicPartition, KafkaError | None] = {}
    accepted: dict[TopicPartition, PartitionState] = {}
    for partition, target in targets.items():
        try:
            accepted[partition] = _decide(controller, partition, target)
            results[partition] = None
        except KafkaError as refusal:
            results[partition] = refusal
    await _apply(controller, accepted)
    await complete_ready(controller, accepted)
    return results


def _decide(controller: Controller, partition: TopicPartition, target: Target) -> PartitionState:
    context = controller.context
    state = context.state(partition)
    if state is None or (context.is_queued_for_deletion(partition.topic) and target is not None):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
    if target is None:
        if not state.is_reassigning:
            raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        after = cancel(state, context.electable_for(partition))
    else:
        _check_target(controller, target)
        after = begin(state, target, context.electable_for(partition))
    if after is None:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "None of the replicas that would stay is in sync: records would be lost.",
        )
    return after


def _check_target(controller: Controller, target: tuple[int, ...]) -> None:
    problem = None
    if not target:
        problem = "Empty replica list specified in partition reassignment."
    elif len(set(target)) != len(target):
        problem = f"Duplicate replica ids in partition reassignment replica list: {list(target)}"
    elif any(broker < 0 for broker in target):
        problem = f"Invalid broker id in replica list: {list(target)}"
    else:
        live = controller.context.electable
        if not live.issuperset(target):
            problem = (
                f"Replica assignment has brokers that are not alive. "
                f"Replica list: {list(target)}, live broker list: {sorted(live)}"
            )
    if problem:
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)


async def _apply(controller: Controller, changes: Mapping[TopicPartition, PartitionState]) -> None:
    """Write new replica sets, tell everybody, and stop the replicas that are no longer wanted."""
    if not changes:
        return
    new_on: set[tuple[TopicPartition, int]] = set()
    dropped: dict[TopicPartition, tuple[int, ...]] = {}
    for partition, after in changes.items():
        before = controller.context.state(partition)
        if before is None:
            continue
        new_on |= {(partition, r) for r in after.replicas if r not in before.replicas}
        dropped[partition] = unneeded_after(before, after)
    await controller.commit(dict(changes), assignments=True, new_on=new_on)
    for partition, replicas in dropped.items():
        stop = Stop(changes[partition].leader_epoch, delete=True)
        controller.enqueue_stop_replica(partition, replicas, stop)
    controller.wake()
    waiting = {
        partition.topic
        for partition in changes
        if controller.context.is_queued_for_deletion(partition.topic)
    }
    await controller_topics.start_deletions(controller, sorted(waiting))


async def complete_ready(
    controller: Controller, partitions: Mapping[TopicPartition, object] | None = None
) -> None:
    """Finish those reassignments whose target replicas are all in sync."""
    context = controller.context
    finished: dict[TopicPartition, PartitionState] = {}
    for partition in sorted(context.reassigning if partitions is None else partitions):
        state = context.state(partition)
        if state is None or not is_complete(state):
            continue
        done = complete(state, context.electable_for(partition))
        if done is not None:
            log.info("reassignment of %s is complete: %s", partition, list(done.replicas))
            finished[partition] = done
    await _apply(controller, finished)


def ongoing(
    controller: Controller, partitions: list[TopicPartition] | None
) -> dict[TopicPartition, PartitionState]:
    """States of the partitions under reassignment; None asks for all."""
    context = controller.context
    asked = sorted(context.reassigning) if partitions is None else partitions
    return {
        partition: state
        for partition in asked
        if (state := context.state(partition)) is not None and state.is_reassigning
    }
