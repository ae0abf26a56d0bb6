"""SyncGroup, Heartbeat, LeaveGroup: the second half of a rebalance and life after it."""

import pytest

from dataplane.model.errors import ErrorCode as E
from tests.dataplane.groups.driver import GROUP, Driver


def two_joined(driver: Driver) -> tuple[str, str, int]:
    """Two members in CompletingRebalance: leader, follower, generation."""
    first = driver.join()
    driver.advance(0)
    leader = driver.joined(first).member_id
    second = driver.join()
    driver.join(leader)
    assert driver.state == "CompletingRebalance"
    return leader, driver.joined(second).member_id, driver.group.generation


def test_followers_wait_for_the_leader_and_all_get_their_part():
    driver = Driver()
    leader, follower, generation = two_joined(driver)
    waiting = driver.sync(follower, generation)
    assert waiting not in driver.answers
    ticket = driver.sync(leader, generation, {leader: b"L", follower: b"F"})
    assert driver.synced(ticket).assignment == b"L"
    assert driver.synced(waiting).assignment == b"F"
    assert driver.synced(waiting).protocol_name == "range"
    assert driver.state == "Stable"


def test_late_followers_are_answered_from_the_stable_group():
    driver = Driver()
    leader, follower, generation = two_joined(driver)
    driver.sync(leader, generation, {follower: b"F"})
    assert driver.synced(driver.sync(follower, generation)).assignment == b"F"
    assert driver.synced(driver.sync(leader, generation)).assignment == b""


def test_nobody_is_assigned_before_the_log_has_it():
    driver = Driver()
    leader, follower, generation = two_joined(driver)
    driver.hold_writes = True
    tickets = [driver.sync(leader, generation, {leader: b"L"}), driver.sync(follower, generation)]
    assert not any(ticket in driver.answers for ticket in tickets)
    assert driver.state == "CompletingRebalance"
    driver.commit_writes()
    assert all(driver.synced(ticket).error is E.NONE for ticket in tickets)


@pytest.mark.parametrize(
    ("log_error", "answer"),
    [
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.REQUEST_TIMED_OUT, E.REBALANCE_IN_PROGRESS),
        (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
    ],
)
def test_an_assignment_that_is_not_stored_starts_the_rebalance_over(log_error, answer):
    driver = Driver()
    leader, follower, generation = two_joined(driver)
    driver.hold_writes = True
    tickets = [driver.sync(leader, generation, {leader: b"L"}), driver.sync(follower, generation)]
    driver.fail_writes(log_error)
    assert [driver.synced(ticket).error for ticket in tickets] == [answer, answer]
    assert driver.state == "PreparingRebalance"


def test_an_assignment_overtaken_by_a_new_member_is_void():
    driver = Driver()
    leader, _follower, generation = two_joined(driver)
    driver.hold_writes = True
    ticket = driver.sync(leader, generation, {leader: b"L"})
    driver.join()
    assert driver.synced(ticket).error is E.REBALANCE_IN_PROGRESS
    driver.commit_writes()
    assert driver.state == "PreparingRebalance"
    assert not driver.answered_twice


def test_sync_checks_generation_member_and_protocol():
    driver = Driver()
    leader, _follower, generation = two_joined(driver)
    for ticket, error in [
        (driver.sync(leader, generation - 1), E.ILLEGAL_GENERATION),
        (driver.sync("nobody", generation), E.UNKNOWN_MEMBER_ID),
        (driver.sync(leader, generation, protocol_type="connect"), E.INCONSISTENT_GROUP_PROTOCOL),
        (driver.sync(leader, generation, protocol_name="sticky"), E.INCONSISTENT_GROUP_PROTOCOL),
    ]:
        assert driver.synced(ticket).error is error


def test_sync_during_the_join_phase():
    driver = Driver()
    leader, follower = driver.stable_group(2)
    driver.join(leader)
    assert driver.synced(driver.sync(follower, 2)).error is E.REBALANCE_IN_PROGRESS


def test_members_that_never_sync_are_removed_after_the_rebalance_timeout():
    driver = Driver()
    first = driver.join(session_ms=100_000, rebalance_ms=20_000)
    driver.advance(0)
    leader = driver.joined(first).member_id
    driver.sync(leader, 1, {leader: b"L"})
    driver.join(session_ms=100_000, rebalance_ms=20_000)
    driver.join(leader, session_ms=100_000, rebalance_ms=20_000)
    driver.sync(leader, 2, {leader: b"L"})
    driver.advance(20_000)
    assert list(driver.group.members) == [leader]
    assert driver.state == "PreparingRebalance"


def test_heartbeats_report_the_rebalance():
    driver = Driver()
    leader, follower = driver.stable_group(2)
    assert driver.heartbeat(follower, 2) is E.NONE
    assert driver.heartbeat(follower, 1) is E.ILLEGAL_GENERATION
    assert driver.heartbeat("nobody", 2) is E.UNKNOWN_MEMBER_ID
    driver.join(leader)
    assert driver.heartbeat(follower, 2) is E.REBALANCE_IN_PROGRESS


def test_heartbeats_keep_the_session_and_silence_ends_it():
    driver = Driver()
    leader, follower = driver.stable_group(2, session_ms=10_000)
    for _ in range(3):
        driver.advance(9_999)
        assert driver.heartbeat(leader, 2) in (E.NONE, E.REBALANCE_IN_PROGRESS)
    assert list(driver.group.members) == [leader]
    assert driver.heartbeat(follower, 2) is E.UNKNOWN_MEMBER_ID


def test_when_the_last_member_leaves_the_group_is_empty_and_remembers_when():
    driver = Driver()
    (leader,) = driver.stable_group(1)
    driver.advance(5)
    assert driver.leave(leader) is E.NONE
    assert driver.state == "Empty"
    stored = driver.shard.core.durable.groups[GROUP]
    assert stored.members == []
    assert stored.generation == 2
    assert stored.current_state_timestamp_ms == driver.clock.realtime_ms()


def test_leaving_starts_a_rebalance_for_the_others():
    driver = Driver()
    leader, follower = driver.stable_group(2)
    assert driver.leave(leader) is E.NONE
    assert driver.state == "PreparingRebalance"
    result = driver.joined(driver.join(follower))
    assert result.leader == follower


def test_leaving_answers_what_the_member_still_waits_for():
    driver = Driver()
    leader, _follower = driver.stable_group(2)
    ticket = driver.join(leader)
    driver.leave(leader)
    assert driver.joined(ticket).error is E.UNKNOWN_MEMBER_ID


def test_pending_members_can_leave():
    driver = Driver()
    pending = driver.joined(driver.join(known_id=True)).member_id
    assert driver.leave(pending) is E.NONE
    assert driver.group is None


def test_leaving_an_unknown_group_or_as_a_stranger():
    driver = Driver()
    assert driver.leave("nobody") is E.UNKNOWN_MEMBER_ID
    driver.stable_group(1)
    assert driver.leave("nobody") is E.UNKNOWN_MEMBER_ID
