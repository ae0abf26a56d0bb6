"""ConsumerGroupDescribe (69), versions 0-1 (KIP-848): state and members of consumer groups.

Behaviour: needs Describe on each group, and on every topic that its members subscribe to or have;
else the group is answered with TOPIC_AUTHORIZATION_FAILED and nothing of it. A classic group is not
found, nor is one that does not exist. Partitions of topics that are gone are left out.
Version notes: 1 which protocol a member speaks (all the consumer protocol here).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.groups.consumer.id_partition import by_topic
from dataplane.handlers.authorized_operations import authorized_operations
from dataplane.handlers.group_access import may_use_group, require_consumer_protocol
from dataplane.handlers.turns import in_turns
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupDescribeResponseAssignment,
    ConsumerGroupDescribeResponseGroup,
    ConsumerGroupDescribeResponseMember,
    ConsumerGroupDescribeResponseTopicPartitions,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.groups.consumer.id_partition import Assignment
    from dataplane.groups.consumer.requests import ConsumerMemberDescription

CLASSIC_MEMBER: Final = 0
CONSUMER_MEMBER: Final = 1
_HIDDEN: Final = "The group has described topic(s) that the client is not authorized to describe."


async def handle(
    context: RequestContext, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    require_consumer_protocol(context)
    return ConsumerGroupDescribeResponse(
        groups=[
            _group(context, group_id, with_operations=request.include_authorized_operations)
            async for group_id in in_turns(request.group_ids)
        ]
    )


def _group(
    context: RequestContext, group_id: str, *, with_operations: bool
) -> ConsumerGroupDescribeResponseGroup:
    try:
        described = _described(context, group_id)
    except KafkaError as error:
        return ConsumerGroupDescribeResponseGroup(
            group_id=group_id, error_code=error.code, error_message=error.message
        )
    if with_operations:
        described.authorized_operations = authorized_operations(
            context, ResourceType.GROUP, group_id
        )
    return described


def _described(context: RequestContext, group_id: str) -> ConsumerGroupDescribeResponseGroup:
    """KafkaError when nothing of the group is to be shown."""
    if not may_use_group(context, AclOperation.DESCRIBE, group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    found = context.broker.group_coordinator.describe_consumer_group(group_id)
    if found.error is not ErrorCode.NONE:
        raise KafkaError(found.error, found.message)
    members = [_member(context, each) for each in found.members]
    shown = {name for member in members for name in _names(member)}
    if not all(context.authorize(AclOperation.DESCRIBE, ResourceType.TOPIC, n) for n in shown):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, _HIDDEN)
    return ConsumerGroupDescribeResponseGroup(
        group_id=group_id,
        group_state=found.state,
        group_epoch=found.epoch,
        assignment_epoch=found.target_epoch,
        assignor_name=found.assignor,
        members=members,
    )


def _member(
    context: RequestContext, described: ConsumerMemberDescription
) -> ConsumerGroupDescribeResponseMember:
    member = described.member
    return ConsumerGroupDescribeResponseMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex,
        assignment=_assignment(context, member.assigned),
        target_assignment=_assignment(context, described.target),
        member_type=CONSUMER_MEMBER if member.classic is None else CLASSIC_MEMBER,
    )


def _assignment(
    context: RequestContext, partitions: Assignment
) -> ConsumerGroupDescribeResponseAssignment:
    topics = context.broker.group_coordinator.topics
    return ConsumerGroupDescribeResponseAssignment(
        topic_partitions=[
            ConsumerGroupDescribeResponseTopicPartitions(
                topic_id=topic_id, topic_name=name, partitions=indexes
            )
            for topic_id, indexes in by_topic(partitions).items()
            if (name := topics.name_of(topic_id)) is not None
        ]
    )


def _names(member: ConsumerGroupDescribeResponseMember) -> set[str]:
    held = (*member.assignment.topic_partitions, *member.target_assignment.topic_partitions)
    return {*member.subscribed_topic_names, *(topic.topic_name for topic in held)}
