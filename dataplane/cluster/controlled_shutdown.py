"""A broker asks to be relieved of its partitions before it stops."""

from __future__ import annotations

from dataplane.cluster.context import ControllerContext
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


def followers_to_stop(context: ControllerContext, broker: int) -> list[tuple[TopicPartition, Stop]]:
    """Replicas of a stopping broker that lead nothing; their data stays."""
    stops = []
    for partition in context.partitions_on([broker]):
        state = context.state(partition)
        deleting = context.is_deletion_started(partition.topic)
        if state is not None and state.leader != broker and not deleting:
            stops.append((partition, Stop(state.leader_epoch, delete=False)))
    return stops
