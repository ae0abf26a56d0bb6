"""LeaderAndIsr (4), versions 0-7: the controller sends this broker the roles of its replicas.

Behaviour: needs ClusterAction. A deposed controller gets STALE_CONTROLLER_EPOCH, a command for an
earlier life of this broker STALE_BROKER_EPOCH. A lower leader epoch is refused per partition; an
equal one changes only the replica sets. A role older than its replica's removal is refused too.
Version notes: 2 groups by topic, 5 carries topic ids and answers per topic id, 7 knows KRaft.
A full request (type 2) names every replica of this broker; logs of others are set aside as strays.
Skipped: live leaders' endpoints (they come with UpdateMetadata).
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from dataplane.handlers.inter_broker import require_cluster_action
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.broker.context import RequestContext

FULL = 2
NO_ID = uuid.UUID(int=0)


async def handle(context: RequestContext, request: LeaderAndIsrRequest) -> LeaderAndIsrResponse:
    require_cluster_action(context)
    replica_manager = context.broker.replica_manager
    refused = replica_manager.check_controller(request.controller_epoch, request.broker_epoch)
    if refused != ErrorCode.NONE:
        return LeaderAndIsrResponse(error_code=refused)
    await context.broker.configs.reload_topics(_unknown_topics(context, request))
    refused = replica_manager.check_controller(request.controller_epoch, request.broker_epoch)
    if refused != ErrorCode.NONE:  # a newer controller has spoken meanwhile
        return LeaderAndIsrResponse(error_code=refused)
    if request.type == FULL:
        replica_manager.set_strays_aside(
            {
                TopicPartition(topic, state.partition_index): topic_id
                for topic, topic_id, state in _states(request)
            }
        )
    by_topic: dict[uuid.UUID, LeaderAndIsrTopicError] = {}
    flat: list[LeaderAndIsrPartitionError] = []
    for topic, topic_id, wanted in _states(request):
        error = replica_manager.apply_state(
            TopicPartition(topic, wanted.partition_index),
            topic_id,
            _partition_state(wanted, request.controller_epoch),
            is_new=wanted.is_new,
        )
        answer = LeaderAndIsrPartitionError(
            topic_name=topic, partition_index=wanted.partition_index, error_code=error
        )
        flat.append(answer)
        by_topic.setdefault(topic_id, LeaderAndIsrTopicError(topic_id=topic_id))
        by_topic[topic_id].partition_errors.append(answer)
    if context.header.api_version >= 5:
        return LeaderAndIsrResponse(topics=list(by_topic.values()))
    return LeaderAndIsrResponse(partition_errors=flat)


def _unknown_topics(context: RequestContext, request: LeaderAndIsrRequest) -> set[str]:
    """Topics with partitions that are new here: their settings decide how their logs begin."""
    replica_manager = context.broker.replica_manager
    return {
        topic
        for topic, _topic_id, wanted in _states(request)
        if wanted.is_new
        or replica_manager.get(TopicPartition(topic, wanted.partition_index)) is None
    }


def _states(
    request: LeaderAndIsrRequest,
) -> Iterator[tuple[str, uuid.UUID, LeaderAndIsrPartitionState]]:
    for wanted in request.ungrouped_partition_states:
        yield wanted.topic_name, NO_ID, wanted
    for topic in request.topic_states:
        for wanted in topic.partition_states:
            yield topic.topic_name, topic.topic_id, wanted


def _partition_state(wanted: LeaderAndIsrPartitionState, controller_epoch: int) -> PartitionState:
    return PartitionState(
        index=wanted.partition_index,
        leader=wanted.leader,
        leader_epoch=wanted.leader_epoch,
        partition_epoch=wanted.partition_epoch,
        controller_epoch=controller_epoch,
        replicas=tuple(wanted.replicas),
        isr=tuple(wanted.isr),
        adding=tuple(wanted.adding_replicas),
        removing=tuple(wanted.removing_replicas),
        leader_recovery_state=wanted.leader_recovery_state,
    )
