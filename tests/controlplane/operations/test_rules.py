from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from controlplane.operations.rules import Finish, RunStep, backoff_s, eta_s, next_action


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
