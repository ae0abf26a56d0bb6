"""A roll's decisions: the order, what is in the way of a broker, what a canary is measured by."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.clusters.roll_book import MEMO, OUTCOME, RollBook
from controlplane.clusters.rolls import (
    Facts,
    Health,
    Member,
    Unavoidable,
    candidates,
    obstacles,
    order,
    summed_up,
    to_elect,
    unavoidable,
)
from controlplane.common.transitions import IllegalTransitionError
from controlplane.gateway.types import TP
from controlplane.operations.rolled import (
    DONE,
    FAILED,
    RESTARTED,
    RESTARTING,
    RETURNING,
    ROLLED_MOVES,
    UNDER_WAY,
    WAITING,
)
from tests.controlplane.clusters.test_restarting import topic

NOTHING = Unavoidable(offline=frozenset(), unwritable=frozenset())
WHOLE = topic("t", (1, (1, 2, 3), (1, 2, 3)))


def facts(*topics, live=(1, 2, 3), controller=1, min_isr=None, **more):
    return Facts(
        live=frozenset(live),
        wanted=frozenset((1, 2, 3)),
        controller=controller,
        topics=topics,
        min_isr=min_isr if min_isr is not None else {each.name: 2 for each in topics},
        **more,
    )


def codes(broker, *topics, accepted=NOTHING, **more):
    return [one.code for one in obstacles(broker, facts(*topics, **more), accepted)]


# -- the table of a broker's states
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pair
        for pair in itertools.product(ROLLED_MOVES.states, repeat=2)
        if pair[1] not in ROLLED_MOVES.table[pair[0]]
    ],
)
def test_every_illegal_move_is_refused(before, after):
    memo = {MEMO: {"brokers": [{"id": 1, "state": before}]}}
    with pytest.raises(IllegalTransitionError):
        RollBook(memo, [1]).move(1, after, 1.0)
    assert memo[MEMO]["brokers"][0]["state"] == before


def test_every_state_leads_to_an_end_and_no_end_leads_on():
    ends = {state for state, nexts in ROLLED_MOVES.table.items() if not nexts}
    assert ends == {"done", "failed", "left"}
    reached = set(ends)
    for _ in ROLLED_MOVES.states:
        reached |= {state for state, nexts in ROLLED_MOVES.table.items() if nexts & reached}
    assert reached == set(ROLLED_MOVES.states)
    assert set(ROLLED_MOVES.states) - ends - {WAITING} == UNDER_WAY


def test_the_book_keeps_the_times_and_shows_no_more_than_is_known():
    memo = {}
    book = RollBook(memo, [2, 1])
    book.move(2, RESTARTING, 10.0)
    book.move(2, RETURNING, 12.0)
    again = RollBook(memo, [])  # another worker, after this one was killed
    assert (again.under_way, again.waiting, again.lasts_s(2, 15.0)) == (2, [1], 3.0)
    first, second = memo[OUTCOME]["roll"]["brokers"]
    assert (first["id"], first["restarted_at"]) == (2, "1970-01-01T00:00:12Z")
    assert (second["id"], second["state"], second["since"]) == (1, "waiting", None)
    assert first["registered_at"] is None


# -- the order
def test_the_controller_is_last_and_who_is_away_first():
    members = [
        Member(id=1, leads=0, is_live=True),
        Member(id=2, leads=9, is_live=True),
        Member(id=3, leads=4, is_live=True),
        Member(id=4, leads=50, is_live=False),
    ]
    assert order(members, 1) == [4, 3, 2, 1]
    assert order(members, None) == [4, 1, 3, 2]
    assert order(members, 4) == [4, 1, 3, 2], "one that is away is no active controller"


def test_whoever_is_the_controller_now_waits_for_the_others():
    assert candidates([3, 2, 1], 3) == [2, 1, 3]
    assert candidates([3], 3) == [3]
    assert candidates([3, 2], None) == [3, 2]


# -- what is in the way
@pytest.mark.parametrize(
    ("topics", "more", "found"),
    [
        ([WHOLE], {}, []),
        ([WHOLE], {"controller": None}, ["no-controller"]),
        ([WHOLE], {"live": (1, 2)}, ["broker-away"]),
        ([WHOLE], {"live": (2, 3)}, []),  # itself: a restart may mend it
        ([WHOLE], {"live": (2, 3), "starting": frozenset({1})}, ["broker-starting"]),
        ([WHOLE], {"moving": frozenset({TP("t", 0)})}, ["reassigning"]),
        # Others are behind: of a partition that it holds, or not.
        ([topic("t", (1, (1, 2, 3), (1, 2)))], {}, ["replicas-behind", "below-min-isr"]),
        ([topic("t", (2, (2, 3), (2,)))], {}, ["replicas-behind"]),
        ([topic("t", (2, (1, 2, 3), (2, 3)))], {}, []),  # itself
        ([topic("t", (None, (2, 3), (2, 3)))], {}, ["partitions-offline"]),
        ([topic("t", (1, (1,), (1,)))], {}, ["would-be-offline"]),
        ([topic("t", (1, (1, 2), (1, 2)))], {}, ["below-min-isr"]),
        ([topic("t", (1, (1, 2), (1, 2)))], {"min_isr": {"t": 1}}, []),
        ([WHOLE], {"min_isr": {}}, ["min-isr-unknown"]),
        ([WHOLE], {"min_isr": {"t": None}}, ["min-isr-unknown"]),
    ],
)
def test_what_is_in_the_way_of_broker_1(topics, more, found):
    assert codes(1, *topics, **more) == found


def test_what_the_plan_has_named_is_no_obstacle_and_only_that():
    alone, pair = topic("alone", (1, (1,), (1,))), topic("pair", (1, (1, 2), (1, 2)))
    accepted = Unavoidable(offline=frozenset({"alone"}), unwritable=frozenset({"pair"}))
    assert codes(1, alone, pair, accepted=accepted) == []
    assert codes(1, topic("new", (1, (1,), (1,))), accepted=accepted) == ["would-be-offline"]


def test_what_one_broker_alone_says_is_said_as_its_word():
    (found,) = obstacles(1, facts(topic("t", (2, (2, 3), (2,)))), NOTHING, seen_by=3)
    assert found.text == "1 partition with replicas out of sync (t-0), as broker 3 says"


def test_what_no_order_can_avoid():
    topics = [
        topic("alone", (1, (1,), (1,))),
        topic("pair", (1, (1, 2), (1, 2))),
        # In sync is another matter: for that the roll waits.
        topic("shrunk", (1, (1, 2, 3), (1, 2))),
        topic("silent", (1, (1, 2), (1, 2))),
        topic("elsewhere", (2, (2,), (2,))),
    ]
    found = unavoidable(1, topics, {"alone": 1, "pair": 2, "shrunk": 2, "silent": None})
    assert found == Unavoidable(
        offline=frozenset({"alone"}),
        unwritable=frozenset({"pair"}),
        unknown=frozenset({"silent"}),
    )


REPLICAS = st.permutations([1, 2, 3, 4]).flatmap(
    lambda ids: st.integers(1, 4).map(lambda count: tuple(ids[:count]))
)


@st.composite
def partitions(draw):
    replicas = draw(REPLICAS)
    isr = tuple(sorted(draw(st.sets(st.sampled_from(replicas), min_size=1))))
    return (draw(st.sampled_from(isr)), replicas, isr)


@given(st.lists(partitions(), min_size=1, max_size=6), st.integers(1, 4), st.integers(1, 4))
def test_nobody_is_taken_who_takes_a_partition_below_its_minimum(parts, least, broker):
    """Whatever the cluster looks like: without an obstacle every partition stays served."""
    found = obstacles(
        broker,
        Facts(
            live=frozenset((1, 2, 3, 4)),
            wanted=frozenset((1, 2, 3, 4)),
            controller=1,
            topics=(topic("t", *parts),),
            min_isr={"t": least},
        ),
        NOTHING,
    )
    left = [set(isr) - {broker} for _, _, isr in parts if broker in isr]
    harmed = any(not rest or len(rest) < least for rest in left)
    assert not harmed or found
    if not found:
        assert all(set(replicas) - set(isr) <= {broker} for _, replicas, isr in parts)


# -- leaders and the canary
def test_only_what_prefers_it_and_has_it_in_sync_is_elected():
    topics = [
        topic(
            "t",
            (2, (1, 2), (1, 2)),
            (1, (1, 2), (1, 2)),
            (2, (2, 1), (1, 2)),
            (2, (1, 2), (2,)),
        )
    ]
    assert to_elect(1, topics) == [TP("t", 0)]


def test_worse_is_what_has_grown():
    before = Health.of(facts(WHOLE))
    shrunk = Health.of(facts(topic("t", (1, (1, 2, 3), (1, 2))), live=(1, 2)))
    assert Health.of(facts(WHOLE)).worse_than(before) == ""
    assert shrunk.worse_than(before) == (
        "1 partitions under-replicated, 0 before; 1 brokers not up, 0 before"
    )
    assert before.worse_than(shrunk) == ""


def test_an_early_end_says_who_was_restarted():
    states = {3: DONE, 2: FAILED, 1: WAITING}
    assert summed_up(states, RESTARTED, FAILED) == (
        "Restarted: broker 3. Failed: broker 2. Not restarted: broker 1."
    )
    assert summed_up({1: WAITING, 2: WAITING}, RESTARTED, FAILED) == ""
