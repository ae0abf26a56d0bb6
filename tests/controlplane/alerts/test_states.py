"""The table of an alert's moves: each legal one, and every other one refused."""

import itertools

import pytest

from controlplane.alerts.models import Alert
from controlplane.alerts.states import ALERT_MOVES, STATE_CHOICES
from controlplane.common.transitions import IllegalTransitionError

LEGAL = {
    ("none", "pending"),
    ("pending", "firing"),
    ("pending", "none"),
    ("firing", "acknowledged"),
    ("firing", "resolved"),
    ("acknowledged", "firing"),
    ("acknowledged", "resolved"),
    ("resolved", "firing"),
}
ALL = list(itertools.product(ALERT_MOVES.states, repeat=2))


@pytest.mark.parametrize(("before", "after"), ALL, ids="-".join)
def test_a_move_is_in_the_table_or_refused(before, after):
    alert = Alert(state=before)
    if (before, after) in LEGAL:
        alert.move_to(after)
        assert alert.state == after
        return
    with pytest.raises(IllegalTransitionError):
        alert.move_to(after)
    assert alert.state == before


def test_there_is_a_row_for_every_state_but_none():
    assert {"none", *(state for state, _ in STATE_CHOICES)} == set(ALERT_MOVES.states)
