"""Consumer groups beside classic ones: one id, one kind; offsets belong to the id."""

import functools

import pytest

from dataplane.groups.consumer.offset_checks import check_fetch
from dataplane.groups.requests import CommitRequest, OffsetToCommit
from dataplane.model.errors import ErrorCode as E
from dataplane.model.ids import TopicPartition
from tests.dataplane.groups.consumer.members import Client, World, settle
from tests.dataplane.groups.driver import GROUP

DAY_MS = 24 * 3_600_000


@pytest.fixture
def world():
    made = World()
    made.topics.put("t", 2)
    return made


def commit(world, offset, *, member_id="", epoch=-1, topic="t", knows_epochs=True):
    ticket = world.ticket()
    request = CommitRequest(
        group_id=GROUP,
        member_id=member_id,
        group_instance_id=None,
        generation=epoch,
        offsets={TopicPartition(topic, 0): OffsetToCommit(offset=offset)},
        has_member_epoch=knows_epochs,
    )
    world.take(world.shard.offsets.commit(request, ticket))
    return world.committed(ticket)


def delete_offsets(world, topic="t"):
    ticket = world.ticket()
    where = TopicPartition(topic, 0)
    world.take(world.shard.offsets.delete(GROUP, [where], ticket))
    error, errors = world.answers[ticket]
    return error if error is not E.NONE else errors[where]


def delete_group(world):
    ticket = world.ticket()
    world.take(world.shard.offsets.delete_group(GROUP, ticket))
    return world.answers[ticket]


def test_only_members_commit_with_their_epoch_while_there_are_any(world):
    one = Client(world, "one")
    settle(one)
    assert commit(world, 5, member_id="one", epoch=one.epoch) is E.NONE
    assert world.fetch() == 5
    assert commit(world, 6, member_id="one", epoch=0) is E.STALE_MEMBER_EPOCH
    assert commit(world, 6, member_id="two", epoch=one.epoch) is E.UNKNOWN_MEMBER_ID
    assert commit(world, 6) is E.UNKNOWN_MEMBER_ID
    old = commit(world, 6, member_id="one", epoch=one.epoch, knows_epochs=False)
    assert old is E.UNSUPPORTED_VERSION
    one.leave()
    assert commit(world, 7) is E.NONE
    assert world.fetch() == 7


def test_offsets_are_read_by_anybody_or_by_a_member_with_its_epoch(world):
    settle(Client(world, "one"))
    check = functools.partial(check_fetch, world.shard.core)
    assert check(GROUP, None, -1) is E.NONE
    assert check(GROUP, "one", 1) is E.NONE
    assert check(GROUP, "one", 0) is E.STALE_MEMBER_EPOCH
    assert check(GROUP, "two", 1) is E.UNKNOWN_MEMBER_ID
    assert check("another", "two", 1) is E.NONE


def test_a_member_that_commits_does_not_make_a_classic_group(world):
    one = Client(world, "one")
    settle(one)
    commit(world, 5, member_id="one", epoch=one.epoch)
    assert world.group is None
    listed = world.shard.list_groups()
    assert [(g.group_id, g.protocol_type, g.state, g.kind) for g in listed] == [
        (GROUP, "consumer", "Stable", "consumer")
    ]
    assert (
        world.shard.describe(GROUP).state == "Dead"
    )  # as DescribeGroups shows what is not classic


def test_a_group_with_classic_members_is_no_consumer_group(world):
    world.stable_group(1)
    assert Client(world, "one").leave() is E.GROUP_ID_NOT_FOUND
    joining = {"topics": frozenset({"t"}), "rebalance_timeout_ms": 1, "owned": frozenset()}
    assert world.error("one", 0, **joining) is E.GROUP_ID_NOT_FOUND
    assert world.state == "Stable"
    assert world.shard.consumers.describe(GROUP).error is E.GROUP_ID_NOT_FOUND


def test_a_group_with_consumer_members_takes_no_classic_ones(world):
    settle(Client(world, "one"))
    assert world.joined(world.join()).error is E.INCONSISTENT_GROUP_PROTOCOL
    assert world.heartbeat("one", 1) is E.UNKNOWN_MEMBER_ID
    assert world.consumer_state == "Stable"


def test_an_empty_group_changes_its_kind_and_keeps_its_offsets(world):
    (member,) = world.stable_group(1)
    commit(world, 5, member_id=member, epoch=world.group.generation)
    world.leave(member)
    one = Client(world, "one")
    settle(one)
    assert world.group is None
    assert world.fetch() == 5
    copy = world.reloaded()
    assert GROUP not in copy.core.groups
    assert copy.core.consumer_groups.find(GROUP).equals(world.consumers)
    one.leave()
    world.stable_group(1)
    assert world.consumers is None
    assert world.fetch() == 5
    copy = world.reloaded()
    assert copy.core.consumer_groups.find(GROUP) is None
    assert copy.core.find(GROUP).state.value == "Stable"


def test_a_refused_change_of_kind_leaves_the_classic_group(world):
    commit(world, 5)
    world.hold_writes = True
    one = Client(world, "one")
    one.send()
    world.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert world.consumers is None
    assert world.state == "Empty"
    assert world.fetch() == 5


def test_a_deleted_group_leaves_nothing(world):
    one = Client(world, "one")
    settle(one)
    commit(world, 5, member_id="one", epoch=one.epoch)
    assert delete_group(world) is E.NON_EMPTY_GROUP
    one.leave()
    assert delete_group(world) is E.NONE
    assert delete_group(world) is E.GROUP_ID_NOT_FOUND
    assert world.fetch() == -1
    copy = world.reloaded()
    assert copy.list_groups() == []
    assert (copy.core.durable.consumer_groups, copy.core.durable.offsets) == ({}, {})


def test_a_deletion_that_is_refused_leaves_everything(world):
    one = Client(world, "one")
    settle(one)
    one.leave()
    commit(world, 5)
    world.hold_writes = True
    ticket = world.ticket()
    world.take(world.shard.offsets.delete_group(GROUP, ticket))
    world.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert world.answers[ticket] is E.COORDINATOR_NOT_AVAILABLE
    assert world.consumer_state == "Empty"
    assert world.fetch() == 5


def test_offsets_of_subscribed_topics_are_not_deleted(world):
    one = Client(world, "one", topics=frozenset(), regex="t.*")
    settle(one)
    commit(world, 5, member_id="one", epoch=one.epoch)
    commit(world, 5, member_id="one", epoch=one.epoch, topic="u")
    assert delete_offsets(world) is E.GROUP_SUBSCRIBED_TO_TOPIC
    assert delete_offsets(world, "u") is E.NONE
    assert (world.fetch(), world.fetch("u")) == (5, -1)


def test_offsets_expire_by_age_unless_subscribed_and_take_an_empty_group_along(world):
    one = Client(world, "one")
    settle(one)
    for topic in ("t", "u"):
        commit(world, 5, member_id="one", epoch=one.epoch, topic=topic)
    world.clock.advance(8 * DAY_MS)
    world.take(world.shard.offsets.expire())
    assert (world.fetch(), world.fetch("u")) == (5, -1)
    world.take(world.shard.tick())  # nobody was heard of
    assert world.consumer_state == "Empty"
    world.take(world.shard.offsets.expire())
    assert world.consumers is None
    assert world.fetch() == -1


def test_a_deleted_topic_takes_its_offsets_along(world):
    one = Client(world, "one")
    settle(one)
    commit(world, 5, member_id="one", epoch=one.epoch)
    world.take(world.shard.offsets.remove_topics(frozenset({"t"})))
    assert world.fetch() == -1
