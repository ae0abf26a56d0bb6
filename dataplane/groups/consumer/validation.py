"""Which heartbeats are refused before anything is looked at, and which epochs are accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.groups.consumer.group import JOINING, LEAVING_FOR_A_WHILE
from dataplane.groups.consumer.requests import NOT_SAID
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataplane.groups.consumer.group import ConsumerMember
    from dataplane.groups.consumer.requests import ConsumerHeartbeat

KEY_STRING_MAX: Final = 32_767
"""Bytes of a member id: it is part of the keys of stored records, whose strings are int16 long."""


def check_request(request: ConsumerHeartbeat, assignors: Collection[str]) -> None:
    """KafkaError, with Kafka's words, for a request that contradicts itself."""
    complaint = _complaint(request)
    if complaint is not None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, complaint)
    if request.assignor is not None and request.assignor not in assignors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.assignor[:200]} is not supported. "
            f"Supported assignors: {', '.join(assignors)}.",
        )


def _complaint(request: ConsumerHeartbeat) -> str | None:
    epoch = request.member_epoch
    needs_id = request.makes_its_own_id or epoch != JOINING
    leaves_nameless = epoch == LEAVING_FOR_A_WHILE and request.instance_id is None
    wrong = (
        (not request.group_id, "GroupId can't be empty."),
        (len(request.member_id.encode()) > KEY_STRING_MAX, "MemberId is too long."),
        (request.instance_id == "", "InstanceId can't be empty."),
        (request.rack_id == "", "RackId can't be empty."),
        (not request.member_id and needs_id, "MemberId can't be empty."),
        (leaves_nameless, "InstanceId can't be null."),
        (epoch < LEAVING_FOR_A_WHILE, "MemberEpoch is invalid."),
    )
    complaint = next((words for is_so, words in wrong if is_so), None)
    if complaint is None and epoch == JOINING:
        complaint = _complaint_about_joining(request)
    return complaint


def _complaint_about_joining(request: ConsumerHeartbeat) -> str | None:
    if request.rebalance_timeout_ms == NOT_SAID:
        return "RebalanceTimeoutMs must be provided in first request."
    if request.owned is None or request.owned:
        return "TopicPartitions must be empty when (re-)joining."
    if request.topics is None and request.regex is None:
        return (
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
            "(re-)joining."
        )
    return None


def check_epoch(member: ConsumerMember, request: ConsumerHeartbeat) -> None:
    """KafkaError(FENCED_MEMBER_EPOCH) unless the member speaks with its epoch.

    The epoch before is accepted from a member that has no more than it was given: it has not seen
    its last answer. So is joining again: who joins has given everything up.
    """
    epoch = request.member_epoch
    if epoch in (member.epoch, JOINING):
        return
    has_missed_an_answer = (
        0 < epoch < member.epoch
        and epoch == member.previous_epoch
        and request.owned is not None
        and request.owned <= member.assigned
    )
    if has_missed_an_answer:
        return
    relation = "greater" if epoch > member.epoch else "smaller"
    raise KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {relation} member epoch ({epoch}) than the one known by "
        f"the group coordinator ({member.epoch}). The member must abandon all its partitions and "
        "rejoin.",
    )


def check_instance(member: ConsumerMember | None, request: ConsumerHeartbeat) -> ConsumerMember:
    """The static member that the request names, if it speaks for itself."""
    if member is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {request.instance_id} is unknown."
        )
    if member.member_id != request.member_id:
        raise KafkaError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {request.member_id} with instance id {request.instance_id} was fenced "
            f"by member {member.member_id}.",
        )
    return member
