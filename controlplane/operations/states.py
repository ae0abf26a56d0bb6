"""States of operations, steps and plans, and every move that is legal. Pure.

    pending ──► running ──► verifying ──► succeeded ──► reverted
       │           │  │         │  │
       │           │  └────► failed◄┘   (after the rollback steps have run)
       └──► cancelling ──► cancelled | failed
    running, verifying ──► cancelling

`reverted` means: a later operation, made from this one's undo plan, succeeded.
"""

PENDING, RUNNING, VERIFYING, CANCELLING = "pending", "running", "verifying", "cancelling"
SUCCEEDED, FAILED, CANCELLED, REVERTED = "succeeded", "failed", "cancelled", "reverted"

OPERATION_MOVES: dict[str, frozenset[str]] = {
    PENDING: frozenset({RUNNING, CANCELLING, FAILED}),
    RUNNING: frozenset({VERIFYING, CANCELLING, SUCCEEDED, FAILED}),
    VERIFYING: frozenset({CANCELLING, SUCCEEDED, FAILED}),
    CANCELLING: frozenset({CANCELLED, FAILED}),
    SUCCEEDED: frozenset({REVERTED}),
    FAILED: frozenset(),
    CANCELLED: frozenset(),
    REVERTED: frozenset(),
}
OPERATION_STATES = tuple(OPERATION_MOVES)
ACTIVE_STATES = frozenset({PENDING, RUNNING, VERIFYING, CANCELLING})
TERMINAL_STATES = frozenset(OPERATION_STATES) - ACTIVE_STATES
STATE_CHOICES = [(state, state) for state in OPERATION_STATES]

STEP_PENDING, STEP_RUNNING, STEP_DONE = "pending", "running", "done"
STEP_FAILED, STEP_SKIPPED = "failed", "skipped"
STEP_STATE_CHOICES = [
    (state, state) for state in (STEP_PENDING, STEP_RUNNING, STEP_DONE, STEP_FAILED, STEP_SKIPPED)
]

PLAN_OPEN, PLAN_USED, PLAN_EXPIRED, PLAN_STALE = "open", "used", "expired", "stale"
PLAN_MOVES: dict[str, frozenset[str]] = {
    PLAN_OPEN: frozenset({PLAN_USED, PLAN_EXPIRED, PLAN_STALE}),
    PLAN_USED: frozenset(),
    PLAN_EXPIRED: frozenset(),
    PLAN_STALE: frozenset(),
}
PLAN_STATES = tuple(PLAN_MOVES)
PLAN_STATE_CHOICES = [(state, state) for state in PLAN_STATES]


class IllegalTransitionError(Exception):
    """A programmer's error: the table has no such move."""


def check_move(before: str, after: str) -> None:
    if after not in OPERATION_MOVES[before]:
        raise IllegalTransitionError(f"operation: {before} -> {after}")


def check_plan_move(before: str, after: str) -> None:
    if after not in PLAN_MOVES[before]:
        raise IllegalTransitionError(f"plan: {before} -> {after}")
