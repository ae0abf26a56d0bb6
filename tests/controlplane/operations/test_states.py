"""The tables of moves: every legal one is made, every illegal one raises and changes no row."""

import ast
import itertools
from pathlib import Path

import pytest
from django.utils import timezone

import controlplane
from controlplane.access.models import OVERLAP_MOVES, PasswordOverlap
from controlplane.analytics.models import AnalyticsRun
from controlplane.common.transitions import IllegalTransitionError
from controlplane.notifications.models import DELIVERY_MOVES, Delivery, Destination
from controlplane.operations.models import Operation, Plan, Step
from controlplane.operations.states import (
    ACTIVE_STATES,
    ANALYTICS_RUN_ACTIVE_STATES,
    ANALYTICS_RUN_MOVES,
    OPERATION_MOVES,
    PLAN_MOVES,
    PLAN_OPEN,
    STEP_MOVES,
    TERMINAL_STATES,
)
from tests.controlplane.support import cluster_make, tenant_make

MODELS = {
    OPERATION_MOVES: Operation,
    STEP_MOVES: Step,
    PLAN_MOVES: Plan,
    ANALYTICS_RUN_MOVES: AnalyticsRun,
    OVERLAP_MOVES: PasswordOverlap,
    DELIVERY_MOVES: Delivery,
}
FIRST = {
    OPERATION_MOVES: "pending",
    STEP_MOVES: "pending",
    PLAN_MOVES: "open",
    ANALYTICS_RUN_MOVES: "queued",
    OVERLAP_MOVES: "standing",
    DELIVERY_MOVES: "pending",
}


def pairs(*, legal):
    return [
        pytest.param(moves, before, after, id=f"{moves.what}: {before} -> {after}")
        for moves in MODELS
        for before, after in itertools.product(moves.states, moves.states)
        if (after in moves.table[before]) == legal
    ]


@pytest.fixture
def saved(db):
    """A row of the model of a table, in a state, whatever way it came there."""

    def make(moves, state):
        if moves is ANALYTICS_RUN_MOVES:
            return AnalyticsRun.objects.create(state=state, from_ts_ms=0, to_ts_ms=1)
        tenant = tenant_make()
        if moves is DELIVERY_MOVES:
            destination = Destination.objects.create(tenant=tenant, name="d", kind="webhook")
            return Delivery.objects.create(
                tenant=tenant, destination=destination, event={}, state=state
            )
        plan = Plan.objects.create(
            tenant=tenant,
            kind="topic.create",
            resource="topic/t",
            inputs={},
            diff={},
            impact={},
            preconditions={},
            expires_at=timezone.now(),
            state=state if moves is PLAN_MOVES else PLAN_OPEN,
        )
        if moves is PLAN_MOVES:
            return plan
        operation = Operation.objects.create(
            tenant=tenant, plan=plan, state=state if moves is OPERATION_MOVES else "pending"
        )
        if moves is OPERATION_MOVES:
            return operation
        if moves is OVERLAP_MOVES:
            return PasswordOverlap.objects.create(
                tenant=tenant,
                cluster=cluster_make(tenant),
                username="app",
                rotation=operation,
                ends_at=timezone.now(),
                next_try_at=timezone.now(),
                state=state,
            )
        return Step.objects.create(operation=operation, index=0, name="s", state=state)

    return make


def stored(row):
    return type(row).objects.get(pk=row.pk).state


@pytest.mark.parametrize(("moves", "before", "after"), pairs(legal=True))
def test_a_legal_move_is_made(saved, moves, before, after):
    row = saved(moves, before)
    row.move_to(after)
    row.save()
    assert stored(row) == after


@pytest.mark.parametrize(("moves", "before", "after"), pairs(legal=True))
def test_a_legal_move_is_made_of_a_row_that_is_not_read(saved, moves, before, after):
    row = saved(moves, before)
    assert type(row).move_all(type(row).objects.filter(pk=row.pk), after) == 1
    assert stored(row) == after


@pytest.mark.parametrize(("moves", "before", "after"), pairs(legal=False))
def test_an_illegal_move_is_refused(saved, moves, before, after):
    row = saved(moves, before)
    with pytest.raises(IllegalTransitionError, match=f"{moves.what}: {before} -> {after}"):
        row.move_to(after)
    assert row.state == before


@pytest.mark.parametrize(("moves", "before", "after"), pairs(legal=False))
def test_an_illegal_move_of_a_row_that_is_not_read_changes_nothing(saved, moves, before, after):
    row = saved(moves, before)
    try:
        moved = type(row).move_all(type(row).objects.filter(pk=row.pk), after)
    except IllegalTransitionError:
        assert not any(after in nexts for nexts in moves.table.values())
        moved = 0
    assert moved == 0
    assert stored(row) == before


@pytest.mark.parametrize("moves", MODELS, ids=lambda moves: moves.what)
def test_a_model_takes_the_states_of_its_table_and_begins_with_the_first(moves):
    model = MODELS[moves]
    assert model.moves is moves
    field = model._meta.get_field("state")
    assert field.choices == moves.choices
    assert field.default == FIRST[moves] == moves.states[0]


@pytest.mark.parametrize("moves", MODELS, ids=lambda moves: moves.what)
def test_every_state_is_reached_from_the_first(moves):
    reached, frontier = set(), {FIRST[moves]}
    while frontier:
        reached |= frontier
        frontier = {after for state in frontier for after in moves.table[state]} - reached
    assert reached == set(moves.states)


def test_active_and_terminal_are_all_states_and_ends_do_not_return():
    assert set(OPERATION_MOVES.states) == ACTIVE_STATES | TERMINAL_STATES
    for state in TERMINAL_STATES:
        assert not OPERATION_MOVES.table[state] & ACTIVE_STATES


def test_an_analytics_run_is_active_as_long_as_it_can_move():
    ends = {state for state in ANALYTICS_RUN_MOVES.states if not ANALYTICS_RUN_MOVES.table[state]}
    assert ends == set(ANALYTICS_RUN_MOVES.states) - set(ANALYTICS_RUN_ACTIVE_STATES)


def writes_of_state(path):
    """Lines that set a row's `state` without asking the table: `x.state = …`, `.update(state=…)`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Assign):
            targets = [
                part
                for target in node.targets
                for part in (target.elts if isinstance(target, ast.Tuple) else [target])
            ]
            found = any(
                isinstance(part, ast.Attribute) and part.attr == "state" for part in targets
            )
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_update = node.func.attr in {"update", "update_or_create", "bulk_update"}
            found = is_update and any(keyword.arg == "state" for keyword in node.keywords)
        else:
            continue
        if found:
            yield f"{path.name}:{node.lineno}"


def test_nothing_moves_a_state_past_the_tables():
    root = Path(controlplane.__file__).parent
    files = [path for path in root.rglob("*.py") if "migrations" not in path.parts]
    found = {at for path in files for at in writes_of_state(path)}
    assert found == set(writes_of_state(root / "common" / "models.py"))
    assert len(found) == 3
