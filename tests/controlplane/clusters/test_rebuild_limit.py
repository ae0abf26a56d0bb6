"""What a rebuilt broker reads is limited from before it begins, until the operation has ended."""

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.clusters.rebuild_limits import THROTTLE_BYTES_PER_S
from controlplane.operations.services import operation_cancel
from controlplane.reassignments.models import ThrottleLease
from controlplane.reassignments.rules import REPLICA_KEYS
from controlplane.reassignments.services import RATE_KEYS
from controlplane.reassignments.tasks import release_expired
from tests.controlplane.clusters.test_replacing import KIND, brokers
from tests.controlplane.support import ACTOR, client_for, drive, step, tenant_make

__all__ = ["brokers"]


def rates(world):
    return {
        broker: dict(found)
        for broker, found in sorted(world.gateway.broker_overrides.items())
        if any(key in found for key in RATE_KEYS)
    }


def lists(world):
    configs = world.gateway.topics["orders"].configs
    return {key: configs[key] for key in REPLICA_KEYS if configs.get(key)}


def until(operation, name):
    for _ in range(80):
        if step(operation, name).state == "done":
            return operation
        drive(operation, ticks=1)
    raise AssertionError(f"{name} is {step(operation, name).state}")


def limited(world, **more):
    operation = world.start(world.plan(KIND, broker=2, **more))
    return until(operation, "limit")


@pytest.mark.parametrize("asked", [None, 7_000])
def test_the_plan_shows_the_limit(brokers, asked):
    assert brokers.plan(KIND, broker=2).diff["throttle_bytes_per_s"] == THROTTLE_BYTES_PER_S
    plan = brokers.plan(KIND, broker=2, throttle_bytes_per_s=asked)
    assert plan.diff["throttle_bytes_per_s"] == asked
    codes = [row["code"] for row in plan.impact["warnings"]]
    assert ("no-limit" in codes, "limited" in codes) == (asked is None, asked is not None)


def test_it_stands_on_the_others_before_it_begins_and_is_gone_at_the_end(brokers):
    operation = limited(brokers)
    rate = str(THROTTLE_BYTES_PER_S)
    assert step(operation, "begin").state == "pending"
    assert rates(brokers) == {1: dict.fromkeys(RATE_KEYS, rate), 3: dict.fromkeys(RATE_KEYS, rate)}
    leaders, followers = (lists(brokers)[key].split(",") for key in REPLICA_KEYS)
    assert set(followers) == {"0:2", "1:2", "2:2"}
    assert {each.partition(":")[2] for each in leaders} == {"1", "3"}
    assert drive(operation).state == "succeeded", operation.error
    assert (rates(brokers), lists(brokers)) == ({}, {})
    assert ThrottleLease.objects.get().released_at is not None


def test_it_is_set_on_the_broker_itself_once_that_is_there(brokers):
    operation = limited(brokers)
    brokers.gateway.topics["orders"].partitions[0].out_of_sync = frozenset({2})
    until(operation, "registration")
    drive(operation, ticks=3)
    assert step(operation, "sync").state == "running"
    assert 2 in rates(brokers)
    brokers.gateway.topics["orders"].partitions[0].out_of_sync = frozenset()
    assert drive(operation).state == "succeeded", operation.error
    assert (rates(brokers), lists(brokers)) == ({}, {})


def test_without_a_limit_nothing_is_set(brokers):
    operation = limited(brokers, throttle_bytes_per_s=None)
    assert (rates(brokers), lists(brokers)) == ({}, {})
    assert drive(operation).state == "succeeded", operation.error


def test_cancelled_it_is_lifted(brokers):
    operation = limited(brokers)
    operation_cancel(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled", operation.error
    assert (rates(brokers), lists(brokers)) == ({}, {})


def test_when_everything_dies_the_lease_lifts_it(brokers):
    limited(brokers)
    lease = ThrottleLease.objects.get()
    ThrottleLease.objects.update(expires_at=lease.expires_at.replace(year=2000))
    assert release_expired() == 1
    assert (rates(brokers), lists(brokers)) == ({}, {})


# -- changing it
def change(client, operation, limit):
    path = f"/api/v1/operations/{operation.id}/throttle"
    return client.post(path, {"throttle_bytes_per_s": limit}, format="json")


def syncing(world, **more):
    """It runs at its new place, and a replica of it is not in sync."""
    operation = limited(world, **more)
    world.gateway.topics["orders"].partitions[0].out_of_sync = frozenset({2})
    until(operation, "registration")
    return drive(operation, ticks=4)


def test_another_limit_is_set_while_it_reads_whatever_worker_comes_next(brokers):
    operation = syncing(brokers)
    client = client_for(brokers.tenant, "operator")
    shown = client.get(f"/api/v1/operations/{operation.id}/throttle").json()
    assert (shown["can_be_changed"], shown["is_set"]) == (True, True)
    assert shown["throttle_bytes_per_s"] == THROTTLE_BYTES_PER_S
    assert change(client, operation, 7_000).status_code == 200
    drive(operation, ticks=2)
    assert rates(brokers) == {n: dict.fromkeys(RATE_KEYS, "7000") for n in (1, 2, 3)}
    drive(operation, ticks=1)
    event = AuditEvent.objects.get(action=f"{KIND}.throttle")
    assert event.data["before"] == {"throttle_bytes_per_s": THROTTLE_BYTES_PER_S}
    assert event.data["after"] == {"throttle_bytes_per_s": 7_000}
    brokers.gateway.topics["orders"].partitions[0].out_of_sync = frozenset()
    assert drive(operation).state == "succeeded", operation.error
    assert (rates(brokers), lists(brokers)) == ({}, {})


def test_what_did_not_stay_on_a_broker_is_set_again_by_the_tick_that_reads_it(brokers):
    operation = syncing(brokers)
    assert change(client_for(brokers.tenant), operation, 7_000).status_code == 200
    drive(operation, ticks=2)
    brokers.gateway.broker_overrides[3].clear()
    drive(operation, ticks=1)
    assert rates(brokers)[3] == dict.fromkeys(RATE_KEYS, "7000")


def test_it_is_lifted_and_one_that_had_none_gets_one(brokers):
    operation = syncing(brokers, throttle_bytes_per_s=None)
    client = client_for(brokers.tenant)
    assert rates(brokers) == {}
    change(client, operation, 9_000)
    drive(operation, ticks=2)
    assert rates(brokers) == {n: dict.fromkeys(RATE_KEYS, "9000") for n in (1, 2, 3)}
    change(client, operation, None)
    drive(operation, ticks=3)
    assert (rates(brokers), lists(brokers)) == ({}, {})
    brokers.gateway.topics["orders"].partitions[0].out_of_sync = frozenset()
    assert drive(operation).state == "succeeded", operation.error


def test_a_limit_asked_for_before_it_begins_is_the_first_one(brokers):
    operation = brokers.start(brokers.plan(KIND, broker=2))
    assert change(client_for(brokers.tenant), operation, 7_000).status_code == 200
    until(operation, "limit")
    assert rates(brokers) == {n: dict.fromkeys(RATE_KEYS, "7000") for n in (1, 3)}


def test_who_may_not_and_what_copies_nothing_any_more_are_refused(brokers):
    operation = syncing(brokers)
    assert change(client_for(tenant_make("rival")), operation, 7_000).status_code == 404
    assert change(client_for(brokers.tenant, "viewer"), operation, 7_000).status_code == 403
    answer = change(client_for(brokers.tenant), operation, 1_023)
    assert answer.json()["errors"][0]["pointer"] == "/throttle_bytes_per_s"
    brokers.gateway.topics["orders"].partitions[0].out_of_sync = frozenset()
    until(operation, "sync")
    client = client_for(brokers.tenant)
    answer = change(client, operation, 7_000)
    assert (answer.status_code, answer.json()["code"]) == (409, "not-under-way")
    shown = client.get(f"/api/v1/operations/{operation.id}/throttle").json()
    assert not shown["can_be_changed"]
    assert drive(operation).state == "succeeded", operation.error
    assert change(client, operation, 7_000).json()["code"] == "not-under-way"
