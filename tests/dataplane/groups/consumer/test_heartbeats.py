"""What one heartbeat is answered, and what it does to the group."""

import pytest

from dataplane.groups.settings import ConsumerTimings
from dataplane.model.errors import ErrorCode as E
from tests.dataplane.groups.consumer.members import Client, World, settle
from tests.dataplane.groups.driver import GROUP

JOIN = {"topics": frozenset({"t"}), "rebalance_timeout_ms": 30_000, "owned": frozenset()}


@pytest.fixture
def world():
    made = World(consumer_session_timeout_ms=45_000, consumer_heartbeat_interval_ms=5_000)
    made.topics.put("t", 4)
    return made


def test_the_first_member_gets_everything_at_once(world):
    answer = world.ask("one", 0, **JOIN)
    assert answer.error is E.NONE
    assert (answer.member_id, answer.member_epoch) == ("one", 1)
    assert answer.heartbeat_interval_ms == 5_000
    assert answer.assignment == world.parts("t", 0, 1, 2, 3)


def test_an_assignment_is_said_when_it_changes_or_is_asked_for(world):
    world.ask("one", 0, **JOIN)
    everything = world.parts("t", 0, 1, 2, 3)
    assert world.ask("one", 1).assignment is None
    assert world.ask("one", 1, owned=everything).assignment is None
    full = world.ask(
        "one", 1, owned=everything, topics=frozenset({"t"}), rebalance_timeout_ms=30_000
    )
    assert full.assignment == everything


def test_whose_answer_was_lost_is_given_the_assignment_again(world):
    world.ask("one", 0, **JOIN)
    world.topics.put("t", 5)
    assert world.ask("one", 1, owned=world.parts("t", 0, 1, 2, 3)).member_epoch == 2  # lost
    again = world.ask("one", 1, owned=world.parts("t", 0, 1, 2, 3))
    assert (again.member_epoch, again.assignment) == (2, world.parts("t", 0, 1, 2, 3, 4))


def test_a_coordinator_made_id_is_a_matter_of_version_0(world):
    assert world.error("", 0, **JOIN) is E.INVALID_REQUEST
    answer = world.ask("", 0, makes_its_own_id=False, **JOIN)
    assert answer.error is E.NONE
    assert answer.member_id in world.consumers.members


def test_partitions_are_given_up_before_another_gets_them(world):
    one, two = Client(world, "one"), Client(world, "two")
    one.send()
    two.send()
    assert (two.owned, two.epoch) == (frozenset(), 2)
    one.send()  # is asked to give up two
    assert len(one.owned) == 2
    assert one.epoch == 1
    two.send()
    assert two.owned == frozenset()  # one has not said that it did
    one.send()
    assert one.epoch == 2
    two.send()
    assert len(two.owned) == 2
    assert not one.owned & two.owned
    assert world.consumer_state == "Stable"


def test_a_member_that_says_nothing_about_what_it_owns_gives_nothing_up(world):
    one, two = Client(world, "one"), Client(world, "two")
    settle(one)
    two.send()
    one.send()
    for _ in range(3):
        assert world.ask("one", 1).member_epoch == 1
        two.send()
    assert two.owned == frozenset()


@pytest.mark.parametrize("epoch", [2, 5])
def test_a_greater_epoch_is_fenced(world, epoch):
    world.ask("one", 0, **JOIN)
    assert world.error("one", epoch) is E.FENCED_MEMBER_EPOCH


def test_the_epoch_before_is_accepted_from_who_missed_the_answer(world):
    one = Client(world, "one")
    settle(one)
    world.topics.put("t", 5)
    world.ask("one", 1)  # its answer is lost: epoch 2, five partitions
    assert world.error("one", 1, owned=world.parts("t", 4)) is E.NONE
    assert world.error("one", 1) is E.FENCED_MEMBER_EPOCH  # does not say what it owns
    world.topics.put("u", 1)
    assert world.error("one", 1, owned=world.parts("u", 0)) is E.FENCED_MEMBER_EPOCH
    world.topics.put("t", 6)
    assert world.ask("one", 2).member_epoch == 3
    assert world.error("one", 1, owned=frozenset()) is E.FENCED_MEMBER_EPOCH


def test_a_fenced_member_may_join_again_at_once(world):
    one, two = Client(world, "one"), Client(world, "two")
    settle(one, two)
    assert world.error("one", 9) is E.FENCED_MEMBER_EPOCH
    one.lose()
    one.send()
    assert len(one.owned) == 2
    assert one.owned | two.owned == world.parts("t", 0, 1, 2, 3)


@pytest.mark.parametrize("epoch", [1, -1])
def test_strangers_are_unknown(world, epoch):
    assert world.error("one", epoch) is E.GROUP_ID_NOT_FOUND
    world.ask("one", 0, **JOIN)
    assert world.error("two", epoch) is E.UNKNOWN_MEMBER_ID
    assert world.error("two", epoch, instance_id="i") is E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("member_id", "epoch", "fields"),
    [
        ("one", 0, JOIN | {"group_id": ""}),
        ("one", 0, JOIN | {"instance_id": ""}),
        ("one", 0, JOIN | {"rack_id": ""}),
        ("one", 0, JOIN | {"rebalance_timeout_ms": -1}),
        ("one", 0, JOIN | {"owned": None}),
        ("one", 0, JOIN | {"topics": None}),
        ("", 1, {}),
        ("", -1, {}),
        ("one", -2, {}),
        ("one", -3, {}),
        ("x" * 32_768, 0, JOIN),
    ],
)
def test_what_contradicts_itself_is_refused_and_changes_nothing(world, member_id, epoch, fields):
    assert world.error(member_id, epoch, **fields) is E.INVALID_REQUEST
    assert world.consumers is None
    assert world.log == []


def test_an_assignor_that_is_not_there_is_refused(world):
    answer = world.ask("one", 0, **JOIN, assignor="mine")
    assert answer.error is E.UNSUPPORTED_ASSIGNOR
    assert "uniform, range" in answer.message


def test_most_votes_choose_the_assignor(world):
    world.topics.put("u", 4)
    topics = {"topics": frozenset({"t", "u"}), "assignor": "range"}
    one, two = Client(world, "one", **topics), Client(world, "two", **topics)
    settle(one, two)
    assert {p.partition for p in one.owned} == {0, 1}
    assert world.shard.consumers.describe(GROUP).assignor == "range"


def test_a_full_group_takes_nobody_but_its_members():
    world = World(consumer_max_size=1)
    world.topics.put("t", 1)
    assert world.error("one", 0, **JOIN) is E.NONE
    assert world.error("two", 0, **JOIN) is E.GROUP_MAX_SIZE_REACHED
    assert world.error("one", 0, **JOIN) is E.NONE


def test_changed_subscriptions_and_topics_start_another_epoch(world):
    one = Client(world, "one")
    settle(one)
    assert world.ask("one", 1).member_epoch == 1  # nothing has changed
    world.topics.put("other", 1)
    assert world.ask("one", 1).member_epoch == 1  # not theirs
    world.topics.put("t", 5)
    answer = world.ask("one", 1)
    assert (answer.member_epoch, answer.assignment) == (2, world.parts("t", 0, 1, 2, 3, 4))
    answer = world.ask("one", 2, topics=frozenset({"t", "other"}))
    assert (answer.member_epoch, len(answer.assignment)) == (3, 6)
    gone = world.parts("t", 0, 1, 2, 3, 4)
    world.topics.drop("t")
    answer = world.ask("one", 3)
    assert answer.assignment == world.parts("other", 0)
    assert world.consumers.members["one"].revoking == gone
    assert world.ask("one", 3, owned=world.parts("other", 0)).member_epoch == 4
    world.topics.put("t", 1)  # another topic of that name
    assert world.ask("one", 4).assignment == world.parts("other", 0) | world.parts("t", 0)


def test_silence_ends_a_session(world):
    one, two = Client(world, "one"), Client(world, "two")
    settle(one, two)
    for _ in range(5):
        world.advance(10_000)
        one.send()
    assert set(world.consumers.members) == {"one"}
    one.send()
    assert one.owned == world.parts("t", 0, 1, 2, 3)
    two.send()
    assert two.epoch == 0
    world.advance(46_000)
    assert world.consumer_state == "Empty"


def test_partitions_that_are_not_given_up_in_time_are_taken(world):
    one = Client(world, "one", rebalance_timeout_ms=20_000)
    settle(one)
    two = Client(world, "two")
    two.send()
    world.ask("one", 1)
    for _ in range(3):
        world.advance(7_000)
        world.ask("one", 1)  # alive, but does not say that it gave anything up
        two.send()
    assert "one" not in world.consumers.members
    two.send()
    assert two.owned == world.parts("t", 0, 1, 2, 3)


def test_who_leaves_is_gone_at_once(world):
    one, two = Client(world, "one"), Client(world, "two")
    settle(one, two)
    assert one.leave() is E.NONE
    two.send()
    assert two.owned == world.parts("t", 0, 1, 2, 3)
    assert world.error("one", 2) is E.UNKNOWN_MEMBER_ID


def test_a_static_member_keeps_its_place_for_a_session(world):
    one, two = Client(world, "one", instance="i"), Client(world, "two")
    settle(one, two)
    had, epoch = one.owned, world.consumers.epoch
    assert one.leave(-2) is E.NONE
    two.send()
    assert len(two.owned) == 2  # nothing is dealt out again
    heir = Client(world, "heir", instance="i")
    heir.send()
    assert heir.owned == had
    assert world.consumers.epoch == epoch
    assert set(world.consumers.members) == {"heir", "two"}
    assert world.error("one", 2, instance_id="i") is E.FENCED_INSTANCE_ID
    assert world.error("one", -1, instance_id="i") is E.FENCED_INSTANCE_ID


def test_a_static_member_that_does_not_come_back_is_removed(world):
    one = Client(world, "one", instance="i")
    settle(one)
    one.leave(-2)
    world.advance(44_000)
    assert set(world.consumers.members) == {"one"}
    world.advance(2_000)
    assert world.consumer_state == "Empty"


def test_an_instance_that_is_in_use_is_not_handed_over(world):
    one = Client(world, "one", instance="i")
    settle(one)
    assert world.error("two", 0, **JOIN, instance_id="i") is E.UNRELEASED_INSTANCE_ID
    assert world.error("one", 0, **JOIN, instance_id="i") is E.NONE  # has missed the answer
    assert one.leave(-1) is E.NONE
    assert world.error("two", 0, **JOIN, instance_id="i") is E.NONE


def test_an_answer_waits_until_the_log_holds_it(world):
    world.hold_writes = True
    join, again = world.beat("one", 0, **JOIN), world.beat("one", 1)
    assert not {join, again} & world.answers.keys()
    world.hold_writes = False
    world.commit_writes()
    assert world.answers[join].member_epoch == 1
    assert world.answers[again].error is E.NONE


def test_a_refused_write_changes_nothing(world):
    one = Client(world, "one")
    settle(one)
    world.hold_writes = True
    join, again = world.beat("two", 0, **JOIN), world.beat("two", 2)
    world.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert world.answers[join].error is E.COORDINATOR_NOT_AVAILABLE
    assert world.answers[again].error is E.COORDINATOR_NOT_AVAILABLE
    assert set(world.consumers.members) == {"one"}
    world.hold_writes = False
    assert world.ask("one", 1).member_epoch == 1


def test_a_write_of_unknown_fate_counts_once_it_is_in_the_log(world):
    world.hold_writes = True
    join = world.beat("one", 0, **JOIN)
    (write,) = world.pending
    world.fail_writes(E.REQUEST_TIMED_OUT)
    assert world.answers[join].error is E.COORDINATOR_NOT_AVAILABLE
    assert world.error("one", 1) is E.COORDINATOR_NOT_AVAILABLE
    for record in write.records:  # committed after all
        world.shard.replay(record)
    assert world.error("one", 1) is E.NONE


def test_a_lost_removal_is_tried_again(world):
    one = Client(world, "one")
    settle(one)
    world.hold_writes = True
    world.advance(46_000)
    world.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert set(world.consumers.members) == {"one"}
    world.hold_writes = False
    world.advance(46_000)
    assert world.consumer_state == "Empty"


def test_another_coordinator_reads_the_same_and_gives_members_a_session(world):
    one, two = Client(world, "one"), Client(world, "two", instance="i")
    settle(one, two)
    other = world.reloaded()
    copy = other.core.consumer_groups.find(GROUP)
    assert copy.equals(world.consumers)
    assert copy.state is world.consumers.state
    assert copy.owners == world.consumers.owners
    assert copy.static_members == {"i": "two"}
    world.clock.advance(46_000)
    other.tick()
    assert copy.members == {}


def test_an_unloaded_shard_forgets_its_members(world):
    world.hold_writes = True
    join = world.beat("one", 0, **JOIN)
    world.take(world.shard.unload())
    world.fail_writes(E.NOT_LEADER_OR_FOLLOWER)
    assert world.answers[join].error is E.NOT_COORDINATOR
    assert world.consumers is None


def test_a_groups_own_session_holds_from_the_next_heartbeat(world):
    world.beat("one", 0, **JOIN)
    world.shard.core.timings_of = lambda _group_id: ConsumerTimings(50_000, 7_000)
    assert world.ask("one", 1).heartbeat_interval_ms == 7_000
    world.advance(49_999)
    assert "one" in world.consumers.members
    world.advance(1)
    assert world.consumers.members == {}
