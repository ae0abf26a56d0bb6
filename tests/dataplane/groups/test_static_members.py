"""KIP-345: members with an instance id keep their place over a restart."""

from dataplane.groups.requests import Protocol
from dataplane.model.errors import ErrorCode as E
from tests.dataplane.groups.driver import GROUP, Driver


def static_pair(driver: Driver) -> tuple[str, str]:
    """A stable group of the instances a (leader) and b."""
    first = driver.join(instance="a")
    driver.advance(0)
    leader = driver.joined(first).member_id
    second = driver.join(instance="b")
    driver.join(leader, instance="a")
    follower = driver.joined(second).member_id
    driver.sync(follower, 2, instance="b")
    driver.sync(leader, 2, {leader: b"A", follower: b"B"}, instance="a")
    assert driver.state == "Stable"
    return leader, follower


def test_member_ids_carry_the_instance_id_and_none_is_pending():
    driver = Driver()
    ticket = driver.join(instance="a", known_id=False)
    driver.advance(0)
    assert driver.joined(ticket).member_id.startswith("a-")


def test_a_restarted_follower_takes_its_place_back_without_a_rebalance():
    driver = Driver()
    leader, old = static_pair(driver)
    result = driver.joined(driver.join(instance="b"))
    assert result.error is E.NONE
    assert result.generation == 2
    assert result.leader == leader
    new = result.member_id
    assert new != old
    assert driver.state == "Stable"
    assert driver.synced(driver.sync(new, 2, instance="b")).assignment == b"B"


def test_the_replaced_member_is_fenced():
    driver = Driver()
    _, old = static_pair(driver)
    driver.join(instance="b")
    assert driver.heartbeat(old, 2, "b") is E.FENCED_INSTANCE_ID
    assert driver.synced(driver.sync(old, 2, instance="b")).error is E.FENCED_INSTANCE_ID
    commit = driver.commit(1, member_id=old, generation=2, instance="b")
    assert driver.committed(commit) is E.FENCED_INSTANCE_ID
    assert driver.joined(driver.join(old, instance="b")).error is E.FENCED_INSTANCE_ID
    assert driver.leave(old, "b") is E.FENCED_INSTANCE_ID
    assert driver.heartbeat(old, 2) is E.UNKNOWN_MEMBER_ID


def test_the_replacement_is_stored_before_it_is_answered():
    driver = Driver()
    static_pair(driver)
    driver.hold_writes = True
    ticket = driver.join(instance="b")
    assert ticket not in driver.answers
    driver.commit_writes()
    new = driver.joined(ticket).member_id
    stored = driver.shard.core.durable.groups[GROUP]
    assert new in {member.member_id for member in stored.members}
    assert {member.assignment for member in stored.members} == {b"A", b"B"}


def test_a_replacement_that_is_not_stored_is_taken_back():
    driver = Driver()
    _, old = static_pair(driver)
    driver.hold_writes = True
    ticket = driver.join(instance="b", protocols=(Protocol("range", b"newer"),))
    driver.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert driver.joined(ticket).error is E.COORDINATOR_NOT_AVAILABLE
    assert driver.group.static_members["b"] == old
    assert driver.group.members[old].protocols[0].metadata == b"range-metadata"
    assert driver.heartbeat(old, 2, "b") is E.NONE


def test_a_returning_leader_before_version_9_is_shown_its_former_id():
    driver = Driver()
    leader, _ = static_pair(driver)
    result = driver.joined(driver.join(instance="a"))
    assert result.leader == leader
    assert result.member_id != leader
    assert result.members == ()
    assert driver.group.leader == result.member_id


def test_a_returning_leader_of_version_9_leads_and_skips_the_assignment():
    driver = Driver()
    static_pair(driver)
    result = driver.joined(driver.join(instance="a", skip=True))
    assert result.leader == result.member_id
    assert result.skip_assignment
    assert len(result.members) == 2


def test_a_returning_follower_of_version_9_does_not_skip():
    driver = Driver()
    static_pair(driver)
    result = driver.joined(driver.join(instance="b", skip=True))
    assert not result.skip_assignment
    assert result.members == ()


def test_a_returning_member_that_changes_the_protocol_rebalances():
    driver = Driver()
    (_leader,) = driver.stable_group(1, instance="a")
    ticket = driver.join(instance="a", protocols=(Protocol("range", b""), Protocol("x", b"")))
    assert driver.joined(ticket).generation == 1
    driver.join(instance="a", protocols=(Protocol("x", b""), Protocol("range", b"")))
    assert driver.group.generation == 2
    assert driver.group.protocol_name == "x"


def test_a_return_during_the_assignment_starts_over():
    driver = Driver()
    leader, _ = static_pair(driver)
    rejoined = [driver.join(leader, instance="a")]
    driver.join(driver.group.static_members["b"], instance="b")
    assert driver.joined(rejoined[0]).generation == 3
    waiting = driver.sync(driver.group.static_members["b"], 3, instance="b")
    ticket = driver.join(instance="b")
    assert driver.synced(waiting).error is E.FENCED_INSTANCE_ID
    assert driver.state == "PreparingRebalance"
    driver.join(leader, instance="a")
    assert driver.joined(ticket).generation == 4


def test_a_return_during_the_join_phase_fences_the_parked_join():
    driver = Driver()
    leader, follower = static_pair(driver)
    parked = driver.join(leader, instance="a")
    driver.join(instance="a")
    assert driver.joined(parked).error is E.FENCED_INSTANCE_ID
    assert driver.state == "PreparingRebalance"
    driver.join(follower, instance="b")
    assert driver.state == "CompletingRebalance"


def test_static_members_are_not_dropped_for_a_late_rejoin_but_for_a_lost_session():
    driver = Driver()
    first = driver.join(instance="a", session_ms=100_000, rebalance_ms=10_000)
    driver.advance(0)
    leader = driver.joined(first).member_id
    driver.sync(leader, 1, {leader: b"A"}, instance="a")
    ticket = driver.join(rebalance_ms=10_000, session_ms=100_000)
    driver.advance(10_000)
    # The static member did not rejoin in time, and is kept in the new generation all the same.
    result = driver.joined(ticket)
    assert result.generation == 2
    assert result.leader == result.member_id
    assert len(result.members) == 2
    driver.advance(100_000)
    assert leader not in (driver.group.members if driver.group else {})


def test_when_only_silent_static_members_are_left_their_sessions_decide():
    driver = Driver()
    leader, follower = static_pair(driver)
    driver.clock.advance(1)
    driver.leave(leader, "a")
    assert driver.state == "PreparingRebalance"
    driver.advance(9_998)
    assert driver.state == "PreparingRebalance"
    assert list(driver.group.members) == [follower]
    driver.advance(60_000)
    assert driver.state == "Empty"


def test_an_administrator_removes_by_instance_id():
    driver = Driver()
    static_pair(driver)
    assert driver.leave("", "b") is E.NONE
    assert driver.leave("", "b") is E.UNKNOWN_MEMBER_ID
    assert driver.leave("", None) is E.UNKNOWN_MEMBER_ID
    assert "b" not in driver.group.static_members


def test_an_unknown_instance_id_with_a_member_id():
    driver = Driver()
    leader, _ = static_pair(driver)
    assert driver.joined(driver.join(leader, instance="zzz")).error is E.UNKNOWN_MEMBER_ID
    assert driver.heartbeat(leader, 2, "zzz") is E.UNKNOWN_MEMBER_ID


def test_static_membership_survives_a_move_of_the_coordinator():
    driver = Driver()
    static_pair(driver)
    driver.shard = driver.reloaded()
    result = driver.joined(driver.join(instance="b"))
    assert result.generation == 2
    assert driver.synced(driver.sync(result.member_id, 2, instance="b")).assignment == b"B"


def test_a_replacement_that_is_being_stored_is_answered_when_its_place_is_given_up():
    """The process before it joined and died: its place ends with the time to sync."""
    driver = Driver()
    first = driver.join(instance="a", session_ms=1_000_000, rebalance_ms=60_000)
    driver.advance(0)
    leader = driver.joined(first).member_id
    driver.join(instance="b", session_ms=1_000_000, rebalance_ms=60_000)
    driver.join(leader, instance="a", session_ms=1_000_000, rebalance_ms=60_000)
    driver.sync(leader, 2, {leader: b"A"}, instance="a")
    assert driver.state == "Stable"
    driver.advance(59_999)
    driver.hold_writes = True
    ticket = driver.join(instance="b")
    driver.advance(1)
    assert driver.joined(ticket).error is E.UNKNOWN_MEMBER_ID
    assert driver.state == "PreparingRebalance"
