"""Another replication factor and a drained broker as operations: planned, moved, verified, undone."""

import pytest

from controlplane.common.problems import Conflict, Problem
from controlplane.gateway.errors import unreachable
from controlplane.operations.services import undo_plan_create
from tests.controlplane.support import ACTOR, drive


def replicas(world, topic="orders"):
    return [part.replicas for part in world.gateway.topics[topic].partitions]


def codes(plan):
    return [row["code"] for row in plan.impact["warnings"]]


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=4, rf=2, records=50)
    world.gateway.add_topic("other", partitions=2, rf=3, records=10)
    return world


def test_a_larger_factor_is_reached_verified_and_undone(orders):
    before = replicas(orders)
    plan = orders.plan("reassignment", topics=["orders"], replication_factor=3)
    assert plan.impact["summary"].startswith("Give 4 partitions a replication factor of 3, ")
    assert all(set(row["before"]) < set(row["after"]) for row in plan.diff["partitions"])
    assert plan.diff["balance"] is None
    operation = drive(orders.start(plan))
    assert operation.state == "succeeded"
    assert [len(row) for row in replicas(orders)] == [3] * 4
    undo = undo_plan_create(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(orders.start(undo)).state == "succeeded"
    assert replicas(orders) == before


def test_a_smaller_factor_says_what_it_costs_and_what_min_isr_makes_of_it(orders):
    plan = orders.plan("reassignment", topics=["orders"], replication_factor=1)
    found = codes(plan)
    assert "fewer-replicas" in found
    assert "below-min-isr" in found
    assert plan.confirm_phrase == "orders"
    text = next(row["text"] for row in plan.impact["warnings"] if row["code"] == "below-min-isr")
    assert text == (
        "Fewer replicas than min.insync.replicas asks for: orders. Producers with acks=all are"
        " refused there."
    )
    exactly = orders.plan("reassignment", topics=["other"], replication_factor=2)
    assert "at-min-isr" in codes(exactly)
    assert "below-min-isr" not in codes(exactly)


def test_min_isr_that_cannot_be_read_is_said_to_be_unknown(orders):
    orders.gateway.fail_next("topic_configs", unreachable("main"))
    assert "min-isr-unknown" in codes(
        orders.plan("reassignment", topics=["orders"], replication_factor=1)
    )


def test_a_factor_of_more_than_there_are_brokers_is_refused_at_its_field(orders):
    with pytest.raises(Problem) as caught:
        orders.plan("reassignment", topics=["orders"], replication_factor=5)
    assert caught.value.errors[0]["pointer"] == "/inputs/replication_factor"
    assert "there are 4" in caught.value.errors[0]["detail"]


def test_topics_that_have_the_factor_already_need_no_plan(orders):
    with pytest.raises(Conflict, match="has a replication factor of 2 already"):
        orders.plan("reassignment", topics=["orders"], replication_factor=2)


def test_a_broker_is_drained_of_every_topic_and_nothing_else_moves(orders):
    held = sum(3 in row for topic in ("orders", "other") for row in replicas(orders, topic))
    plan = orders.plan("reassignment", drain_broker=3, throttle_bytes_per_s=100_000)
    assert len(plan.diff["partitions"]) == held > 0
    assert all(3 in row["before"] and 3 not in row["after"] for row in plan.diff["partitions"])
    load = next(row for row in plan.diff["brokers"] if row["id"] == 3)
    assert (load["after_replicas"], load["after_leaders"], load["after_bytes"]) == (0, 0, 0)
    assert "off broker 3" in plan.impact["summary"]
    operation = drive(orders.start(plan))
    assert operation.state == "succeeded"
    assert all(3 not in row for topic in ("orders", "other") for row in replicas(orders, topic))
    with pytest.raises(Conflict, match="Broker 3 is empty"):
        orders.plan("reassignment", drain_broker=3)


def test_what_cannot_leave_a_drained_broker_is_named(orders):
    orders.gateway.add_topic("everywhere", partitions=1, rf=4)
    plan = orders.plan("reassignment", drain_broker=3)
    limit = next(row for row in plan.diff["limits"] if row["code"] == "no-other-broker")
    assert limit["broker"] == 3
    assert limit["text"].startswith("everywhere-0: every other live broker has a replica")


def test_a_broker_that_is_not_there_cannot_be_drained(orders):
    with pytest.raises(Problem) as caught:
        orders.plan("reassignment", drain_broker=99)
    assert caught.value.errors[0]["pointer"] == "/inputs/drain_broker"


@pytest.mark.parametrize(
    "inputs",
    [
        {"drain_broker": 1, "topics": ["orders"]},
        {"drain_broker": 1, "target_brokers": [1, 2]},
        {"replication_factor": 2},
        {"replication_factor": 2, "topics": ["orders"], "target_brokers": [1, 2]},
        {"replication_factor": 2, "topics": ["orders"], "all_topics": True},
        {"replication_factor": 2, "topics": ["orders"], "excluded_brokers": [1]},
        {"replication_factor": 0, "topics": ["orders"]},
        {"drain_broker": -1},
        {"drain_broker": 1, "replication_factor": 2},
        {},
    ],
)
def test_two_wishes_at_once_are_none(orders, inputs):
    with pytest.raises(Problem) as caught:
        orders.plan("reassignment", **inputs)
    assert caught.value.status == 422
