"""The table of moves: every legal one is made, every illegal one raises."""

import itertools

import pytest

from controlplane.operations.states import (
    ACTIVE_STATES,
    OPERATION_MOVES,
    OPERATION_STATES,
    TERMINAL_STATES,
    IllegalTransitionError,
    check_move,
)

PAIRS = list(itertools.product(OPERATION_STATES, OPERATION_STATES))


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_only_the_table_moves(before, after):
    if after in OPERATION_MOVES[before]:
        check_move(before, after)
    else:
        with pytest.raises(IllegalTransitionError):
            check_move(before, after)


def test_active_and_terminal_are_all_states_and_ends_do_not_return():
    assert set(OPERATION_STATES) == ACTIVE_STATES | TERMINAL_STATES
    for state in TERMINAL_STATES:
        assert not OPERATION_MOVES[state] & ACTIVE_STATES


def test_every_active_state_reaches_an_end():
    reached, frontier = set(), {"pending"}
    while frontier:
        reached |= frontier
        frontier = {after for state in frontier for after in OPERATION_MOVES[state]} - reached
    assert reached == set(OPERATION_STATES)
