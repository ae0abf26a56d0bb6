"""One member's next step from what it has to what it is to have.

First it gives up what it must; it keeps its epoch until it has said so. Then it moves to the
target's epoch and takes what nobody else holds; what others still hold it gets as they let go.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.groups.consumer.id_partition import NOTHING
from dataplane.groups.consumer.states import MemberState

if TYPE_CHECKING:
    from dataplane.groups.consumer.group import ConsumerGroup, ConsumerMember
    from dataplane.groups.consumer.id_partition import Assignment


def next_step(
    group: ConsumerGroup, member: ConsumerMember, owned: Assignment | None
) -> ConsumerMember:
    """The member as it is to be stored and answered; itself when nothing changes.

    `owned` is what the member says that it holds, None when it does not say.
    """
    if member.has_reached(group.target_epoch):
        return member
    if member.state is MemberState.UNREVOKED_PARTITIONS and (
        owned is None or owned & member.revoking
    ):
        return member
    target = group.target_of(member.member_id)
    kept = member.assigned & target
    given_up = member.assigned - target
    if given_up and (owned is None or owned & given_up):
        return _changed(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            epoch=member.epoch,
            assigned=kept,
            revoking=given_up,
        )
    missing = target - kept
    free = frozenset(part for part in missing if group.is_free_for(member.member_id, part))
    waits = len(free) < len(missing)
    return _changed(
        member,
        state=MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE,
        epoch=group.target_epoch,
        assigned=kept | free,
        revoking=NOTHING,
    )


def _changed(
    member: ConsumerMember,
    *,
    state: MemberState,
    epoch: int,
    assigned: Assignment,
    revoking: Assignment,
) -> ConsumerMember:
    """Who has not seen the answer may come with the epoch that it had before."""
    changed = dataclasses.replace(
        member, state=state, epoch=epoch, assigned=assigned, revoking=revoking
    )
    if changed == member:
        return member
    return dataclasses.replace(changed, previous_epoch=member.epoch)
