"""The supervisor's table and its patience."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.agent.states import (
    BACKOFF_MS_MAX,
    HEALTHY_AFTER_MS,
    NEXT,
    BrokerState,
    backoff_ms,
    check_move,
    quick_exits_after,
)
from dataplane.model.transitions import IllegalTransitionError

# Written out once more, so that the code's table has a witness.
LEGAL = {
    ("stopped", "starting"),
    ("stopped", "running"),
    ("stopped", "failed"),
    ("stopped", "deleted"),
    ("starting", "running"),
    ("starting", "exited"),
    ("starting", "stopped"),
    ("starting", "failed"),
    ("running", "exited"),
    ("running", "stopped"),
    ("exited", "backoff"),
    ("exited", "starting"),
    ("exited", "failed"),
    ("exited", "stopped"),
    ("backoff", "starting"),
    ("backoff", "stopped"),
    ("failed", "starting"),
    ("failed", "stopped"),
    ("failed", "deleted"),
    ("deleted", "stopped"),
}


@pytest.mark.parametrize(("before", "after"), list(itertools.product(BrokerState, BrokerState)))
def test_every_move_is_legal_or_raises(before, after):
    if (before.value, after.value) in LEGAL:
        check_move(before, after)
    else:
        with pytest.raises(IllegalTransitionError, match=f"{before.value} → {after.value}"):
            check_move(before, after)


def test_every_state_can_be_stopped_and_none_is_a_trap():
    for state in BrokerState:
        assert state is BrokerState.STOPPED or BrokerState.STOPPED in NEXT[state]


@given(st.integers(0, 200))
def test_patience_grows_to_a_bound(quick_exits):
    assert backoff_ms(quick_exits) <= backoff_ms(quick_exits + 1) <= BACKOFF_MS_MAX


def test_the_first_death_is_followed_up_at_once_and_a_healthy_run_starts_a_new_row():
    assert backoff_ms(quick_exits_after(0, 10)) == 0
    assert backoff_ms(quick_exits_after(1, 10)) > 0
    assert quick_exits_after(9, HEALTHY_AFTER_MS) == 1
