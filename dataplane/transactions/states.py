"""The states of a transactional id and every legal move between them.

          first partition          EndTxn            markers written
Empty ───────────────► Ongoing ─────────────► PrepareCommit ─────────► CompleteCommit
  ▲                     ▲ │ └─────────────► PrepareAbort ────────────► CompleteAbort
  │                     │ └► PrepareEpochFence ──┘ ▲  timed out, or its producer replaced
  │                     └── first partition of the next one, from either Complete
  └── InitProducerId, from either Complete;  Empty and Complete* ► Dead: the id has expired

PrepareEpochFence is never stored: it lasts while the abort with the higher epoch is being written.
"""

from __future__ import annotations

import enum
from typing import Final

from dataplane.model.transitions import IllegalTransitionError


class TransactionState(enum.IntEnum):
    """Numbers are those of `__transaction_state`'s records."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """The name that DescribeTransactions and ListTransactions show."""
        return "".join(word.capitalize() for word in self.name.split("_"))


_S = TransactionState

LEGAL_MOVES: Final[dict[TransactionState, frozenset[TransactionState]]] = {
    _S.EMPTY: frozenset({_S.EMPTY, _S.ONGOING, _S.DEAD}),
    _S.ONGOING: frozenset(
        {_S.ONGOING, _S.PREPARE_COMMIT, _S.PREPARE_ABORT, _S.PREPARE_EPOCH_FENCE}
    ),
    _S.PREPARE_EPOCH_FENCE: frozenset({_S.PREPARE_ABORT}),
    _S.PREPARE_COMMIT: frozenset({_S.COMPLETE_COMMIT}),
    _S.PREPARE_ABORT: frozenset({_S.COMPLETE_ABORT}),
    _S.COMPLETE_COMMIT: frozenset({_S.EMPTY, _S.ONGOING, _S.DEAD}),
    _S.COMPLETE_ABORT: frozenset({_S.EMPTY, _S.ONGOING, _S.DEAD}),
    _S.DEAD: frozenset(),
}

PREPARED: Final = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
"""Decided, but some partition may not have its marker yet."""

IDLE: Final = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})
"""No transaction is under way."""

BY_LABEL: Final = {state.label: state for state in TransactionState}


def check_move(transactional_id: str, before: TransactionState, after: TransactionState) -> None:
    """IllegalTransitionError for a move that the table does not have."""
    if after not in LEGAL_MOVES[before]:
        raise IllegalTransitionError(
            f"transactional id {transactional_id!r} cannot move from {before.label}"
            f" to {after.label}"
        )
