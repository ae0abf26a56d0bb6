"""SQL statements of one tick, by kind and step: what the engine costs at thousands of operations."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.operations import engine
from controlplane.operations.operations import StepFailedError, kind_names
from controlplane.operations.states import ACTIVE_STATES
from tests.controlplane.operations.trouble import AFTER, act, raising, runnable, steps_of

STATEMENTS_MAX = 8
# Once an operation: the rows of a cluster's brokers are changed, the keys and certificates of their
# hosts are read or made, and a limit is noted before it is set.
OWN_ROWS = {
    ("cluster.create", "desired"): 4,
    ("cluster.create", "end"): 1,
    ("cluster.delete", "end"): 1,
    ("cluster.register", "end"): 1,
    ("cluster.delete", "remove"): 3,
    ("reassignment", "throttle"): 2,
}
# Once an operation: every step that is left is marked, for the way back.
TURNING_BACK_MAX = 16
BOUNDS = ("SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "COMMIT")


def statements_of(operation):
    """What one tick asks the database, but for where transactions begin and end."""
    with CaptureQueriesContext(connection) as captured:
        assert engine.tick(operation.id)
    return [row["sql"] for row in captured if not row["sql"].startswith(BOUNDS)]


def under_way(operation):
    """The step that the next tick takes; `end` after the last one."""
    rows = operation.steps.filter(state__in=("pending", "running"))
    if not operation.rolling_back:
        rows = rows.filter(phase__in=("execute", "verify", "always"))
    return getattr(rows.first(), "name", "end")


@pytest.mark.parametrize("kind", kind_names())
def test_a_tick_takes_few_statements(world, kind):
    operation = world.start(runnable(world, kind))
    ticks = 0
    while operation.state in ACTIVE_STATES:
        step = under_way(operation)
        statements = statements_of(operation)
        limit = STATEMENTS_MAX + OWN_ROWS.get((kind, step), 0)
        assert len(statements) <= limit, (step, statements)
        operation.refresh_from_db()
        ticks += 1
    assert operation.state == "succeeded"
    assert ticks > len(steps_of("execute")) / len(kind_names())


@pytest.mark.parametrize("kind", kind_names())
def test_a_step_that_waits_costs_less(world, monkeypatch, kind):
    """It is marked as under way already: a poll each half second is the most of what a tick is."""
    at = next(at for at in steps_of("verify") if at[0] == kind)
    operation = world.start(runnable(world, kind))
    while under_way(operation) != at[1]:
        engine.tick(operation.id)
        operation.refresh_from_db()
    world.gateway.offline = world.hosts.is_away = True
    first, again = statements_of(operation), statements_of(operation)
    assert operation.steps.get(name=at[1]).attempts + 1 >= 1
    assert len(again) == len(first) - 1 <= STATEMENTS_MAX - 1


@pytest.mark.parametrize("kind", kind_names())
def test_turning_back_and_each_restoring_step(world, monkeypatch, kind):
    operation = world.start(runnable(world, kind))
    last = [name for of, name in steps_of("execute") if of == kind][-1]
    failed = act(
        monkeypatch, (kind, last), AFTER, raising(StepFailedError("made-to-fail", "By the test."))
    )
    while not failed:
        statements = statements_of(operation)
    assert len(statements) <= TURNING_BACK_MAX, statements
    operation.refresh_from_db()
    while operation.state in ACTIVE_STATES:
        step, statements = under_way(operation), statements_of(operation)
        assert len(statements) <= STATEMENTS_MAX + OWN_ROWS.get((kind, step), 0), (step, statements)
        operation.refresh_from_db()
    assert operation.state == "failed"
