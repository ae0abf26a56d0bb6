"""Members that subscribe by a regular expression."""

from dataplane.model.errors import ErrorCode as E
from tests.dataplane.groups.consumer.members import Client, World, settle


def by(regex, **fields):
    return {"topics": frozenset(), "regex": regex} | fields


def world_of(**counts):
    world = World()
    for name, count in counts.items():
        world.topics.put(name, count)
    return world


def test_topics_that_match_are_assigned_also_later_ones():
    world = world_of(orders_eu=1, orders_us=1, other=1)
    one = Client(world, "one", **by("orders_.*"))
    settle(one)
    assert one.owned == world.parts("orders_eu", 0) | world.parts("orders_us", 0)
    world.topics.put("orders_jp", 2)
    settle(one)
    assert len(one.owned) == 4
    world.topics.drop("orders_eu")
    settle(one)
    assert one.owned == world.parts("orders_us", 0) | world.parts("orders_jp", 0, 1)


def test_names_and_expression_add_up_and_an_empty_one_ends_it():
    world = world_of(a=1, b=1)
    one = Client(world, "one", topics=frozenset({"a"}), regex="b")
    settle(one)
    assert len(one.owned) == 2
    answer = world.ask("one", one.epoch, regex="", owned=one.owned)
    assert answer.assignment == world.parts("a", 0)


def test_what_is_no_expression_changes_nothing():
    world = world_of(a=1)
    answer = world.ask("one", 0, rebalance_timeout_ms=1, owned=frozenset(), **by("("))
    assert answer.error is E.INVALID_REGULAR_EXPRESSION
    assert "missing )" in answer.message
    assert world.consumers is None
    settle(Client(world, "one", **by("a")))
    before = world.consumers.members["one"]
    assert world.error("one", 1, regex="[") is E.INVALID_REGULAR_EXPRESSION
    assert world.consumers.members["one"] == before


def test_topics_that_a_member_may_not_know_of_do_not_match():
    world = world_of(mine=1, secret=1)
    one = Client(world, "one", **by(".*", may_describe=lambda name: name != "secret"))
    settle(one)
    assert one.owned == world.parts("mine", 0)


def test_rights_are_looked_at_again_after_a_while():
    world = world_of(mine=1, secret=1)
    one = Client(world, "one", **by(".*"))
    settle(one)
    nothing_secret = {"may_describe": lambda name: name != "secret"}
    assert world.ask("one", 1, owned=one.owned, **nothing_secret).assignment is None
    for _ in range(14):
        world.advance(44_000)
        answer = world.ask("one", one.epoch, owned=one.owned, **nothing_secret)
        one.epoch, one.owned = answer.member_epoch, answer.assignment or one.owned
    assert one.owned == world.parts("mine", 0)


def test_after_a_failover_nothing_moves_before_everybody_is_heard_of():
    world = world_of(a=4)
    one, two = Client(world, "one", **by("a")), Client(world, "two", **by("a"))
    settle(one, two)
    had = one.owned
    world.shard = world.reloaded()
    three = Client(world, "three", **by("a"))
    three.send()  # deals out again, before the others have said what they may see
    settle(one, two, three)
    assert one.owned <= had
    owned = [one.owned, two.owned, three.owned]
    assert sorted(map(len, owned)) == [1, 1, 2]
    assert frozenset.union(*owned) == world.parts("a", 0, 1, 2, 3)
