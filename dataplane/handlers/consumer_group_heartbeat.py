"""ConsumerGroupHeartbeat (68), versions 0-1 (KIP-848): be a member of a consumer group.

Behaviour: needs Read on the group and Describe on each topic subscribed to by name; a regular
expression matches only topics that the caller may describe. Answered once what it has changed is
committed by the in-sync replicas. UNSUPPORTED_VERSION where `group.coordinator.rebalance.protocols`
leaves the protocol out.
Version notes: 1 subscribes by regular expression, and members make their own ids; in 0 an empty id
asks for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.consumer.id_partition import by_topic, of_topics
from dataplane.groups.consumer.requests import ConsumerHeartbeat
from dataplane.handlers.group_access import require_consumer_protocol, require_group
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseAssignment,
    ConsumerGroupHeartbeatResponseTopicPartitions,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.groups.consumer.id_partition import Assignment


async def handle(
    context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse:
    require_consumer_protocol(context)
    require_group(context, AclOperation.READ, request.group_id)

    def may_describe(topic: str) -> bool:
        return context.authorize(AclOperation.DESCRIBE, ResourceType.TOPIC, topic)

    names = request.subscribed_topic_names
    if not all(may_describe(name) for name in names or ()):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    result = await context.broker.group_coordinator.consumer_heartbeat(
        ConsumerHeartbeat(
            group_id=request.group_id,
            member_id=request.member_id,
            member_epoch=request.member_epoch,
            client_id=context.header.client_id or "",
            client_host=f"/{context.connection.client_host}",
            may_describe=may_describe,
            makes_its_own_id=context.header.api_version >= 1,
            instance_id=request.instance_id,
            rack_id=request.rack_id,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            topics=None if names is None else frozenset(names),
            regex=request.subscribed_topic_regex,
            assignor=request.server_assignor,
            owned=_owned(request),
        )
    )
    return ConsumerGroupHeartbeatResponse(
        error_code=result.error,
        error_message=result.message,
        member_id=result.member_id,
        member_epoch=result.member_epoch,
        heartbeat_interval_ms=result.heartbeat_interval_ms,
        assignment=None if result.assignment is None else _assignment(result.assignment),
    )


def _owned(request: ConsumerGroupHeartbeatRequest) -> Assignment | None:
    if request.topic_partitions is None:
        return None
    return of_topics((topic.topic_id, topic.partitions) for topic in request.topic_partitions)


def _assignment(partitions: Assignment) -> ConsumerGroupHeartbeatResponseAssignment:
    return ConsumerGroupHeartbeatResponseAssignment(
        topic_partitions=[
            ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=topic_id, partitions=indexes)
            for topic_id, indexes in by_topic(partitions).items()
        ]
    )
