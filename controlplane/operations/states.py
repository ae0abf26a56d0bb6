"""States of operations, their steps, plans and analytics runs, and every legal move. Pure.

    pending ──► running ──► verifying ──► succeeded ──► reverted
       │           │  │         │  │
       │           │  └────► failed◄┘   (after the rollback steps have run)
       └──► cancelling ──► cancelled | failed
    running, verifying ──► cancelling

`reverted` means: a later operation, made from this one's undo plan, succeeded.

An analytics run is queued again when its process or its host went away.
"""

from controlplane.common.transitions import Transitions

PENDING, RUNNING, VERIFYING, CANCELLING = "pending", "running", "verifying", "cancelling"
SUCCEEDED, FAILED, CANCELLED, REVERTED = "succeeded", "failed", "cancelled", "reverted"

QUEUED = "queued"

OPERATION_MOVES = Transitions(
    "operation",
    {
        PENDING: frozenset({RUNNING, CANCELLING, FAILED}),
        RUNNING: frozenset({VERIFYING, CANCELLING, SUCCEEDED, FAILED}),
        VERIFYING: frozenset({CANCELLING, SUCCEEDED, FAILED}),
        CANCELLING: frozenset({CANCELLED, FAILED}),
        SUCCEEDED: frozenset({REVERTED}),
        FAILED: frozenset(),
        CANCELLED: frozenset(),
        REVERTED: frozenset(),
    },
)
ACTIVE_STATES = frozenset({PENDING, RUNNING, VERIFYING, CANCELLING})
TERMINAL_STATES = frozenset(OPERATION_MOVES.states) - ACTIVE_STATES
STATE_CHOICES = OPERATION_MOVES.choices

STEP_PENDING, STEP_RUNNING, STEP_DONE = "pending", "running", "done"
STEP_FAILED, STEP_SKIPPED = "failed", "skipped"
# A step that rolls back, or has to run on every way out, may have run on the way to success.
STEP_MOVES = Transitions(
    "step",
    {
        STEP_PENDING: frozenset({STEP_RUNNING, STEP_SKIPPED}),
        STEP_RUNNING: frozenset({STEP_DONE, STEP_FAILED, STEP_SKIPPED, STEP_PENDING}),
        STEP_DONE: frozenset({STEP_PENDING}),
        STEP_FAILED: frozenset({STEP_PENDING}),
        STEP_SKIPPED: frozenset(),
    },
)
STEP_STATE_CHOICES = STEP_MOVES.choices

PLAN_OPEN, PLAN_USED, PLAN_EXPIRED, PLAN_STALE = "open", "used", "expired", "stale"
PLAN_MOVES = Transitions(
    "plan",
    {
        PLAN_OPEN: frozenset({PLAN_USED, PLAN_EXPIRED, PLAN_STALE}),
        PLAN_USED: frozenset(),
        PLAN_EXPIRED: frozenset(),
        PLAN_STALE: frozenset(),
    },
)
PLAN_STATE_CHOICES = PLAN_MOVES.choices

ANALYTICS_RUN_MOVES = Transitions(
    "analytics run",
    {
        QUEUED: frozenset({RUNNING, CANCELLED}),
        RUNNING: frozenset({QUEUED, SUCCEEDED, FAILED, CANCELLED}),
        SUCCEEDED: frozenset(),
        FAILED: frozenset(),
        CANCELLED: frozenset(),
    },
)
ANALYTICS_RUN_ACTIVE_STATES = (QUEUED, RUNNING)
ANALYTICS_RUN_STATE_CHOICES = ANALYTICS_RUN_MOVES.choices
