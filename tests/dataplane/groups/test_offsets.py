"""Committing, fetching, deleting and expiring offsets."""

import pytest

from dataplane.groups.requests import Protocol
from dataplane.model.errors import ErrorCode as E
from dataplane.model.ids import TopicPartition
from tests.dataplane.groups.driver import GROUP, Driver, subscription

WEEK_MS = 7 * 24 * 3_600_000


def test_a_group_that_manages_itself_commits_without_membership():
    driver = Driver()
    assert driver.committed(driver.commit(42)) is E.NONE
    assert driver.fetch() == 42
    assert driver.state == "Empty"


def test_nothing_committed_is_offset_minus_one_without_error():
    driver = Driver()
    where = TopicPartition("t", 0)
    answer = driver.shard.offsets.fetch("nobody", [where])[where]
    assert (answer.offset, answer.metadata, answer.error) == (-1, "", E.NONE)
    assert driver.shard.offsets.fetch("nobody", None) == {}


def test_an_offset_is_visible_only_when_it_is_committed_by_the_log():
    driver = Driver()
    driver.hold_writes = True
    ticket = driver.commit(42)
    assert ticket not in driver.answers
    assert driver.fetch() == -1
    driver.commit_writes()
    assert driver.committed(ticket) is E.NONE
    assert driver.fetch() == 42


@pytest.mark.parametrize(
    ("log_error", "answer"),
    [
        (E.NOT_ENOUGH_REPLICAS_AFTER_APPEND, E.COORDINATOR_NOT_AVAILABLE),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
        (E.MESSAGE_TOO_LARGE, E.INVALID_COMMIT_OFFSET_SIZE),
        (E.REQUEST_TIMED_OUT, E.REQUEST_TIMED_OUT),
    ],
)
def test_the_logs_refusal_in_a_clients_words(log_error, answer):
    driver = Driver()
    driver.hold_writes = True
    ticket = driver.commit(42)
    driver.fail_writes(log_error)
    assert driver.committed(ticket) is answer
    assert driver.fetch() == -1


def test_members_commit_in_their_generation():
    driver = Driver()
    leader, _ = driver.stable_group(2)
    assert driver.committed(driver.commit(1, member_id=leader, generation=2)) is E.NONE
    for ticket, error in [
        (driver.commit(9, member_id=leader, generation=1), E.ILLEGAL_GENERATION),
        (driver.commit(9, member_id="nobody", generation=2), E.UNKNOWN_MEMBER_ID),
        (driver.commit(9), E.UNKNOWN_MEMBER_ID),
        (driver.commit(9, member_id=leader, generation=-1), E.ILLEGAL_GENERATION),
    ]:
        assert driver.committed(ticket) is error
    assert driver.fetch() == 1


def test_a_generation_of_an_unknown_group_is_from_the_past():
    driver = Driver()
    ticket = driver.commit(1, member_id="m", generation=3)
    assert driver.committed(ticket) is E.ILLEGAL_GENERATION


def test_committing_during_the_join_phase_is_allowed_and_while_assigning_not():
    driver = Driver()
    leader, follower = driver.stable_group(2)
    driver.join(leader)
    assert driver.committed(driver.commit(5, member_id=follower, generation=2)) is E.NONE
    driver.join(follower)
    assert driver.state == "CompletingRebalance"
    ticket = driver.commit(6, member_id=follower, generation=3)
    assert driver.committed(ticket) is E.REBALANCE_IN_PROGRESS


def test_a_commit_is_a_sign_of_life():
    driver = Driver()
    leader, _ = driver.stable_group(2, session_ms=10_000)
    driver.advance(9_999)
    driver.commit(5, member_id=leader, generation=2)
    driver.advance(5_000)
    assert leader in driver.group.members


def test_metadata_has_a_bound_in_bytes():
    driver = Driver(offset_metadata_max_bytes=4)
    assert driver.committed(driver.commit(1, metadata="äöü")) is E.OFFSET_METADATA_TOO_LARGE
    assert driver.group is None
    assert driver.committed(driver.commit(1, metadata="äö")) is E.NONE


def test_deleting_a_group_leaves_only_tombstones():
    driver = Driver()
    (leader,) = driver.stable_group(1)
    driver.commit(5, member_id=leader, generation=1)
    ticket = driver.ticket()
    driver.take(driver.shard.offsets.delete_group(GROUP, ticket))
    assert driver.answers[ticket] is E.NON_EMPTY_GROUP
    driver.leave(leader)
    ticket = driver.ticket()
    driver.take(driver.shard.offsets.delete_group(GROUP, ticket))
    assert driver.answers[ticket] is E.NONE
    assert driver.state == "Dead"
    assert [record.value for record in driver.log[-2:]] == [None, None]
    other = driver.reloaded()
    assert other.core.groups == {}
    assert other.core.durable.offsets == {}
    again = driver.ticket()
    driver.take(driver.shard.offsets.delete_group(GROUP, again))
    assert driver.answers[again] is E.GROUP_ID_NOT_FOUND


def test_nobody_joins_a_group_that_is_being_deleted_and_a_failed_deletion_restores_it():
    driver = Driver()
    driver.commit(5)
    driver.hold_writes = True
    ticket = driver.ticket()
    driver.take(driver.shard.offsets.delete_group(GROUP, ticket))
    assert driver.joined(driver.join()).error is E.COORDINATOR_NOT_AVAILABLE
    assert driver.committed(driver.commit(6)) is E.COORDINATOR_NOT_AVAILABLE
    driver.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert driver.answers[ticket] is E.COORDINATOR_NOT_AVAILABLE
    assert driver.fetch() == 5
    assert driver.state == "Empty"


def test_a_group_whose_deletion_is_refused_is_still_empty_whatever_was_stored_of_it_last():
    """The log refused both: that it became empty, and that it is deleted."""
    driver = Driver()
    (leader,) = driver.stable_group(1)
    driver.commit(5, member_id=leader, generation=1)
    driver.hold_writes = True
    driver.leave(leader)
    driver.fail_writes(E.NOT_ENOUGH_REPLICAS)
    became_empty_ms = driver.group.state_timestamp_ms
    driver.advance(1000)
    ticket = driver.ticket()
    driver.take(driver.shard.offsets.delete_group(GROUP, ticket))
    driver.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert driver.answers[ticket] is E.COORDINATOR_NOT_AVAILABLE
    assert (driver.state, driver.group.members) == ("Empty", {})
    assert (driver.group.generation, driver.group.protocol_type) == (2, "consumer")
    assert driver.group.state_timestamp_ms == became_empty_ms  # its offsets expire from then on
    driver.hold_writes = False
    again = driver.ticket()
    driver.take(driver.shard.offsets.delete_group(GROUP, again))
    assert driver.answers[again] is E.NONE
    assert driver.reloaded().core.durable.groups == {}


def test_deleting_a_group_takes_commits_along_that_are_still_under_way():
    driver = Driver()
    driver.hold_writes = True
    driver.commit(5)
    ticket = driver.ticket()
    driver.take(driver.shard.offsets.delete_group(GROUP, ticket))
    driver.hold_writes = False
    driver.commit_writes()
    assert driver.answers[ticket] is E.NONE
    assert driver.reloaded().core.durable.offsets == {}


def delete_offsets(driver: Driver, *partitions: TopicPartition):
    ticket = driver.ticket()
    driver.take(driver.shard.offsets.delete(GROUP, list(partitions), ticket))
    return driver.answers[ticket]


def test_offset_delete_refuses_subscribed_topics():
    driver = Driver()
    protocols = (Protocol("range", subscription("t")),)
    (leader,) = driver.stable_group(1, protocols=protocols)
    driver.commit(5, member_id=leader, generation=1)
    driver.commit(6, member_id=leader, generation=1, topic="old")
    error, errors = delete_offsets(driver, TopicPartition("t", 0), TopicPartition("old", 0))
    assert error is E.NONE
    assert list(errors.values()) == [E.GROUP_SUBSCRIBED_TO_TOPIC, E.NONE]
    assert (driver.fetch(), driver.fetch("old")) == (5, -1)


def test_offset_delete_touches_nothing_of_a_group_whose_subscriptions_are_not_known():
    driver = Driver(initial_rebalance_delay_ms=3000)
    driver.commit(5)
    ticket = driver.join(protocols=(Protocol("range", subscription("t")),))
    where = TopicPartition("t", 0)
    # Its first members are still gathering: nobody knows yet what they will read.
    assert driver.state == "PreparingRebalance"
    assert delete_offsets(driver, where) == (E.NONE, {where: E.GROUP_SUBSCRIBED_TO_TOPIC})
    driver.advance(3000)
    member_id = driver.joined(ticket).member_id
    driver.sync(member_id, 1, {member_id: b""})
    driver.leave(member_id)
    ticket = driver.join()  # its metadata is nothing that can be read
    driver.advance(3000)
    leader = driver.joined(ticket).member_id
    driver.sync(leader, driver.group.generation, {leader: b""})
    assert (driver.state, driver.group.subscribed_topics) == ("Stable", None)
    assert delete_offsets(driver, where) == (E.NONE, {where: E.GROUP_SUBSCRIBED_TO_TOPIC})
    assert driver.fetch() == 5
    driver.leave(leader)
    assert delete_offsets(driver, where) == (E.NONE, {where: E.NONE})


def test_offset_delete_of_other_groups():
    driver = Driver()
    assert delete_offsets(driver, TopicPartition("t", 0))[0] is E.GROUP_ID_NOT_FOUND
    (leader,) = driver.stable_group(1, protocol_type="connect")
    assert delete_offsets(driver, TopicPartition("t", 0))[0] is E.NON_EMPTY_GROUP
    driver.leave(leader)
    assert delete_offsets(driver, TopicPartition("t", 0)) == (
        E.NONE,
        {TopicPartition("t", 0): E.NONE},
    )


def test_offsets_of_a_simple_consumer_expire_after_their_commit():
    driver = Driver()
    driver.commit(1, partition=0)
    driver.advance(1000)
    driver.commit(2, partition=1)
    driver.advance(WEEK_MS - 1000)
    driver.take(driver.shard.offsets.expire())
    assert (driver.fetch(partition=0), driver.fetch(partition=1)) == (-1, 2)
    driver.advance(1000)
    driver.take(driver.shard.offsets.expire())
    assert driver.state == "Dead"
    assert driver.reloaded().core.groups == {}


def test_offsets_of_an_empty_group_expire_after_it_became_empty():
    driver = Driver()
    (leader,) = driver.stable_group(1, session_ms=1_800_000)
    driver.commit(1, member_id=leader, generation=1)
    for _ in range(WEEK_MS // 900_000 + 1):
        driver.advance(900_000)
        driver.heartbeat(leader, 1)
    driver.leave(leader)
    driver.take(driver.shard.offsets.expire())
    assert driver.fetch() == 1
    driver.shard = driver.reloaded()  # the moment is stored
    driver.advance(WEEK_MS)
    driver.take(driver.shard.offsets.expire())
    assert driver.fetch() == -1
    assert driver.state == "Dead"


def test_a_stable_group_keeps_the_offsets_of_subscribed_topics():
    driver = Driver()
    protocols = (Protocol("range", subscription("t")),)
    (leader,) = driver.stable_group(1, protocols=protocols, session_ms=1_800_000)
    driver.commit(1, member_id=leader, generation=1)
    driver.commit(2, member_id=leader, generation=1, topic="old")
    for _ in range(WEEK_MS // 900_000):
        driver.advance(900_000)
        driver.heartbeat(leader, 1)
    driver.take(driver.shard.offsets.expire())
    assert (driver.fetch(), driver.fetch("old")) == (1, -1)


def test_a_stable_group_of_unknown_subscription_keeps_everything():
    driver = Driver()
    (leader,) = driver.stable_group(1, session_ms=1_800_000)
    assert driver.group.subscribed_topics is None
    driver.commit(2, member_id=leader, generation=1, topic="old")
    driver.clock.advance(WEEK_MS)
    driver.heartbeat(leader, 1)
    driver.take(driver.shard.offsets.expire())
    assert driver.fetch("old") == 2


def test_an_explicit_expiry_wins():
    driver = Driver()
    driver.commit(1, retention_ms=5000)
    driver.advance(4999)
    driver.take(driver.shard.offsets.expire())
    assert driver.fetch() == 1
    driver.advance(1)
    driver.take(driver.shard.offsets.expire())
    assert driver.fetch() == -1


def test_a_commit_under_way_does_not_expire():
    driver = Driver()
    driver.commit(1)
    driver.advance(WEEK_MS)
    driver.hold_writes = True
    driver.commit(2)
    driver.take(driver.shard.offsets.expire())
    driver.hold_writes = False
    driver.commit_writes()
    assert driver.fetch() == 2
    assert driver.reloaded().core.durable.offsets[GROUP]


def test_deleted_topics_take_their_offsets_along():
    driver = Driver()
    driver.commit(1)
    driver.commit(2, topic="gone")
    driver.take(driver.shard.offsets.remove_topics(frozenset({"gone"})))
    assert (driver.fetch(), driver.fetch("gone")) == (1, -1)


def test_describe_shows_members_only_when_stable():
    driver = Driver()
    leader, _ = driver.stable_group(2)
    described = driver.shard.describe(GROUP)
    assert (described.state, described.protocol, described.protocol_type) == (
        "Stable",
        "range",
        "consumer",
    )
    assert described.members[0].assignment == f"for {leader}".encode()
    driver.join(leader)
    described = driver.shard.describe(GROUP)
    assert (described.state, described.protocol) == ("PreparingRebalance", "")
    assert {member.assignment for member in described.members} == {b""}
    assert [listed.state for listed in driver.shard.list_groups()] == ["PreparingRebalance"]
