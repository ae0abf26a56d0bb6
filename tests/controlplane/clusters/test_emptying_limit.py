"""The limit of what brokers copy between directories is changed while they do."""

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.clusters.emptying_steps import RATE_KEY
from controlplane.clusters.log_dir_shapes import RATE_MIN
from controlplane.operations.services import operation_cancel
from tests.controlplane.clusters.test_log_dirs import EMPTY, disks, failed, used
from tests.controlplane.support import ACTOR, client_for, drive, step

__all__ = ["disks", "failed", "used"]

SLOW, FAST = 2 * RATE_MIN, 9 * RATE_MIN


@pytest.fixture
def slow(used, monkeypatch):
    """Replicas are on their way, and do not arrive."""
    arrive = used.gateway.arrive
    monkeypatch.setattr(used.gateway, "arrive", lambda _broker: None)
    used.go_on = lambda: monkeypatch.setattr(used.gateway, "arrive", arrive)
    return used


def rate(world):
    return world.gateway.broker_overrides[1].get(RATE_KEY)


def change(world, operation, limit, role="owner"):
    path = f"/api/v1/operations/{operation.id}/throttle"
    client = client_for(world.tenant, role)
    return client.post(path, {"throttle_bytes_per_s": limit}, format="json")


def moving(world, limit=SLOW):
    plan = world.plan(EMPTY, directory="fast", bytes_per_s=limit, canary_s=0)
    operation = world.start(plan)
    for _ in range(20):
        if step(operation, "move").state == "running":
            return operation
        drive(operation, ticks=1)
    raise AssertionError(step(operation, "move").state)


def test_another_limit_is_set_while_replicas_move_and_gone_at_the_end(slow):
    slow.gateway.broker_overrides[1][RATE_KEY] = "777"
    operation = moving(slow)
    assert rate(slow) == str(SLOW)
    answer = change(slow, operation, FAST, "operator")
    assert answer.status_code == 200, answer.content
    assert answer.json()["least_bytes_per_s"] == RATE_MIN
    drive(operation, ticks=1)
    assert rate(slow) == str(FAST)
    # What did not stay is set again: only what was read back counts as set.
    slow.gateway.broker_overrides[1].pop(RATE_KEY)
    drive(operation, ticks=1)
    assert rate(slow) == str(FAST)
    drive(operation, ticks=1)
    event = AuditEvent.objects.get(action=f"{EMPTY}.throttle")
    assert event.data["before"] == {"throttle_bytes_per_s": SLOW}
    change(slow, operation, None)
    drive(operation, ticks=2)
    assert rate(slow) == "777", "as it was before"
    slow.go_on()
    ended = drive(operation)
    assert ended.state == "succeeded", ended.error
    assert rate(slow) == "777"


def test_one_that_began_without_a_limit_gets_one(slow):
    operation = moving(slow, None)
    assert rate(slow) is None
    assert not change(slow, operation, FAST).json()["is_set"], "its next tick sets it"
    drive(operation, ticks=3)
    assert rate(slow) == str(FAST)
    shown = client_for(slow.tenant).get(f"/api/v1/operations/{operation.id}/throttle").json()
    assert (shown["is_set"], shown["can_be_changed"]) == (True, True)
    operation_cancel(tenant=slow.tenant, actor=ACTOR, operation_id=operation.id)
    drive(operation, ticks=1)
    assert change(slow, operation, SLOW).json()["code"] == "not-under-way"
    assert drive(operation).state == "cancelled", operation.error
    assert rate(slow) is None


@pytest.mark.parametrize("limit", [RATE_MIN - 1, 2**53 + 1])
def test_what_its_brokers_would_not_take_is_refused_with_its_pointer(slow, limit):
    operation = moving(slow)
    answer = change(slow, operation, limit)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/throttle_bytes_per_s"
    assert change(slow, operation, FAST, "viewer").status_code == 403


def test_of_a_directory_that_has_failed_nothing_is_limited(failed):
    operation = failed.start(failed.plan(EMPTY, directory="fast", canary_s=0))
    answer = change(failed, operation, FAST)
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing-to-limit")
