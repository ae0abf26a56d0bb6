"""A host's states as a table, with every move that it does not have."""

import pytest

from controlplane.clusters.host_states import (
    ACTIVE,
    ACTS,
    CHOSEN,
    CORDONED,
    DRAINING,
    HOST,
    LOST,
    REMOVED,
    act_to,
    why_not,
)
from controlplane.common.transitions import IllegalTransitionError

LEGAL = {
    (ACTIVE, CORDONED), (ACTIVE, DRAINING), (ACTIVE, LOST), (ACTIVE, REMOVED),
    (CORDONED, ACTIVE), (CORDONED, DRAINING), (CORDONED, LOST), (CORDONED, REMOVED),
    (DRAINING, ACTIVE), (DRAINING, CORDONED), (DRAINING, LOST), (DRAINING, REMOVED),
    (LOST, CORDONED), (LOST, REMOVED),
}  # fmt: skip
ALL = [(before, after) for before in HOST.states for after in HOST.states]


@pytest.mark.parametrize(("before", "after"), sorted(LEGAL))
def test_legal_moves(before, after):
    HOST.check(before, after)
    assert before in HOST.sources(after)


@pytest.mark.parametrize(("before", "after"), [move for move in ALL if move not in LEGAL])
def test_illegal_moves(before, after):
    with pytest.raises(IllegalTransitionError):
        HOST.check(before, after)


@pytest.mark.parametrize("state", [state for state in HOST.states if state != REMOVED])
@pytest.mark.parametrize("act", sorted(ACTS))
def test_an_act_is_possible_where_its_move_is(act, state):
    assert (why_not(act, state) is None) == ((state, ACTS[act]) in LEGAL)


def test_a_lost_host_is_looked_at_before_it_gets_brokers():
    assert why_not("uncordon", LOST).text == "A host that is lost cannot be active."
    assert why_not("declare-lost", LOST).text == "It is lost."


def test_every_chosen_state_has_an_act_of_its_own():
    assert [ACTS[act_to(state)] for state in CHOSEN] == list(CHOSEN)
