"""The life of a partition's reassignment, as a table.

              begin                       every target replica joins the ISR
    Settled ─────────► Copying ◄──────────────────────────────► CaughtUp ───► Settled
       ▲                │  ▲ replace        one leaves it        │  complete
       └──── cancel ────┴──┴────────────────── cancel ───────────┘

The status is derived from the partition's replica sets and its ISR; what may be done in it is
looked up here. A move that only reorders replicas, or whose replicas are in sync already, passes
through at once.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from dataplane.model.transitions import IllegalTransitionError

if TYPE_CHECKING:
    from dataplane.model.partition import PartitionState


class ReassignmentStatus(enum.Enum):
    """SETTLED: nothing is added or removed."""

    SETTLED = "Settled"
    COPYING = "Copying"
    CAUGHT_UP = "CaughtUp"


class Move(enum.Enum):
    """What may be done about a partition's replicas. REPLACE gives a running one another target."""

    BEGIN = "begin"
    REPLACE = "replace"
    CANCEL = "cancel"
    COMPLETE = "complete"


_S = ReassignmentStatus
_RUNNING = frozenset({_S.COPYING, _S.CAUGHT_UP})
_ANY = frozenset(_S)

VALID_BEFORE: dict[Move, frozenset[ReassignmentStatus]] = {
    Move.BEGIN: frozenset({_S.SETTLED}),
    Move.REPLACE: _RUNNING,
    Move.CANCEL: _RUNNING,
    Move.COMPLETE: frozenset({_S.CAUGHT_UP}),
}
VALID_AFTER: dict[Move, frozenset[ReassignmentStatus]] = {
    Move.BEGIN: _ANY,
    Move.REPLACE: _ANY,
    Move.CANCEL: frozenset({_S.SETTLED}),
    Move.COMPLETE: frozenset({_S.SETTLED}),
}


def status_of(state: PartitionState) -> ReassignmentStatus:
    if not state.is_reassigning:
        return _S.SETTLED
    target = {replica for replica in state.replicas if replica not in state.removing}
    return _S.CAUGHT_UP if target <= set(state.isr) else _S.COPYING


def check_move(before: PartitionState, move: Move) -> None:
    """Raises IllegalTransitionError when nothing of the kind may be done now."""
    status = status_of(before)
    if status not in VALID_BEFORE[move]:
        raise IllegalTransitionError(f"partition {before.index}: {move.value} while {status.value}")


def check_outcome(move: Move, after: PartitionState) -> None:
    """Raises IllegalTransitionError when a move has led where it cannot lead."""
    status = status_of(after)
    if status not in VALID_AFTER[move]:
        raise IllegalTransitionError(f"partition {after.index}: {move.value} → {status.value}")
