"""What consumer groups say to offsets: who may commit and fetch, of which topics they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from dataplane.groups.consumer.group import ConsumerGroup
    from dataplane.groups.core import ShardCore
    from dataplane.groups.requests import CommitRequest


def check_commit(group: ConsumerGroup, request: CommitRequest) -> ErrorCode:
    """Whether offsets may be committed: by a member with its epoch, or while it is empty."""
    if request.generation < 0 and not group.members:
        return ErrorCode.NONE
    member = group.members.get(request.member_id)
    is_new_protocol = member is not None and member.classic is None
    if is_new_protocol and not request.has_member_epoch:
        return ErrorCode.UNSUPPORTED_VERSION
    return _check_epoch(group, request.member_id, request.generation)


def check_fetch(
    core: ShardCore, group_id: str, member_id: str | None, member_epoch: int
) -> ErrorCode:
    """Whether who asks for offsets as a member of a consumer group is one, with its epoch."""
    group = core.consumer_groups.find(group_id)
    if group is None or (member_id is None and member_epoch < 0):
        return ErrorCode.NONE
    return _check_epoch(group, member_id or "", member_epoch)


def _check_epoch(group: ConsumerGroup, member_id: str, epoch: int) -> ErrorCode:
    member = group.members.get(member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if member.epoch == epoch:
        return ErrorCode.NONE
    is_new_protocol = member.classic is None
    return ErrorCode.STALE_MEMBER_EPOCH if is_new_protocol else ErrorCode.ILLEGAL_GENERATION
