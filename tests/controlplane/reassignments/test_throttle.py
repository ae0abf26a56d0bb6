"""The limit of a reassignment: kept on every tick, set again, changed, and the same on the way back."""

import pytest
from django.utils import timezone

from controlplane.audit.models import AuditEvent
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.operations.models import OutboxMessage
from controlplane.operations.services import operation_cancel
from controlplane.reassignments.models import ThrottleLease
from controlplane.reassignments.rules import REPLICA_KEYS
from controlplane.reassignments.services import RATE_KEYS, throttle_release
from controlplane.reassignments.tasks import release_expired
from tests.controlplane.support import ACTOR, client_for, drive, step, tenant_make

RATE = "5000"
LIMITED = dict.fromkeys(RATE_KEYS, RATE)
MOVES = [{"topic": "orders", "partition": part, "replicas": [3, 4]} for part in (0, 1)]


@pytest.fixture
def orders(world):
    """Two partitions on brokers 1 and 2 that go to 3 and 4, and take long."""
    world.gateway.add_topic("orders", partitions=2, rf=2, records=50)
    for part in world.gateway.topics["orders"].partitions:
        part.replicas = (1, 2)
    world.gateway.polls_to_move = 5
    return world


def started(world, limit=int(RATE), **inputs):
    values = {"moves": MOVES, "batch_size": 1, **inputs}
    if limit is not None:
        values["throttle_bytes_per_s"] = limit
    # The limit is noted and set, noted for the move, and then two ticks move.
    return drive(world.start(world.plan("reassignment", **values)), ticks=5)


def lists(world):
    return tuple(world.gateway.topics["orders"].configs.get(key) for key in REPLICA_KEYS)


def is_off(world):
    return (
        not any(world.gateway.broker_overrides.values())
        and lists(world) == (None, None)
        and not ThrottleLease.objects.filter(released_at=None).exists()
    )


def test_what_somebody_removed_is_set_again_by_the_next_tick(orders):
    operation = started(orders)
    assert all(found == LIMITED for found in orders.gateway.broker_overrides.values())
    orders.gateway.broker_overrides[2].clear()
    orders.gateway.topics["orders"].configs.clear()
    drive(operation, ticks=1)
    assert orders.gateway.broker_overrides[2] == LIMITED
    assert lists(orders) == ("0:1,0:2,1:1,1:2", "0:3,0:4,1:3,1:4")
    assert step(operation, "move").detail.endswith("limit set on broker 2 and 1 topic")
    drive(operation, ticks=1)
    assert "limit set" not in step(operation, "move").detail


def test_after_an_outage_longer_than_the_lease_it_is_set_again(orders):
    operation = started(orders)
    ThrottleLease.objects.update(expires_at=timezone.now())
    assert release_expired() == 1
    assert is_off(orders)
    drive(operation, ticks=1)
    assert all(found == LIMITED for found in orders.gateway.broker_overrides.values())
    assert ThrottleLease.objects.get().released_at is None
    assert release_expired() == 0
    assert drive(operation).state == "succeeded"
    assert is_off(orders)


def test_a_tick_renews_the_lease(orders):
    operation = started(orders)
    ThrottleLease.objects.update(expires_at=timezone.now())
    drive(operation, ticks=1)
    assert release_expired() == 0


def test_nothing_more_is_moved_while_the_limit_cannot_be_set(orders):
    operation = started(orders)
    orders.gateway.broker_overrides[1].clear()
    orders.gateway.fail_next("alter_broker_configs", GatewayError("CLUSTER_AUTHORIZATION_FAILED"))
    orders.gateway.calls.clear()
    drive(operation, ticks=1)
    operation.refresh_from_db()
    assert "reassign" not in orders.gateway.calls
    assert operation.error["kafka_error"] == "CLUSTER_AUTHORIZATION_FAILED"


def test_a_silent_broker_is_passed_over_and_said(orders):
    operation = started(orders)
    orders.gateway.silent = {4}
    drive(operation, ticks=1)
    detail = step(operation, "move").detail
    assert "unknown whether the limit is on broker 4" in detail or "silent" in detail
    orders.gateway.silent = set()
    assert drive(operation).state == "succeeded"


def test_the_first_limit_has_to_stand_everywhere(orders):
    orders.gateway.silent = {4}
    operation = started(orders)
    assert step(operation, "throttle").state == "running"
    assert "reassign" not in orders.gateway.calls
    orders.gateway.silent = set()
    assert drive(operation).state == "succeeded"


def test_a_cancelled_move_goes_back_under_the_same_limit(orders, monkeypatch):
    operation = started(orders)
    while orders.gateway.topics["orders"].partitions[0].replicas != (3, 4):
        drive(operation, ticks=1)
    seen = []
    reassign = orders.gateway.reassign

    def watched(moves):
        seen.append((dict(moves), dict(orders.gateway.broker_overrides[1]), lists(orders)))
        reassign(moves)

    monkeypatch.setattr(orders.gateway, "reassign", watched)
    operation_cancel(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled"
    back = [each for each in seen if None not in each[0].values()]
    assert back, "something had arrived and had to go back"
    for moves, limited, (leaders, followers) in back:
        assert limited == LIMITED
        for tp, replicas in moves.items():
            assert replicas == (1, 2)
            assert {f"{tp.partition}:3", f"{tp.partition}:4"} <= set(leaders.split(","))
            assert {f"{tp.partition}:1", f"{tp.partition}:2"} <= set(followers.split(","))
    assert step(operation, "stop").detail == (
        "nothing moves any more; on the old brokers: orders-1;"
        " on the new brokers, to be moved back: orders-0"
    )
    assert step(operation, "verify-back").detail == "2 partitions on the brokers of before"
    assert is_off(orders)


def test_the_way_back_is_verified_on_every_broker(orders):
    operation = started(orders)
    operation_cancel(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    while step(operation, "verify-back").state == "pending":
        drive(operation, ticks=1)
        orders.gateway.hold_back(4)
        orders.gateway.at(4)
    orders.gateway.catch_up(4)
    assert drive(operation).state == "cancelled"
    assert step(operation, "verify-back").state == "done"


def test_a_failed_move_says_what_stays_where(orders):
    operation = started(orders)
    assert orders.gateway.calls.count("reassign") == 1
    orders.gateway.fail_next("reassign", GatewayError("CLUSTER_AUTHORIZATION_FAILED", "no"))
    assert drive(operation).state == "failed"
    assert step(operation, "stop").detail == (
        "nothing moves any more; on the old brokers: orders-1; stays on the new brokers: orders-0"
    )
    assert is_off(orders)


def test_a_topic_deleted_by_somebody_else_fails_the_move_and_is_named(orders):
    operation = started(orders)
    del orders.gateway.topics["orders"]
    assert drive(operation).state == "failed"
    assert operation.error["detail"] == "Somebody else deleted orders-0, orders-1 meanwhile."
    assert step(operation, "stop").detail == (
        "nothing moves any more; gone with its topic: orders-0, orders-1"
    )
    assert not ThrottleLease.objects.filter(released_at=None).exists()


def test_a_topic_deleted_while_the_move_goes_back_holds_nothing_up(orders):
    operation = started(orders)
    operation_cancel(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    drive(operation, ticks=2)
    del orders.gateway.topics["orders"]
    assert drive(operation).state == "cancelled"
    assert step(operation, "verify-back").detail == (
        "0 partitions on the brokers of before; gone with its topic: orders-0, orders-1"
    )


def test_what_somebody_else_moved_meanwhile_stays_there_and_is_named(orders):
    operation = started(orders)
    operation_cancel(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    drive(operation, ticks=3)
    orders.gateway.topics["orders"].partitions[1].replicas = (2, 3)
    assert drive(operation).state == "cancelled"
    assert step(operation, "verify-back").detail == (
        "1 partition on the brokers of before; where somebody else has moved it: orders-1"
    )


# -- changing it


def change(client, operation, limit, **more):
    return client.post(
        f"/api/v1/operations/{operation.id}/throttle",
        {"throttle_bytes_per_s": limit},
        format="json",
        **more,
    )


def test_the_limit_changes_while_partitions_move(orders):
    operation = started(orders)
    answer = change(client_for(orders.tenant, "operator"), operation, 9_000)
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert (found["throttle_bytes_per_s"], found["is_set"]) == (9_000, True)
    shown = client_for(orders.tenant).get(f"/api/v1/operations/{operation.id}/throttle")
    assert shown["ETag"] == found["etag"]
    message = OutboxMessage.objects.order_by("-pk").first()
    assert (message.args, message.countdown_s) == ([operation.id], 0), "its next tick comes at once"
    drive(operation, ticks=1)
    for found in orders.gateway.broker_overrides.values():
        assert found == dict.fromkeys(RATE_KEYS, "9000")
    event = AuditEvent.objects.get(action="reassignment.throttle")
    assert event.data["before"] == {"throttle_bytes_per_s": 5_000}
    assert event.data["after"] == {"throttle_bytes_per_s": 9_000}
    operation_cancel(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    drive(operation, ticks=2)
    assert orders.gateway.broker_overrides[1] == dict.fromkeys(RATE_KEYS, "9000"), "on the way back"
    assert drive(operation).state == "cancelled"
    assert is_off(orders)


def test_the_limit_is_lifted_and_set_while_partitions_move(orders):
    operation = started(orders)
    client = client_for(orders.tenant)
    change(client, operation, None)
    drive(operation, ticks=1)
    assert is_off(orders)
    change(client, operation, 5_000)
    drive(operation, ticks=1)
    assert orders.gateway.broker_overrides[3] == LIMITED
    assert drive(operation).state == "succeeded"
    assert is_off(orders)


def test_a_move_that_began_without_a_limit_can_get_one(orders):
    operation = started(orders, limit=None)
    assert is_off(orders)
    assert change(client_for(orders.tenant), operation, 5_000).status_code == 200
    drive(operation, ticks=1)
    assert orders.gateway.broker_overrides[1] == LIMITED


@pytest.mark.parametrize("limit", [0, 1_023, -1, "fast", 2**63, 1.5, True, [], {}])
def test_a_limit_that_is_none_is_refused_with_its_pointer(orders, limit):
    operation = started(orders)
    answer = change(client_for(orders.tenant), operation, limit)
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["pointer"] == "/throttle_bytes_per_s"
    assert ThrottleLease.objects.get().bytes_per_s == 5_000


def test_only_a_reassignment_under_way_of_ones_own_has_a_limit(orders):
    operation = started(orders)
    rival = client_for(tenant_make("rival"))
    assert change(rival, operation, 5_000).status_code == 404
    assert change(client_for(orders.tenant, "viewer"), operation, 5_000).status_code == 403
    other = orders.run("topic.create", name="other")
    assert change(client_for(orders.tenant), other, 5_000).status_code == 404
    drive(operation)
    answer = change(client_for(orders.tenant), operation, 6_000)
    assert (answer.status_code, answer.json()["code"]) == (409, "not-under-way")
    assert is_off(orders)


def test_what_another_lease_holds_is_not_taken_away(orders):
    first = ThrottleLease.objects.create(
        operation_id="op_dead",
        cluster_id=orders.cluster.id,
        bytes_per_s=1,
        broker_ids=[1, 2],
        topics=["orders"],
        expires_at=timezone.now(),
    )
    operation = started(orders)
    throttle_release(orders.gateway, first.operation_id, orders.cluster.id)
    assert orders.gateway.broker_overrides[1] == LIMITED
    assert lists(orders) != (None, None)
    first.refresh_from_db()
    assert first.released_at is not None
    assert drive(operation).state == "succeeded"
    assert is_off(orders)


def test_a_limit_that_cannot_be_taken_off_now_is_taken_off_later(orders):
    operation = started(orders)
    orders.gateway.fail_next("alter_topic_configs", unreachable("away"))
    assert drive(operation).state == "succeeded"
    assert is_off(orders)


def test_a_broker_that_is_away_when_the_limit_is_lifted_loses_it_once_it_is_back(orders):
    """Nobody renews it any more, and the limits of others do not stay for it."""
    orders.gateway.add_topic("more", partitions=1, rf=2, records=50)
    orders.gateway.topics["more"].partitions[0].replicas = (2, 3)
    operation = started(orders)
    away = orders.gateway.brokers.pop(1)
    assert drive(operation).state == "succeeded", operation.error
    assert (
        "removed; broker 1 is away, its rate is removed when it returns"
        in step(operation, "unthrottle").detail
    )
    moves = [{"topic": "more", "partition": 0, "replicas": [3, 4]}]
    other = orders.run("reassignment", moves=moves, throttle_bytes_per_s=6_000)
    assert other.state == "succeeded", other.error
    left = {key: value for key, value in orders.gateway.broker_overrides.items() if value}
    assert left == {1: LIMITED}
    assert release_expired() == 1, "it is looked for at once"
    assert not is_off(orders)
    orders.gateway.brokers[1] = away
    assert release_expired() == 1
    assert is_off(orders)
