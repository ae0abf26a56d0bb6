"""The table of healing cases: every move that it has, and none that it has not."""

import itertools

import pytest

from controlplane.common.transitions import IllegalTransitionError
from controlplane.healing.states import (
    CASE_MOVES,
    DISMISSED,
    FAILED,
    HEALED,
    OPEN,
    PROPOSED,
    REPLACING,
    WAITING,
    WITHDRAWN,
)

LEGAL = {
    (WAITING, PROPOSED),
    (WAITING, REPLACING),
    (WAITING, WITHDRAWN),
    (PROPOSED, WAITING),
    (PROPOSED, REPLACING),
    (PROPOSED, DISMISSED),
    (PROPOSED, WITHDRAWN),
    (REPLACING, HEALED),
    (REPLACING, FAILED),
}
STATES = (WAITING, PROPOSED, REPLACING, HEALED, FAILED, DISMISSED, WITHDRAWN)


@pytest.mark.parametrize("pair", list(itertools.product(STATES, STATES)), ids="-".join)
def test_every_move(pair):
    if pair in LEGAL:
        CASE_MOVES.check(*pair)
        return
    with pytest.raises(IllegalTransitionError):
        CASE_MOVES.check(*pair)


def test_what_is_open_ends_in_the_end():
    assert set(CASE_MOVES.states) == set(STATES)
    assert {state for state in STATES if CASE_MOVES.table[state]} == OPEN
