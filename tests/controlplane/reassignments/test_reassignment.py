import pytest
from django.utils import timezone

from controlplane.common.problems import Conflict, Problem
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.gateway.types import TP
from controlplane.operations.services import operation_cancel, undo_plan_create
from controlplane.operations.states import ACTIVE_STATES
from controlplane.reassignments import operations
from controlplane.reassignments.models import ThrottleLease
from controlplane.reassignments.operations import OTHERS_LOOKS, REFUSED_LOOKS
from controlplane.reassignments.rules import REPLICA_KEYS
from controlplane.reassignments.services import RATE_KEYS
from controlplane.reassignments.tasks import release_expired
from tests.controlplane.support import ACTOR, client_for, drive, observed, step


def replicas(world, topic="orders"):
    return [part.replicas for part in world.gateway.topics[topic].partitions]


def no_throttle(world):
    assert not any(world.gateway.broker_overrides.values())
    for topic in world.gateway.topics.values():
        assert not set(topic.configs) & set(REPLICA_KEYS)
    assert not ThrottleLease.objects.filter(released_at=None).exists()


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=4, rf=2, records=50)
    return world


def test_moves_off_a_broker_in_batches_and_verifies(orders):
    before = replicas(orders)
    plan = orders.plan(
        "reassignment",
        topics=["orders"],
        target_brokers=[1, 2, 3],
        throttle_bytes_per_s=10_000,
        batch_size=1,
    )
    touched = list(plan.diff["partitions"])
    assert plan.impact["bytes_to_move"] == sum(row["bytes"] for row in touched) > 0
    assert {row["id"] for row in plan.diff["brokers"]} == {1, 2, 3, 4}
    operation = orders.start(plan)
    drive(operation, ticks=5)
    assert orders.gateway.broker_overrides[1] == dict.fromkeys(RATE_KEYS, "10000")
    assert drive(operation).state == "succeeded"
    assert all(4 not in found for found in replicas(orders))
    assert replicas(orders) != before
    no_throttle(orders)
    assert step(operation, "move").progress_done == step(operation, "move").progress_total


def test_undo_puts_every_replica_back(orders):
    before = replicas(orders)
    operation = orders.run("reassignment", topics=["orders"], target_brokers=[1, 2, 3])
    plan = undo_plan_create(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(orders.start(plan)).state == "succeeded"
    assert replicas(orders) == before
    operation.refresh_from_db()
    assert operation.state == "reverted"


@pytest.mark.parametrize("ticks", range(1, 11))
def test_cancelled_at_any_point_everything_is_as_before(orders, ticks):
    before = replicas(orders)
    plan = orders.plan(
        "reassignment",
        topics=["orders"],
        target_brokers=[1, 2, 3],
        throttle_bytes_per_s=5_000,
        batch_size=1,
    )
    operation = drive(orders.start(plan), ticks=ticks)
    assert operation.state in ACTIVE_STATES, "cancel earlier: it has ended"
    operation_cancel(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled"
    assert replicas(orders) == before
    assert not orders.gateway.list_reassignments()
    no_throttle(orders)


def test_the_topic_of_a_cancelled_move_is_shown_as_it_is_at_once(orders):
    ask = client_for(orders.tenant).get

    def limits():
        found = ask(f"/api/v1/clusters/{orders.cluster.id}/topics/orders").json()
        set_ = [row["name"] for row in found["configs"] if not row["is_default"]]
        return [name for name in set_ if "throttled" in name]

    plan = orders.plan(
        "reassignment",
        topics=["orders"],
        target_brokers=[1, 2, 3],
        throttle_bytes_per_s=5_000,
        batch_size=1,
    )
    operation = drive(orders.start(plan), ticks=5)
    observed(orders)
    assert len(limits()) == 2
    operation_cancel(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled"
    assert limits() == []


def test_failed_in_the_middle_lifts_the_throttle_and_stops_the_rest(orders):
    plan = orders.plan(
        "reassignment",
        topics=["orders"],
        target_brokers=[1, 2, 3],
        throttle_bytes_per_s=5_000,
        batch_size=1,
    )
    operation = drive(orders.start(plan), ticks=5)
    orders.gateway.fail_next("reassign", GatewayError("CLUSTER_AUTHORIZATION_FAILED", "no"))
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "refused-by-cluster"
    assert operation.error["step"] == "move"
    assert not orders.gateway.list_reassignments()
    no_throttle(orders)


def without(world, broker):
    """The broker is not up; what brings it back."""
    node = world.gateway.brokers.pop(broker)
    return lambda: world.gateway.brokers.update({broker: node})


def begun_to_broker_3(orders):
    """Partitions move one by one; the last one to 3 has not begun."""
    moves = [
        {"topic": "orders", "partition": part, "replicas": [1, 3] if part == 3 else [1, 2]}
        for part in range(4)
    ]
    plan = orders.plan("reassignment", moves=moves, batch_size=1)
    return drive(orders.start(plan), ticks=3)


def test_moves_to_a_broker_that_is_killed_meanwhile_wait_until_it_is_back(orders):
    operation = begun_to_broker_3(orders)
    bring_back = without(orders, 3)
    drive(operation, ticks=40)
    assert operation.state in ACTIVE_STATES, operation.error
    assert "waiting for broker 3, not up" in step(operation, "move").detail
    assert replicas(orders)[:3] == [(1, 2)] * 3, "the others have gone on"
    bring_back()
    assert drive(operation).state == "succeeded"
    assert replicas(orders)[3] == (1, 3)


def test_one_that_stays_away_ends_the_move_and_says_what_stays(orders, monkeypatch):
    operation = begun_to_broker_3(orders)
    without(orders, 3)
    drive(operation, ticks=10)
    monkeypatch.setattr(operations, "AWAY_S", -1.0)
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "brokers-away"
    assert "broker 3: not up" in operation.error["detail"]


def test_a_controller_that_knows_it_first_is_asked_again_and_not_for_ever(orders):
    refused = [GatewayError("INVALID_REPLICA_ASSIGNMENT", "not alive")]
    operation = begun_to_broker_3(orders)
    orders.gateway.fail_next("reassign", *refused * REFUSED_LOOKS)
    drive(operation, ticks=REFUSED_LOOKS - 1)
    assert "refused, asked again: not alive" in step(operation, "move").detail
    assert drive(operation).state == "succeeded"
    orders.gateway.fail_next("reassign", *refused * (REFUSED_LOOKS + 1))
    back = orders.run("reassignment", topics=["orders"], target_brokers=[2, 4])
    assert back.error["kafka_error"] == "INVALID_REPLICA_ASSIGNMENT"


def test_a_foreign_move_meanwhile_fails_the_operation(orders):
    plan = orders.plan("reassignment", topics=["orders"], target_brokers=[1, 2, 3], batch_size=1)
    operation = drive(orders.start(plan), ticks=4)
    orders.gateway.topics["orders"].partitions[3].replicas = (2, 4)
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "plan-stale"


def test_one_broker_that_lags_behind_is_not_somebody_else(orders):
    """A broker may still show both replicas of a move that has ended elsewhere."""
    plan = orders.plan("reassignment", topics=["orders"], target_brokers=[1, 2, 3], batch_size=1)
    operation = drive(orders.start(plan), ticks=4)
    part = orders.gateway.topics["orders"].partitions[3]
    there, part.replicas = part.replicas, (*part.replicas, 9)
    drive(operation, ticks=OTHERS_LOOKS - 1)
    assert operation.state in ACTIVE_STATES
    part.replicas = there
    assert drive(operation).state == "succeeded"


def test_stale_when_assignment_changed_before_confirming(orders):
    plan = orders.plan("reassignment", topics=["orders"], target_brokers=[1, 2, 3])
    moved = TP(plan.diff["partitions"][0]["topic"], plan.diff["partitions"][0]["partition"])
    orders.gateway.topics["orders"].partitions[moved.partition].replicas = (1, 2)
    with pytest.raises(Conflict) as caught:
        orders.start(plan)
    assert caught.value.code == "plan-stale"


def test_growing_data_does_not_make_the_plan_stale(orders):
    plan = orders.plan("reassignment", topics=["orders"], target_brokers=[1, 2, 3])
    for part in orders.gateway.topics["orders"].partitions:
        part.log_end += 1000
    assert drive(orders.start(plan)).state == "succeeded"


def test_exact_moves_are_checked(orders):
    with pytest.raises(Problem, match="not alive"):
        orders.plan("reassignment", moves=[{"topic": "orders", "partition": 0, "replicas": [99]}])
    with pytest.raises(Problem, match="no partition 9"):
        orders.plan("reassignment", moves=[{"topic": "orders", "partition": 9, "replicas": [1]}])
    with pytest.raises(Problem, match="Give either moves"):
        orders.plan("reassignment", topics=["orders"])


def test_all_topics_are_balanced_and_new_brokers_get_leaders(world):
    for name in ("one", "other"):
        world.gateway.add_topic(name, partitions=6, rf=2, records=10)
        for part in world.gateway.topics[name].partitions:
            part.replicas = (1, 2)
    plan = world.plan("reassignment", all_topics=True, target_brokers=[1, 2, 3, 4])
    assert plan.diff["balance"]["basis"] == "bytes"
    assert plan.diff["limits"] == []
    for row in plan.diff["brokers"]:
        assert row["before_leaders"] == (12 if row["id"] == 1 else 0)
        assert row["after_leaders"] == 3
        assert row["after_bytes"] == 6_000
        assert row["after_rack_violations"] == 0
    assert drive(world.start(plan)).state == "succeeded"
    with pytest.raises(Conflict, match="No move would help"):
        world.plan("reassignment", all_topics=True, target_brokers=[1, 2, 3, 4])


def test_an_excluded_broker_keeps_what_it_has_and_gets_nothing(orders):
    held = [index for index, found in enumerate(replicas(orders)) if 4 in found]
    assert held
    orders.run("reassignment", topics=["orders"], target_brokers=[1, 2], excluded_brokers=[4])
    assert [index for index, found in enumerate(replicas(orders)) if 4 in found] == held
    assert all(3 not in found for found in replicas(orders))
    with pytest.raises(Problem, match="Broker 4 is a target too"):
        orders.plan("reassignment", topics=["orders"], target_brokers=[1, 4], excluded_brokers=[4])


def test_where_nobody_says_sizes_replicas_are_balanced_by_number(orders):
    orders.gateway.silent = {1, 2, 3, 4}
    plan = orders.plan(
        "reassignment", topics=["orders"], target_brokers=[1, 2, 3], throttle_bytes_per_s=5_000
    )
    assert plan.impact["bytes_to_move"] is plan.impact["seconds_estimated"] is None
    assert "an unknown number of bytes" in plan.impact["summary"]
    (to_copy,) = plan.impact["blast_radius"]
    assert [gap["brokers"] for gap in to_copy["unknown"]] == [[1], [2], [3], [4]]
    assert plan.diff["balance"]["basis"] == "replicas"
    assert "bytes-unknown" in [row["code"] for row in plan.diff["limits"]]
    assert all(row["before_bytes"] is None for row in plan.diff["brokers"])
    orders.gateway.silent = set()
    operation = drive(orders.start(plan))
    assert operation.state == "succeeded"
    assert step(operation, "move").unit == "partitions"
    no_throttle(orders)


def test_one_silent_broker_leaves_what_the_others_hold_known(orders):
    """It leads a partition of which others hold replicas: they still know what they hold."""
    orders.gateway.silent = {4}
    plan = orders.plan("reassignment", topics=["orders"], target_brokers=[1, 2, 3])
    assert plan.diff["balance"]["basis"] == "replicas"
    before = {row["id"]: row["before_bytes"] for row in plan.diff["brokers"]}
    assert before == {1: 10_000, 2: 10_000, 3: 10_000, 4: None}


def test_a_plan_that_leaves_something_undone_says_so(orders, monkeypatch):
    monkeypatch.setattr("controlplane.reassignments.wishes.PARTITIONS_MAX", 1)
    plan = orders.plan("reassignment", topics=["orders"], target_brokers=[1, 2])
    assert len(plan.diff["partitions"]) == 1
    assert "partitions-bound" in [row["code"] for row in plan.diff["limits"]]


def test_two_reassignments_at_once_are_refused(orders):
    orders.gateway.add_topic("other", partitions=2, rf=2)
    first = orders.plan("reassignment", topics=["orders"], target_brokers=[1, 2, 3])
    second = orders.plan("reassignment", topics=["other"], target_brokers=[1, 2])
    orders.start(first)
    with pytest.raises(Conflict) as caught:
        orders.start(second)
    assert caught.value.code == "operation-in-progress"


def test_beat_lifts_a_throttle_whose_operation_died(orders, settings):
    plan = orders.plan(
        "reassignment", topics=["orders"], target_brokers=[1, 2, 3], throttle_bytes_per_s=5_000
    )
    drive(orders.start(plan), ticks=4)
    assert ThrottleLease.objects.filter(released_at=None).exists()
    assert release_expired() == 0
    ThrottleLease.objects.update(expires_at=timezone.now())
    assert release_expired() == 1
    no_throttle(orders)


def test_a_broker_that_is_away_while_rolling_back_is_waited_for(orders):
    plan = orders.plan(
        "reassignment", topics=["orders"], target_brokers=[1, 2, 3], throttle_bytes_per_s=5_000
    )
    operation = drive(orders.start(plan), ticks=4)
    operation_cancel(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    orders.gateway.fail_next("alter_broker_configs", unreachable("x"), unreachable("x"))
    assert drive(operation).state == "cancelled"
    no_throttle(orders)


def test_a_size_that_nobody_gives_is_unknown_and_no_zero(world):
    world.gateway.add_topic("orders", partitions=4, rf=1, records=50)
    world.gateway.silent = {2}
    moves = [{"topic": "orders", "partition": part, "replicas": [4]} for part in (0, 1)]
    plan = world.plan("reassignment", moves=moves, throttle_bytes_per_s=2_048)
    assert [(row["bytes"], row["size_bytes"]) for row in plan.diff["partitions"]] == [
        (5_000, 5_000),
        (None, None),
    ]
    assert plan.impact["bytes_to_move"] is None
    assert plan.impact["seconds_estimated"] is None
    assert plan.impact["summary"] == "Move 2 partitions, at least 4.88 KiB (5000 bytes)."
    (to_copy,) = plan.impact["blast_radius"]
    assert (to_copy["value"], to_copy["at_least"], to_copy["limit"]) == (None, 5_000, None)
    assert to_copy["unknown"] == [{"reason": "broker 2 did not answer", "brokers": [2]}]
    loads = {row["id"]: row for row in plan.diff["brokers"]}
    assert (loads[1]["before_bytes"], loads[1]["after_bytes"]) == (5_000, 0)
    assert (loads[2]["before_bytes"], loads[2]["after_bytes"]) == (None, None)
    assert (loads[2]["before_replicas"], loads[2]["after_replicas"]) == (1, 0)
    assert (loads[4]["before_bytes"], loads[4]["after_bytes"]) == (5_000, None)
    said = {row["code"]: row["text"] for row in plan.impact["warnings"]}
    assert said["throttle-unknown"] == "Whether these brokers have a throttle is unknown: 2."
    assert "replica.fetch.max.bytes (1 MiB" in said["throttle-is-coarse"]


def test_a_limit_is_called_coarse_where_there_is_one(world):
    world.gateway.add_topic("orders", partitions=2, rf=1, records=50)
    moves = [{"topic": "orders", "partition": 0, "replicas": [4]}]
    codes = [
        {row["code"] for row in world.plan("reassignment", moves=moves, **more).impact["warnings"]}
        for more in ({}, {"throttle_bytes_per_s": 2_048})
    ]
    assert ["throttle-is-coarse" in found for found in codes] == [False, True]


def test_known_sizes_stay_known_while_another_broker_is_silent(world):
    world.gateway.add_topic("orders", partitions=4, rf=1, records=50)
    world.gateway.silent = {2}
    moves = [{"topic": "orders", "partition": 0, "replicas": [4]}]
    plan = world.plan("reassignment", moves=moves)
    assert plan.impact["bytes_to_move"] == 5_000


def test_what_was_planned_without_its_size_still_moves(world):
    world.gateway.add_topic("orders", partitions=4, rf=1, records=50)
    world.gateway.silent = {2}
    moves = [{"topic": "orders", "partition": 1, "replicas": [4]}]
    operation = world.start(world.plan("reassignment", moves=moves))
    world.gateway.silent = set()
    assert drive(operation).state == "succeeded"
    assert replicas(world)[1] == (4,)


def test_a_throttle_that_cannot_be_lifted_costs_one_line_a_minute(orders, redis_server, caplog):
    plan = orders.plan(
        "reassignment", topics=["orders"], target_brokers=[1, 2, 3], throttle_bytes_per_s=5_000
    )
    drive(orders.start(plan), ticks=4)
    ThrottleLease.objects.update(expires_at=timezone.now())
    orders.gateway.offline = True
    caplog.clear()
    assert [release_expired() for _ in range(4)] == [0] * 4
    assert len([row for row in caplog.records if "stays for now" in row.getMessage()]) == 1
    orders.gateway.offline = False
    assert release_expired() == 1
