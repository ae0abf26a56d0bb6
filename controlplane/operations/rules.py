"""What an operation does next, how fast it goes, how long to back off. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from controlplane.operations.states import (
    CANCELLED,
    CANCELLING,
    FAILED,
    PENDING,
    PLAN_EXPIRED,
    PLAN_OPEN,
    RUNNING,
    STEP_DONE,
    STEP_PENDING,
    STEP_RUNNING,
    STEP_SKIPPED,
    SUCCEEDED,
    TERMINAL_STATES,
    VERIFYING,
)

BACKOFF_FIRST_S = 0.25
BACKOFF_MAX_S = 5.0
ROLLBACK_DEADLINE_S = 600.0

_FORWARD = {"execute": 0, "always": 0, "verify": 0}
_AFTER_FAILURE = {"restore": 0, "always": 1}
_AFTER_CANCEL = {"teardown": 0, "restore": 0, "always": 1}


class StepView(Protocol):
    """What the rules need of a step; the model row has it."""

    index: int
    phase: str
    state: str


@dataclass(frozen=True, slots=True)
class RunStep:
    index: int


@dataclass(frozen=True, slots=True)
class Finish:
    state: str


def next_action(
    *, state: str, rolling_back: bool, failed: bool, steps: Sequence[StepView]
) -> RunStep | Finish:
    """The first step still to do on this way, else the end that this way leads to.

    `failed`: an error is recorded; after rolling back the operation ends as failed.
    """
    cancelled = state == CANCELLING
    ranks = _FORWARD if not rolling_back else _AFTER_CANCEL if cancelled else _AFTER_FAILURE
    todo = [
        (ranks[step.phase], step.index)
        for step in steps
        if step.phase in ranks and step.state in {STEP_PENDING, STEP_RUNNING}
    ]
    if todo:
        return RunStep(min(todo)[1])
    if failed:
        return Finish(FAILED)
    return Finish(CANCELLED if cancelled else SUCCEEDED)


def phases_of_way(*, state: str) -> frozenset[str]:
    """The phases that rolling back runs, given whether it was cancelled."""
    return frozenset(_AFTER_CANCEL if state == CANCELLING else _AFTER_FAILURE)


def is_cancellable(*, state: str, rolling_back: bool, kind_is: bool) -> bool:
    """Whether it may be cancelled: before it began always, later if its kind is cancellable."""
    if rolling_back:
        return False
    return state == PENDING or (kind_is and state in {RUNNING, VERIFYING})


def is_pausable(*, state: str, rolling_back: bool, kind_is: bool) -> bool:
    """Whether it may be told to stop for a while, and to go on."""
    return kind_is and not rolling_back and state in {PENDING, RUNNING}


def plan_state(*, state: str, expires_at: datetime, now: datetime) -> str:
    """The state that a plan is in; its row says so a little later when it expires."""
    return PLAN_EXPIRED if state == PLAN_OPEN and expires_at <= now else state


def step_state(*, state: str, of_operation: str) -> str:
    """The state that a step is in: none is still to come in an operation that has ended.

    Steps of the ways back that had no turn stay pending in their rows, for they may be needed until
    the operation has ended, and its end writes no more rows than it has to.
    """
    has_ended = of_operation in TERMINAL_STATES
    return STEP_SKIPPED if has_ended and state == STEP_PENDING else state


def backoff_s(attempts: int) -> float:
    return float(min(BACKOFF_FIRST_S * 2 ** min(attempts, 10), BACKOFF_MAX_S))


def eta_s(*, done: int, total: int, started_at: datetime, now: datetime) -> float | None:
    """Seconds left at the mean speed so far; None while there is no speed yet."""
    elapsed_s = (now - started_at).total_seconds()
    if done <= 0 or total <= 0 or elapsed_s <= 0:
        return None
    return max(total - done, 0) * elapsed_s / done


def fraction_done(steps: Sequence[StepView]) -> tuple[int, int]:
    """(steps done, steps on the way to success)."""
    forward = [step for step in steps if step.phase in _FORWARD]
    return sum(step.state == STEP_DONE for step in forward), len(forward)
