"""Every move between consumer group states that the table does not have is refused."""

import itertools

import pytest

from dataplane.groups.consumer.group import ConsumerGroup
from dataplane.groups.consumer.states import LEGAL_MOVES, ConsumerGroupState
from dataplane.model.transitions import IllegalTransitionError
from tests.dataplane.groups.consumer.members import Client, World, settle

ALIVE = {"Empty", "Assigning", "Reconciling", "Stable"}
LEGAL = {*itertools.product(ALIVE, ALIVE), ("Empty", "Dead"), ("Dead", "Dead")}


@pytest.mark.parametrize(
    ("before", "after"), list(itertools.product(ConsumerGroupState, ConsumerGroupState))
)
def test_each_move_is_legal_or_refused(before, after):
    group = ConsumerGroup("g")
    group.state = before
    if (before.value, after.value) in LEGAL:
        group.move_to(after)
        assert group.state is after
    else:
        with pytest.raises(IllegalTransitionError, match=f"from {before.value} to {after.value}"):
            group.move_to(after)
        assert group.state is before


def test_every_state_has_a_row():
    assert set(LEGAL_MOVES) == set(ConsumerGroupState)


def test_a_group_goes_through_its_states():
    world = World()
    world.topics.put("t", 2)
    one, two = Client(world, "one"), Client(world, "two")
    one.send()
    assert world.consumer_state == "Stable"
    two.send()
    assert world.consumer_state == "Reconciling"  # one has not given anything up yet
    settle(one, two)
    assert world.consumer_state == "Stable"
    two.leave()
    assert world.consumer_state == "Assigning"  # until somebody is heard of
    one.send()
    assert world.consumer_state == "Stable"
    one.leave()
    assert world.consumer_state == "Empty"
