"""A broker asks to be relieved of its partitions before it stops."""

from __future__ import annotations

from dataplane.cluster.context import ControllerContext
from dataplane.cluster.election import elect_for_shutdown, without_replicas
from dataplane.cluster.failover import Changes
from dataplane.cluster.requests import Stop
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition

UNKNOWN_EPOCH = -1


def check_shutdown(context: ControllerContext, broker: int, epoch: int) -> None:
    """Raises KafkaError: BROKER_NOT_AVAILABLE for a broker that is not registered,
    STALE_BROKER_EPOCH for a former life of it.
    """
    known = context.brokers.get(broker)
    if known is None:
        raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE)
    if epoch != UNKNOWN_EPOCH and epoch < known.epoch:
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH)


def leave(context: ControllerContext, broker: int) -> tuple[Changes, list[TopicPartition]]:
    """Before `broker` stops: leadership moves away, and it leaves the ISRs it follows in.

    Returns the changes, and the partitions that `broker` still leads because no other replica can.
    """
    stopping = context.shutting_down | {broker}
    changes: Changes = {}
    remaining: list[TopicPartition] = []
    for partition in context.partitions_on([broker]):
        state = context.state(partition)
        if state is None or context.is_deletion_started(partition.topic):
            continue
        if state.leader == broker:
            moved = elect_for_shutdown(state, context.live_for(partition), stopping)
            if moved is not None:
                changes[partition] = moved
            elif len(state.replicas) > 1:
                remaining.append(partition)
        else:
            shrunk = without_replicas(state, {broker})
            if shrunk is not None:
                changes[partition] = shrunk
    return changes, remaining


def followers_to_stop(context: ControllerContext, broker: int) -> list[tuple[TopicPartition, Stop]]:
    """Replicas of a stopping broker that lead nothing; their data stays."""
    stops = []
    for partition in context.partitions_on([broker]):
        state = context.state(partition)
        deleting = context.is_deletion_started(partition.topic)
        if state is not None and state.leader != broker and not deleting:
            stops.append((partition, Stop(state.leader_epoch, delete=False)))
    return stops
