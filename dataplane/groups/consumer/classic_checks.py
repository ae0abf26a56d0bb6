"""What members of the classic protocol are checked for in a consumer group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.consumer.classic_side import ClassicSide
from dataplane.groups.consumer_protocol import PROTOCOL_TYPE
from dataplane.groups.requests import UNKNOWN_MEMBER_ID
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.errors import WireError

if TYPE_CHECKING:
    from dataplane.groups.consumer.group import ConsumerGroup, ConsumerMember
    from dataplane.groups.consumer_protocol import Subscription
    from dataplane.groups.requests import JoinRequest


def member_of(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[ConsumerMember, ClassicSide]:
    """The caller, if it is the member that it claims to be and speaks the classic protocol."""
    member = group.members.get(member_id)
    if instance_id is not None:
        holder = group.static_member(instance_id)
        if holder is not None and holder.member_id != member_id:
            raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
        member = holder
    if member is None or member.classic is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member, member.classic


def leaving_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[ConsumerMember, ClassicSide]:
    """The same of who is to be removed: an administrator knows the instance id alone."""
    if member_id == UNKNOWN_MEMBER_ID and instance_id is not None:
        member_id = group.static_members.get(instance_id, UNKNOWN_MEMBER_ID)
    return member_of(group, member_id, instance_id)


def check_protocols(group: ConsumerGroup, request: JoinRequest) -> tuple[ClassicSide, Subscription]:
    """KafkaError(INCONSISTENT_GROUP_PROTOCOL) unless the members have a protocol in common.

    It is the classic group that they would have to be, once those of the new protocol are gone.
    """
    refused = KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if request.protocol_type != PROTOCOL_TYPE or not request.protocols:
        raise refused
    sides = [member.classic for member in group.members.values() if member.classic is not None]
    names = {protocol.name for protocol in request.protocols}
    for side in sides:
        names &= {protocol.name for protocol in side.protocols}
    if not names:
        raise refused
    side = ClassicSide(request.session_timeout_ms, request.protocols)
    try:
        return side, side.subscription
    except WireError as error:
        raise refused from error
