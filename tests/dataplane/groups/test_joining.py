"""JoinGroup: who is let in, when a generation begins, who is dropped."""

import pytest

from dataplane.groups.requests import Protocol
from dataplane.model.errors import ErrorCode as E
from tests.dataplane.groups.driver import RANGE, Driver


def test_first_member_waits_the_initial_delay():
    driver = Driver(initial_rebalance_delay_ms=3000)
    ticket = driver.join()
    driver.advance(2999)
    assert ticket not in driver.answers
    assert driver.state == "PreparingRebalance"
    driver.advance(1)
    result = driver.joined(ticket)
    assert (result.error, result.generation, result.leader) == (E.NONE, 1, result.member_id)
    assert [member.metadata for member in result.members] == [b"range-metadata"]
    assert driver.state == "CompletingRebalance"


def test_initial_delay_is_extended_per_newcomer_up_to_the_rebalance_timeout():
    driver = Driver(initial_rebalance_delay_ms=3000)
    tickets = [driver.join(rebalance_ms=7000)]
    for _ in range(4):
        driver.advance(2000)
        tickets.append(driver.join(rebalance_ms=7000))
    # The delays end at 3000, 6000 and 7000: nothing waits longer than the rebalance timeout.
    assert driver.joined(tickets[0]).generation == 1
    first_generation = [t for t in tickets if t in driver.answers]
    assert len(first_generation) == 4
    assert driver.state == "PreparingRebalance"


def test_without_delay_the_group_starts_at_once():
    driver = Driver()
    ticket = driver.join()
    driver.advance(0)
    assert driver.joined(ticket).generation == 1


def test_member_id_is_required_from_version_4_on():
    driver = Driver()
    first = driver.joined(driver.join(known_id=True))
    assert first.error is E.MEMBER_ID_REQUIRED
    assert first.member_id.startswith("client-")
    ticket = driver.join(first.member_id, known_id=True)
    driver.advance(0)
    assert driver.joined(ticket).error is E.NONE
    assert driver.joined(ticket).member_id == first.member_id


def test_unused_member_ids_expire_and_leave_no_group_behind():
    driver = Driver()
    given = driver.joined(driver.join(known_id=True, session_ms=6000)).member_id
    driver.advance(6000)
    assert driver.group is None
    assert driver.joined(driver.join(given)).error is E.UNKNOWN_MEMBER_ID


def test_a_pending_member_holds_up_the_rebalance_until_it_expires():
    driver = Driver()
    leader, follower = driver.stable_group(2)
    driver.join(known_id=True, session_ms=6000)
    rejoined = [driver.join(leader), driver.join(follower)]
    assert rejoined[0] not in driver.answers
    driver.advance(6000)
    assert driver.joined(rejoined[0]).generation == driver.joined(rejoined[1]).generation == 3


def test_pending_member_ids_are_bounded():
    driver = Driver(pending_members_max=2)
    errors = [driver.joined(driver.join(known_id=True)).error for _ in range(3)]
    assert errors == [E.MEMBER_ID_REQUIRED, E.MEMBER_ID_REQUIRED, E.GROUP_MAX_SIZE_REACHED]


@pytest.mark.parametrize("session_ms", [5_999, 1_800_001])
def test_session_timeout_has_bounds(session_ms):
    driver = Driver()
    assert driver.joined(driver.join(session_ms=session_ms)).error is E.INVALID_SESSION_TIMEOUT
    assert driver.group is None


def test_unknown_member_of_unknown_group():
    driver = Driver()
    assert driver.joined(driver.join("nobody")).error is E.UNKNOWN_MEMBER_ID
    assert driver.group is None


def test_protocols_have_to_fit():
    driver = Driver()
    driver.stable_group(1)
    other_type = driver.join(protocol_type="connect")
    other_name = driver.join(protocols=(Protocol("sticky", b""),))
    for ticket in (other_type, other_name):
        assert driver.joined(ticket).error is E.INCONSISTENT_GROUP_PROTOCOL
    assert driver.state == "Stable"


@pytest.mark.parametrize(("protocol_type", "protocols"), [("", (RANGE,)), ("consumer", ())])
def test_an_empty_group_asks_for_a_type_and_a_protocol(protocol_type, protocols):
    driver = Driver()
    ticket = driver.join(protocol_type=protocol_type, protocols=protocols)
    assert driver.joined(ticket).error is E.INCONSISTENT_GROUP_PROTOCOL
    assert driver.group is None


def test_the_protocol_with_most_votes_among_the_common_ones_is_chosen():
    driver = Driver(initial_rebalance_delay_ms=1000)
    a, b, c = Protocol("a", b"1"), Protocol("b", b"2"), Protocol("c", b"3")
    tickets = [driver.join(protocols=p) for p in ((c, a, b), (b, a), (b, a))]
    driver.advance(10_000)
    assert {driver.joined(ticket).protocol_name for ticket in tickets} == {"b"}


def test_group_max_size():
    driver = Driver(max_size=2)
    leader, follower = driver.stable_group(2)
    assert driver.joined(driver.join()).error is E.GROUP_MAX_SIZE_REACHED
    assert driver.state == "Stable"
    # A known member is let in again, whatever the size.
    ticket = driver.join(leader)
    driver.join(follower)
    assert driver.joined(ticket).error is E.NONE


def test_a_shrunk_limit_drops_the_last_to_come_back():
    driver = Driver()
    leader, follower = driver.stable_group(2)
    smaller = Driver(max_size=1)
    for record in driver.log:
        smaller.shard.replay(record)
    smaller.take(smaller.shard.finish_loading())
    assert smaller.state == "PreparingRebalance"
    first, second = smaller.join(follower), smaller.join(leader)
    assert smaller.joined(second).error is E.GROUP_MAX_SIZE_REACHED
    assert smaller.joined(first).leader == follower


def test_members_that_do_not_rejoin_are_dropped():
    driver = Driver()
    leader, _follower = driver.stable_group(2, rebalance_ms=20_000, session_ms=30_000)
    ticket = driver.join(leader, rebalance_ms=20_000, session_ms=30_000)
    driver.advance(19_999)
    assert ticket not in driver.answers
    driver.advance(1)
    assert [member.member_id for member in driver.joined(ticket).members] == [leader]


def test_a_follower_with_unchanged_metadata_gets_the_current_generation():
    driver = Driver()
    leader, follower = driver.stable_group(2)
    result = driver.joined(driver.join(follower))
    assert (result.error, result.generation, result.leader) == (E.NONE, 2, leader)
    assert result.members == ()
    assert driver.state == "Stable"


def test_a_leader_that_joins_a_stable_group_starts_a_rebalance():
    driver = Driver()
    leader, _ = driver.stable_group(2)
    driver.join(leader)
    assert driver.state == "PreparingRebalance"


def test_changed_metadata_starts_a_rebalance():
    driver = Driver()
    _, follower = driver.stable_group(2)
    driver.join(follower, protocols=(Protocol("range", b"other topics"),))
    assert driver.state == "PreparingRebalance"


def test_joining_again_while_the_assignment_is_awaited_repeats_the_answer():
    driver = Driver()
    first = driver.join()
    driver.advance(0)
    again = driver.joined(driver.join(driver.joined(first).member_id))
    assert again == driver.joined(first)


def test_new_members_time_out_after_five_minutes_of_waiting():
    driver = Driver()
    leader, _ = driver.stable_group(2, session_ms=1_000_000, rebalance_ms=1_000_000)
    ticket = driver.join(session_ms=1_000_000, rebalance_ms=1_000_000)
    driver.advance(300_000)
    assert driver.joined(ticket).error is E.UNKNOWN_MEMBER_ID
    assert len(driver.group.members) == 2
    assert driver.heartbeat(leader, 2) is E.REBALANCE_IN_PROGRESS


def test_a_member_that_waits_for_the_join_phase_cannot_lose_its_session():
    driver = Driver()
    leader, follower = driver.stable_group(2, session_ms=10_000, rebalance_ms=60_000)
    driver.join(follower, protocols=(Protocol("range", b"new"),), rebalance_ms=60_000)
    for _ in range(5):
        driver.advance(9_000)
        driver.heartbeat(leader, 2)
    assert follower in driver.group.members


def test_a_second_join_of_the_same_member_ends_the_first():
    driver = Driver()
    leader, follower = driver.stable_group(2)
    stale = driver.join(leader)
    driver.join(leader)
    assert driver.joined(stale).error is E.REBALANCE_IN_PROGRESS
    driver.join(follower)
    assert not driver.answered_twice


def test_unloading_sends_everybody_elsewhere():
    driver = Driver()
    leader, follower = driver.stable_group(2)
    ticket = driver.join(leader)
    driver.take(driver.shard.unload())
    assert driver.joined(ticket).error is E.NOT_COORDINATOR
    assert driver.heartbeat(follower, 2) is E.UNKNOWN_MEMBER_ID
