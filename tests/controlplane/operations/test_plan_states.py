"""Plans: open, then used, expired or stale; from each end every way on is refused."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from controlplane.common.problems import Conflict, Gone, TooManyRequests
from controlplane.operations.models import Operation, Plan
from controlplane.operations.services import operation_start
from controlplane.operations.states import (
    PLAN_EXPIRED,
    PLAN_MOVES,
    PLAN_OPEN,
    PLAN_STALE,
    PLAN_USED,
)
from controlplane.operations.tasks import housekeeping
from tests.controlplane.support import ACTOR


def test_only_an_open_plan_goes_anywhere():
    assert PLAN_MOVES.table[PLAN_OPEN] == {PLAN_USED, PLAN_EXPIRED, PLAN_STALE}
    assert [state for state in PLAN_MOVES.states if PLAN_MOVES.table[state]] == [PLAN_OPEN]


REFUSALS = {PLAN_USED: "plan-used", PLAN_EXPIRED: "plan-expired", PLAN_STALE: "plan-stale"}


@pytest.mark.parametrize("state", sorted(REFUSALS))
def test_a_plan_at_its_end_starts_nothing(world, state):
    plan = world.plan("topic.create", name="late")
    Plan.objects.filter(pk=plan.pk).update(state=state)
    with pytest.raises((Conflict, Gone)) as caught:
        world.start(plan)
    assert caught.value.code == REFUSALS[state]
    assert not Operation.objects.exists()
    plan.refresh_from_db()
    assert plan.state == state


def test_a_moved_world_makes_a_plan_stale_for_good(world):
    plan = world.plan("topic.create", name="raced")
    world.gateway.add_topic("raced")
    with pytest.raises(Conflict) as caught:
        world.start(plan)
    assert caught.value.code == "plan-stale"
    world.gateway.delete_topic("raced")
    with pytest.raises(Conflict) as caught:
        world.start(plan)
    assert caught.value.code == "plan-stale", "it does not come back with the world"


def test_a_used_plan_neither_expires_nor_turns_stale(world):
    plan = world.plan("topic.create", name="used")
    world.start(plan)
    Plan.objects.filter(pk=plan.pk).update(expires_at=timezone.now() - timedelta(days=1))
    housekeeping()
    with pytest.raises(Conflict) as caught:
        world.start(plan)
    assert caught.value.code == "plan-used"
    plan.refresh_from_db()
    assert plan.state == PLAN_USED


def test_two_that_passed_the_checks_at_once_start_one(world, monkeypatch):
    """Both looked before either wrote: the row's own state decides."""
    plan = world.plan("topic.create", name="twice")
    real, inner = Plan.leave_open, []

    def beaten(found, state):
        if not inner:
            inner.append(1)
            operation_start(
                tenant=world.tenant, actor=ACTOR, plan_id=plan.id, plan_hash=plan.plan_hash
            )
        return real(found, state)

    monkeypatch.setattr(Plan, "leave_open", beaten)
    with pytest.raises(Conflict) as caught:
        world.start(plan)
    assert caught.value.code == "plan-used"
    assert inner, "the other one came first"


def test_the_database_knows_no_other_state_of_an_operation(world):
    operation = world.start(world.plan("topic.create", name="odd"))
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE operations_operation SET state = 'odd' WHERE id = %s", [operation.id]
        )


def test_a_tenant_has_so_many_open_plans_and_old_ones_give_their_places_back(world, settings):
    settings.PLANS_OPEN_MAX = 3
    plans = [world.plan("topic.create", name=f"t{at}") for at in range(3)]
    asked = len(world.gateway.calls)
    with pytest.raises(TooManyRequests) as refused:
        world.plan("topic.create", name="one-more")
    assert len(world.gateway.calls) == asked, "the brokers are not asked for a plan that cannot be"
    assert refused.value.code == "too-many-plans"
    assert 0 < refused.value.retry_after_s <= settings.PLAN_LIFETIME_S
    world.start(plans[0])
    world.plan("topic.create", name="in-its-place")
    with pytest.raises(TooManyRequests):
        world.plan("topic.create", name="one-more")
    Plan.objects.filter(pk=plans[1].pk).update(expires_at=timezone.now())
    world.plan("topic.create", name="after-one-expired")
