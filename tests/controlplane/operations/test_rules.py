from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from controlplane.operations.rules import (
    Finish,
    RunStep,
    backoff_s,
    eta_s,
    is_cancellable,
    next_action,
    plan_state,
    step_state,
)
from controlplane.operations.states import (
    OPERATION_MOVES,
    PLAN_MOVES,
    STEP_MOVES,
    TERMINAL_STATES,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass
class FakeStep:
    index: int
    phase: str
    state: str = "pending"


def steps(*rows):
    return [FakeStep(i, *row.split(":")) for i, row in enumerate(rows)]


CASES = [
    # way, steps, expected
    ("running", False, False, ["execute", "verify"], RunStep(0)),
    ("running", False, False, ["execute:done", "restore", "always", "verify"], RunStep(2)),
    ("verifying", False, False, ["execute:done", "always:done", "verify"], RunStep(2)),
    ("verifying", False, False, ["execute:done", "verify:done"], Finish("succeeded")),
    ("running", False, False, ["execute:running", "verify"], RunStep(0)),
    ("running", True, True, ["execute:failed", "restore", "teardown", "always"], RunStep(1)),
    ("running", True, True, ["execute:failed", "restore:done", "teardown", "always"], RunStep(3)),
    ("running", True, True, ["execute:failed", "restore:done", "always:done"], Finish("failed")),
    ("cancelling", True, False, ["execute:skipped", "restore", "teardown", "always"], RunStep(1)),
    ("cancelling", True, False, ["execute:done", "restore:done", "teardown", "always"], RunStep(2)),
    ("cancelling", True, False, ["execute:done", "always:done"], Finish("cancelled")),
    ("cancelling", True, True, ["execute:done", "always:failed"], Finish("failed")),
]


@pytest.mark.parametrize(("state", "rolling_back", "failed", "rows", "expected"), CASES)
def test_next_action(state, rolling_back, failed, rows, expected):
    found = next_action(state=state, rolling_back=rolling_back, failed=failed, steps=steps(*rows))
    assert found == expected


def test_backoff_grows_and_is_bounded():
    waits = [backoff_s(n) for n in range(40)]
    assert waits == sorted(waits)
    assert waits[0] == 0.25
    assert waits[-1] == 5.0


def test_eta_is_unknown_without_speed():
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert eta_s(done=0, total=10, started_at=start, now=start + timedelta(seconds=5)) is None
    assert eta_s(done=5, total=10, started_at=start, now=start + timedelta(seconds=5)) == 5.0
    assert eta_s(done=12, total=10, started_at=start, now=start + timedelta(seconds=5)) == 0.0


@pytest.mark.parametrize("state", OPERATION_MOVES.states)
@pytest.mark.parametrize("kind_is", [True, False])
@pytest.mark.parametrize("rolling_back", [True, False])
def test_what_may_be_cancelled_may_move_to_cancelling(state, kind_is, rolling_back):
    found = is_cancellable(state=state, rolling_back=rolling_back, kind_is=kind_is)
    wanted = {"pending"} | ({"running", "verifying"} if kind_is else set())
    assert found == (state in wanted and not rolling_back)
    assert not found or state in OPERATION_MOVES.sources("cancelling")


@pytest.mark.parametrize("state", PLAN_MOVES.states)
@pytest.mark.parametrize("left_s", [-1, 0, 1])
def test_only_an_open_plan_expires_and_at_its_time(state, left_s):
    expires_at = NOW + timedelta(seconds=left_s)
    found = plan_state(state=state, expires_at=expires_at, now=NOW)
    assert found == ("expired" if state == "open" and left_s <= 0 else state)


@pytest.mark.parametrize("of_operation", OPERATION_MOVES.states)
@pytest.mark.parametrize("state", STEP_MOVES.states)
def test_no_step_of_what_has_ended_is_still_to_come(state, of_operation):
    is_left = state == "pending" and of_operation in TERMINAL_STATES
    found = step_state(state=state, of_operation=of_operation)
    assert found == ("skipped" if is_left else state)
