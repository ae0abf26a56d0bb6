"""The planner keeps what it can, spreads evenly, keeps racks apart; checked over random worlds."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.types import TP
from controlplane.reassignments.rules import (
    Move,
    UnplannableError,
    broker_loads,
    bytes_arrived,
    moves_of,
    next_batch,
    seconds_estimated,
    spread,
    survey,
)


@st.composite
def worlds(draw):
    brokers = draw(st.lists(st.integers(1, 20), min_size=2, max_size=8, unique=True))
    rf = draw(st.integers(1, min(3, len(brokers))))
    count = draw(st.integers(1, 30))
    current = {TP("t", i): tuple(draw(st.permutations(brokers))[:rf]) for i in range(count)}
    targets = draw(
        st.lists(st.sampled_from(brokers), min_size=rf, max_size=len(brokers), unique=True)
    )
    racks = {broker: draw(st.sampled_from(["a", "b", "c", None])) for broker in brokers}
    return current, set(targets), racks


@given(worlds())
def test_spread_lands_on_targets_evenly_without_doubles(world):
    current, targets, racks = world
    planned = spread(current, targets=targets, racks=racks)
    load = Counter(dict.fromkeys(targets, 0))
    for tp, replicas in planned.items():
        assert len(replicas) == len(set(replicas)) == len(current[tp])
        assert set(replicas) <= targets
        load.update(replicas)
    assert max(load.values()) - min(load.values()) <= 1


@given(worlds())
def test_spread_again_moves_nothing(world):
    current, targets, racks = world
    planned = spread(current, targets=targets, racks=racks)
    assert spread(planned, targets=targets, racks=racks) == planned


def test_spread_prefers_a_rack_that_the_partition_has_not_got():
    current = {TP("t", 0): (1, 9)}
    racks = {1: "a", 2: "a", 3: "b", 9: "b"}
    assert spread(current, targets={1, 2, 3}, racks=racks)[TP("t", 0)] == (1, 3)


def test_draining_a_broker_touches_only_its_replicas():
    current = {TP("t", i): ((1, 2), (2, 3), (3, 4), (4, 1))[i] for i in range(4)}
    planned = spread(current, targets={1, 2, 3}, racks={})
    assert planned[TP("t", 0)] == (1, 2)
    assert planned[TP("t", 1)] == (2, 3)
    assert all(4 not in replicas for replicas in planned.values())


def test_too_few_targets_are_refused():
    with pytest.raises(UnplannableError, match="only 1 target"):
        spread({TP("t", 0): (1, 2)}, targets={3}, racks={})


def move(i, before, after, size=100):
    return Move(tp=TP("t", i), before=before, after=after, size_bytes=size)


def test_sizes_and_loads_add_up():
    moves = moves_of(
        {TP("t", 0): (1, 2), TP("t", 1): (2, 3)},
        {TP("t", 0): (1, 3), TP("t", 1): (2, 3)},
        {TP("t", 0): 100},
    )
    assert moves == [move(0, (1, 2), (1, 3))]
    loads = broker_loads(
        moves, brokers=[1, 2, 3], bytes_now={1: 100, 2: 150, 3: 50}, replicas_now={1: 1, 2: 2, 3: 1}
    )
    assert [(row.id, row.after_bytes, row.after_replicas) for row in loads] == [
        (1, 100, 1),
        (2, 50, 1),
        (3, 150, 2),
    ]


@pytest.mark.parametrize(
    ("moves", "batch_size", "seconds"),
    [
        ([move(0, (1, 2), (1, 3))], 10, 2.0),
        # Broker 4 receives both.
        ([move(0, (1,), (4,)), move(1, (2,), (4,))], 10, 4.0),
        # Broker 1 sends both, to different brokers.
        ([move(0, (1,), (3,)), move(1, (1,), (4,))], 10, 4.0),
        # One leader feeds two new replicas.
        ([move(0, (1, 2), (3, 4))], 10, 4.0),
        # Nothing in common, but one after the other.
        ([move(0, (1,), (3,)), move(1, (2,), (4,))], 1, 4.0),
        ([move(0, (1,), (3,)), move(1, (2,), (4,))], 2, 2.0),
        ([move(0, (1, 2), (2, 1))], 1, 0.0),
    ],
)
def test_the_throttle_bounds_every_broker_both_ways(moves, batch_size, seconds):
    assert seconds_estimated(moves, 50, batch_size=batch_size) == seconds
    assert seconds_estimated(moves, None, batch_size=batch_size) is None


def test_survey_sorts_and_batches_are_bounded():
    moves = [move(i, (1, 2), (1, 3)) for i in range(5)]
    now = {TP("t", 0): (1, 3), TP("t", 1): (1, 2), TP("t", 2): (1, 2), TP("t", 3): (7, 8)}
    found = survey(moves, now=now, ongoing={TP("t", 1)})
    assert [m.tp.partition for m in found.done] == [0]
    assert [m.tp.partition for m in found.moving] == [1]
    assert [m.tp.partition for m in found.todo] == [2]
    assert [m.tp.partition for m in found.foreign] == [3, 4]
    assert next_batch(found, batch_size=1) == ()
    assert [m.tp.partition for m in next_batch(found, batch_size=9)] == [2]


def test_bytes_arrived_never_exceeds_what_was_asked():
    moves = [move(0, (1, 2), (3, 4))]
    sizes = {(3, TP("t", 0)): 500, (4, TP("t", 0)): 40}
    assert bytes_arrived(moves, sizes) == (140, 200)
