"""Every move between transaction states that the table does not have is refused."""

import itertools

import pytest

from dataplane.model.transitions import IllegalTransitionError
from dataplane.transactions.states import BY_LABEL, LEGAL_MOVES, TransactionState
from dataplane.transactions.transaction import TransactionImage

KAFKA = {
    ("Empty", "Empty"),
    ("Empty", "Ongoing"),
    ("Empty", "Dead"),
    ("Ongoing", "Ongoing"),
    ("Ongoing", "PrepareCommit"),
    ("Ongoing", "PrepareAbort"),
    ("Ongoing", "PrepareEpochFence"),
    ("PrepareEpochFence", "PrepareAbort"),
    ("PrepareCommit", "CompleteCommit"),
    ("PrepareAbort", "CompleteAbort"),
    ("CompleteCommit", "Empty"),
    ("CompleteCommit", "Ongoing"),
    ("CompleteCommit", "Dead"),
    ("CompleteAbort", "Empty"),
    ("CompleteAbort", "Ongoing"),
    ("CompleteAbort", "Dead"),
}


@pytest.mark.parametrize(
    ("before", "after"), list(itertools.product(TransactionState, TransactionState))
)
def test_each_move_is_legal_or_refused(before, after):
    image = TransactionImage(
        transactional_id="x", producer_id=1, producer_epoch=0, timeout_ms=1, state=before
    )
    if (before.label, after.label) in KAFKA:
        assert image.moved(after, updated_ms=7).state is after
    else:
        with pytest.raises(IllegalTransitionError, match=f"from {before.label} to {after.label}"):
            image.moved(after, updated_ms=7)


def test_every_state_has_a_row_and_kafkas_number():
    assert set(LEGAL_MOVES) == set(TransactionState)
    assert {label: int(state) for label, state in BY_LABEL.items()} == {
        "Empty": 0,
        "Ongoing": 1,
        "PrepareCommit": 2,
        "PrepareAbort": 3,
        "CompleteCommit": 4,
        "CompleteAbort": 5,
        "Dead": 6,
        "PrepareEpochFence": 7,
    }
