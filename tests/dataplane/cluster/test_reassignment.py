"""The algebra of reassignment: phases, replacement, cancel, and that no record is given up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster.reassignment import (
    begin,
    cancel,
    complete,
    is_complete,
    origin_of,
    target_of,
    unneeded_after,
)
from dataplane.model.partition import PartitionState

ALL = frozenset(range(7))
targets = st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True).map(tuple)


def led(leader, replicas, isr=None):
    return PartitionState(index=0, leader=leader, replicas=replicas, isr=isr or replicas)


def test_phases():
    moving = begin(led(1, (1, 2, 3)), (3, 4, 5), ALL)
    assert moving.replicas == (3, 4, 5, 1, 2)
    assert (moving.adding, moving.removing) == ((4, 5), (1, 2))
    assert (origin_of(moving), target_of(moving)) == ((3, 1, 2), (3, 4, 5))
    assert not is_complete(moving)
    caught_up = PartitionState(**{**fields(moving), "isr": (1, 2, 3, 4, 5)})
    assert is_complete(caught_up)
    done = complete(caught_up, ALL)
    assert (done.replicas, done.isr, done.leader) == ((3, 4, 5), (3, 4, 5), 3)
    assert not done.is_reassigning
    assert unneeded_after(caught_up, done) == (1, 2)


def fields(state):
    return {name: getattr(state, name) for name in PartitionState.__dataclass_fields__}


def test_a_leader_that_stays_keeps_leading():
    moving = begin(led(2, (1, 2)), (3, 2), ALL)
    done = complete(PartitionState(**{**fields(moving), "isr": (1, 2, 3)}), ALL)
    assert done.leader == 2
    assert done.leader_epoch == moving.leader_epoch + 1


def test_reordering_alone_is_done_at_once():
    after = begin(led(1, (1, 2, 3)), (3, 2, 1), ALL)
    assert after.replicas == (3, 2, 1)
    assert not after.is_reassigning


def test_another_target_drops_what_the_first_had_added():
    first = begin(led(1, (1, 2)), (3, 4), ALL)
    second = begin(first, (1, 5), ALL)
    assert second.replicas == (1, 5, 2)
    assert (second.adding, second.removing) == ((5,), (2,))
    assert unneeded_after(first, second) == (3, 4)


def test_a_cancel_that_would_lose_records_is_refused():
    moving = begin(led(1, (1, 2)), (3, 4), ALL)
    only_new = PartitionState(**{**fields(moving), "isr": (3,), "leader": 3})
    assert cancel(only_new, ALL) is None
    assert begin(only_new, (5, 6), ALL) is None


def test_completion_waits_for_a_target_that_can_lead():
    moving = begin(led(1, (1,)), (3,), ALL)
    caught_up = PartitionState(**{**fields(moving), "isr": (1, 3)})
    assert complete(caught_up, {1}) is None
    assert complete(caught_up, {1, 3}).leader == 3


@given(targets, targets, st.data())
def test_any_reassignment_ends_at_its_target_or_back_where_it_began(original, target, data):
    start = led(data.draw(st.sampled_from(original)), original)
    moving = begin(start, target, ALL)
    assert moving is not None
    assert set(target_of(moving)) == set(target)
    assert set(origin_of(moving)) == set(original)
    back = cancel(moving, ALL) if moving.is_reassigning else None
    if back is not None:
        assert set(back.replicas) == set(original)
        assert back.leader in back.isr
        assert not back.is_reassigning
    caught_up = PartitionState(**{**fields(moving), "isr": moving.replicas})
    if moving.is_reassigning:
        done = complete(caught_up, ALL)
        assert done.replicas == target
        assert set(done.isr) == set(target)
        assert done.leader in target
        assert set(unneeded_after(caught_up, done)) == set(original) - set(target)


@given(targets, targets, targets)
def test_replacing_a_running_reassignment_never_empties_the_isr(original, first, second):
    moving = begin(led(original[0], original), first, ALL)
    again = begin(moving, second, ALL)
    assert again is not None
    assert again.isr
    assert again.leader in again.replicas
    assert set(original) <= set(again.replicas)
