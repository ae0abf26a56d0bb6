"""Assignors deal out everything once, evenly; uniform moves little, range cuts topics alike."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.groups.consumer.assignors import (
    ASSIGNORS,
    Subscriber,
    assign_range,
    assign_uniform,
)
from dataplane.groups.consumer.id_partition import IdPartition

TOPICS = [uuid.UUID(int=n).bytes for n in range(1, 6)]
counts = st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 12))
subscriptions = st.frozensets(st.sampled_from(TOPICS))
subscribers = st.dictionaries(
    st.sampled_from("abcdefgh"), st.builds(Subscriber, st.none() | st.just("i"), subscriptions)
)
equals = st.builds(
    lambda names, topics: {name: Subscriber(None, topics) for name in names},
    st.sets(st.sampled_from("abcdefgh"), min_size=1),
    subscriptions,
)
assignors = st.sampled_from(sorted(ASSIGNORS))


def parts(topic, *indexes):
    return frozenset(IdPartition(topic, index) for index in indexes)


def readable(members, sizes):
    return {
        IdPartition(topic, index)
        for subscriber in members.values()
        for topic in subscriber.topics
        for index in range(sizes.get(topic, 0))
    }


def moved(before, after):
    return sum(len(after.get(member, frozenset()) - mine) for member, mine in before.items())


@given(assignors, subscribers, subscribers, counts, counts)
def test_everything_is_dealt_out_once_to_who_subscribes(name, before, members, sizes, later):
    first = ASSIGNORS[name](before, sizes, {})
    found = ASSIGNORS[name](members, later, first)
    assert found.keys() == members.keys()
    dealt = [part for mine in found.values() for part in mine]
    assert len(dealt) == len(set(dealt))
    assert set(dealt) == readable(members, later)
    for member, mine in found.items():
        assert {part.topic for part in mine} <= members[member].topics


@given(equals, equals, counts)
def test_uniform_gives_equal_members_equal_shares_and_keeps_what_it_can(before, members, sizes):
    first = assign_uniform(before, sizes, {})
    found = assign_uniform(members, sizes, first)
    shares = sorted(len(mine) for mine in found.values())
    assert shares[-1] - shares[0] <= 1
    # Nobody gives anything up beyond a fair share: who lost something has not less than others.
    valid = readable(members, sizes)
    quota, larger = divmod(len(valid), len(members))
    for member, mine in found.items():
        had = first.get(member, frozenset()) & valid
        if had - mine:
            assert len(mine) >= quota
            assert mine <= had
    losers = [m for m in found if (first.get(m, frozenset()) & valid) - found[m]]
    if any(len(found[m]) == quota for m in losers):
        assert (
            sum(len(found[m]) > quota and len(first.get(m, ()) & valid) > quota for m in found)
            == larger
        )


@given(subscribers, counts)
def test_uniform_leaves_no_pair_that_a_move_would_make_more_even(members, sizes):
    found = assign_uniform(members, sizes, {})
    for giver, mine in found.items():
        for taker, theirs in found.items():
            takes = [part for part in mine if part.topic in members[taker].topics]
            assert not takes or len(mine) - len(theirs) <= 1, (giver, taker)


@given(assignors, subscribers, counts)
def test_asked_again_nothing_moves(name, members, sizes):
    first = ASSIGNORS[name](members, sizes, {})
    assert ASSIGNORS[name](members, sizes, first) == first


@given(st.sets(st.sampled_from("abcdefgh"), min_size=1), counts, subscriptions)
def test_uniform_moves_to_a_new_member_only_its_share(names, sizes, topics):
    members = {name: Subscriber(None, topics) for name in names}
    first = assign_uniform(members, sizes, {})
    more = members | {"new": Subscriber(None, topics)}
    after = assign_uniform(more, sizes, first)
    assert moved(first, after) == 0
    assert len(after["new"]) == sum(len(first[m] - after[m]) for m in first)


@given(subscribers, counts)
def test_range_cuts_topics_alike_that_have_the_same_members_and_size(members, sizes):
    found = assign_range(members, sizes, {})
    ways = {}
    for topic in TOPICS:
        readers = frozenset(m for m in members if topic in members[m].topics)
        cut = {m: {p.partition for p in found[m] if p.topic == topic} for m in readers}
        assert cut == ways.setdefault((readers, sizes.get(topic, 0)), cut)
        for mine in cut.values():
            assert mine == set(range(min(mine, default=0), max(mine, default=-1) + 1))


def test_range_by_example():
    one, two = TOPICS[:2]
    both = frozenset({one, two})
    members = {"a": Subscriber(None, both), "b": Subscriber(None, both)}
    assert assign_range(members, {one: 3, two: 3}, {}) == {
        "a": parts(one, 0, 1) | parts(two, 0, 1),
        "b": parts(one, 2) | parts(two, 2),
    }


def test_a_static_member_under_another_id_keeps_its_range():
    topic = TOPICS[0]
    first = {
        "m1": Subscriber("x", frozenset({topic})),
        "m2": Subscriber("y", frozenset({topic})),
    }
    again = {"m3": first["m1"], "m2": first["m2"]}
    before, after = (assign_range(members, {topic: 4}, {}) for members in (first, again))
    assert after["m3"] == before["m1"]
    assert after["m2"] == before["m2"]


@pytest.mark.parametrize("name", sorted(ASSIGNORS))
def test_no_members_get_nothing(name):
    assert ASSIGNORS[name]({}, {TOPICS[0]: 3}, {}) == {}
