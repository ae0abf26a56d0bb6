"""Online migration (KIP-848): a group with members changes its protocol, and goes on.

A classic group of the embedded consumer protocol becomes a consumer group when a member of the new
protocol joins, and a classic group again when the last of them is gone. Its members stay, with what
they hold; the generation is the epoch. Nothing here has an effect: records are made, and groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.consumer.change import Change
from dataplane.groups.consumer.classic_side import ClassicSide
from dataplane.groups.consumer.group import ConsumerGroup, ConsumerMember
from dataplane.groups.consumer.topics import embedded, named
from dataplane.groups.consumer_protocol import read_assignment, read_subscription
from dataplane.groups.group import ClassicGroup
from dataplane.groups.member import Member
from dataplane.groups.records import group_record, group_tombstone
from dataplane.groups.states import GroupState
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.errors import WireError

if TYPE_CHECKING:
    from dataplane.groups.consumer.id_partition import IdPartition
    from dataplane.groups.consumer.topics import TopicCatalogue
    from dataplane.groups.settings import GroupSettings


def upgraded(classic: ClassicGroup, topics: TopicCatalogue, settings: GroupSettings) -> Change:
    """The change that makes a consumer group of it, in the epoch of the classic generation.

    Every member holds what it was assigned last. KafkaError(GROUP_ID_NOT_FOUND) when the group has
    to stay what it is.
    """
    group_id = classic.group_id
    fits = (
        settings.migration_policy.may_upgrade
        and classic.is_consumer_group
        and len(classic.members) <= settings.consumer_max_size
    )
    if not fits:
        raise _stays_classic(f"Group {group_id} is not a consumer group.")
    change = Change(ConsumerGroup(group_id))
    change.before.append(group_tombstone(group_id))
    try:
        members = [_consumer_member(classic, each, topics) for each in classic.members.values()]
    except WireError as error:
        raise _stays_classic(
            f"Cannot upgrade classic group {group_id} to consumer group because the embedded "
            "consumer protocol is malformed."
        ) from error
    for member in members:
        change.set_member(member)
    change.set_epoch(classic.generation)
    taken: set[IdPartition] = set()
    for member in members:
        # What two were given by an assignor of their own, one holds.
        held = member.assigned - taken
        taken |= held
        change.set_target(member.member_id, held)
        change.set_current(member.holding(held))
    change.set_target_epoch(classic.generation)
    return change


def _stays_classic(message: str) -> KafkaError:
    return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, message)


def _consumer_member(
    classic: ClassicGroup, member: Member, topics: TopicCatalogue
) -> ConsumerMember:
    metadata = member.metadata_for(classic.protocol_name) or member.protocols[0].metadata
    subscription = read_subscription(metadata)
    assignment = read_assignment(member.assignment)
    if assignment.has_user_data:
        raise _stays_classic(
            f"Cannot upgrade classic group {classic.group_id} to consumer group because an "
            "unsupported custom assignor is in use. Please refer to the documentation or switch to "
            "a default assignor before re-attempting the upgrade."
        )
    held = assignment.partitions
    if not held and classic.state is not GroupState.STABLE:
        # A rebalance that was begun again has dropped what the member may still be reading.
        held = subscription.owned
    return ConsumerMember(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        rack_id=subscription.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=subscription.topics,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        epoch=classic.generation,
        previous_epoch=classic.generation,
        assigned=embedded(held, topics),
        classic=ClassicSide(member.session_timeout_ms, member.protocols),
    )


def may_downgrade(group: ConsumerGroup, leaving: set[str], settings: GroupSettings) -> bool:
    """Whether without the leaving only members of the classic protocol are left, and may be."""
    left = [member for member in group.members.values() if member.member_id not in leaving]
    return (
        settings.migration_policy.may_downgrade
        and 0 < len(left) <= settings.max_size
        and all(member.classic is not None for member in left)
    )


def downgrade(change: Change, leaving: set[str], topics: TopicCatalogue, *, now_ms: int) -> None:
    """Replace the group by a classic one: Stable, in the generation of its epoch, with no leader.

    What is assigned is what members may still be reading, not what they were to have: it counts
    until the rebalance that has to follow, or until the group becomes a consumer group again.
    """
    group = change.group
    members = [
        _classic_member(member, topics)
        for member in group.members.values()
        if member.member_id not in leaving
    ]
    classic = ClassicGroup.without_leader(
        group.group_id, members, generation=group.epoch, now_ms=now_ms
    )
    change.remove_group()
    stored = classic.to_value({member.member_id: member.assignment for member in members})
    change.after.append(group_record(group.group_id, stored))
    change.successor = classic


def _classic_member(member: ConsumerMember, topics: TopicCatalogue) -> Member:
    side = member.classic
    if side is None:
        raise ValueError(f"member {member.member_id!r} does not speak the classic protocol")
    return Member(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=side.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        protocols=side.protocols,
        assignment=side.assignment(named(member.assigned | member.revoking, topics)),
    )
