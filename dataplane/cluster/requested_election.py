"""Elections that somebody asks for: of preferred leaders, or of any live replica."""

from __future__ import annotations

from collections.abc import Iterable

from dataplane.cluster.context import ControllerContext
from dataplane.cluster.election import ElectionType, elect_offline, elect_preferred
from dataplane.cluster.failover import Changes
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState


def elect_requested(
    context: ControllerContext,
    election: ElectionType,
    partitions: Iterable[TopicPartition] | None,
) -> tuple[Changes, dict[TopicPartition, KafkaError | None]]:
    """New states to write, and each partition's outcome: None, or why nobody was elected.

    None asks for every partition; those that need no election are then left out.
    """
    everything = partitions is None
    asked = [p for p, _ in context.partitions()] if partitions is None else list(partitions)
    results: dict[TopicPartition, KafkaError | None] = {}
    changes: Changes = {}
    for partition in asked:
        verdict = _elect(context, partition, election)
        if isinstance(verdict, PartitionState):
            changes[partition] = verdict
            results[partition] = None
        elif not (everything and verdict.code is ErrorCode.ELECTION_NOT_NEEDED):
            results[partition] = verdict
    return changes, results


def _elect(
    context: ControllerContext, partition: TopicPartition, election: ElectionType
) -> PartitionState | KafkaError:
    state = context.state(partition)
    if state is None or context.is_deletion_started(partition.topic):
        return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
    electable = context.electable_for(partition)
    if election is ElectionType.PREFERRED:
        if state.leader == state.preferred_leader:
            return KafkaError(ErrorCode.ELECTION_NOT_NEEDED)
        led = elect_preferred(state, electable)
        return led or KafkaError(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
            f"Broker {state.preferred_leader}, preferred for {partition}, is not live and in sync.",
        )
    if state.leader in context.live_for(partition):
        return KafkaError(ErrorCode.ELECTION_NOT_NEEDED)
    led = elect_offline(state, electable, unclean=True)
    return led or KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)
