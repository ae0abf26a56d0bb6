"""Where a topic is not as the last verified operation on it left it."""

import pytest

from controlplane.common.problems import Conflict
from controlplane.operations.selectors import undo_of
from controlplane.operations.states import SUCCEEDED
from controlplane.topics.drift import Verified, desired_topics
from controlplane.topics.mending import ways
from controlplane.topics.selectors import topic_detail
from tests.controlplane.support import client_for, observed, reader_of_all


@pytest.fixture
def orders(world):
    made = world.run(
        "topic.create", name="orders", partitions=2, configs={"retention.ms": "86400000"}
    )
    assert made.state == SUCCEEDED
    return world


def drift(world):
    observed(world)
    path = f"/api/v1/clusters/{world.cluster.id}/topics"
    rows = client_for(world.tenant).get(path).json()["data"]
    found = {row["name"]: row["drift"] for row in rows}["orders"]
    assert topic_detail(reader_of_all(world), "orders")["drift"] == found
    return [(row["field"], row["desired"], row["observed"]) for row in found]


def test_a_topic_as_it_was_left_has_no_drift(orders):
    assert drift(orders) == []


def test_what_somebody_else_changed_is_said_with_the_operation_that_set_it(orders):
    orders.gateway.create_partitions("orders", 3)
    orders.gateway.alter_topic_configs("orders", {"retention.ms": "1000"})
    assert drift(orders) == [("partitions", "2", "3"), ("retention.ms", "86400000", "1000")]
    (row, _) = topic_detail(reader_of_all(orders), "orders")["drift"]
    assert row["operation_id"].startswith("op_")
    assert row["text"] == "partitions is 3 at the brokers; the last verified operation left 2."


def test_what_no_operation_has_set_has_no_drift(orders):
    orders.gateway.alter_topic_configs("orders", {"cleanup.policy": "compact"})
    orders.gateway.add_topic("theirs", partitions=4)
    assert drift(orders) == []
    assert topic_detail(reader_of_all(orders), "theirs")["drift"] == []


def test_the_last_operation_counts(orders):
    orders.run("topic.update", name="orders", configs={"retention.ms": None})
    orders.run("topic.partitions", name="orders", partitions=4)
    assert drift(orders) == []
    orders.gateway.alter_topic_configs("orders", {"retention.ms": "1000"})
    assert drift(orders) == [("retention.ms", None, "1000")]


def test_a_topic_that_was_deleted_and_made_by_somebody_else_has_none(orders):
    orders.run("topic.delete", name="orders")
    orders.gateway.add_topic("orders", partitions=9)
    assert drift(orders) == []


def test_after_a_reassignment_nothing_is_claimed_of_the_number_of_replicas():
    made = {"name": "orders", "partitions": 1, "replication_factor": 3, "configs": {}}
    found = desired_topics(
        [
            Verified(id="op_1", kind="topic.create", inputs=made),
            Verified(id="op_2", kind="reassignment", inputs={}),
        ]
    )
    assert (found["orders"].partitions, found["orders"].replication_factor) == (1, None)


# -- mended either way
def rows(world):
    observed(world)
    return {row["field"]: row for row in topic_detail(reader_of_all(world), "orders")["drift"]}


def run(world, way):
    return world.run(way["kind"], **way["inputs"])


def own(world):
    return world.gateway.topics["orders"].configs


@pytest.fixture
def changed(orders):
    """By somebody else: a setting and the number of partitions."""
    orders.gateway.create_partitions("orders", 3)
    orders.gateway.alter_topic_configs("orders", {"retention.ms": "1000"})
    return orders


def test_back_to_what_was_left(changed):
    row = rows(changed)["retention.ms"]
    assert row["who"]["by"] == "unknown"
    assert run(changed, row["back"]).state == SUCCEEDED
    assert own(changed)["retention.ms"] == "86400000"
    assert "retention.ms" not in rows(changed)


def test_taken_over_the_brokers_stay_as_they_are(changed, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("the brokers were changed")

    found = rows(changed)
    monkeypatch.setattr(changed.gateway, "alter_topic_configs", never)
    monkeypatch.setattr(changed.gateway, "create_partitions", never)
    for field in ("retention.ms", "partitions"):
        operation = run(changed, found[field]["adopt"])
        assert operation.state == SUCCEEDED, operation.error
        assert operation.plan.diff["before"] == operation.plan.diff["after"]
        assert undo_of(operation) is None
    assert rows(changed) == {}


def test_what_was_taken_over_is_what_drifts_from_then_on(changed):
    run(changed, rows(changed)["retention.ms"]["adopt"])
    changed.gateway.alter_topic_configs("orders", {"retention.ms": "2000"})
    row = rows(changed)["retention.ms"]
    assert (row["desired"], row["observed"]) == ("1000", "2000")


def test_a_setting_that_somebody_removed_is_taken_over_as_not_set(orders):
    orders.gateway.alter_topic_configs("orders", {"retention.ms": None})
    row = rows(orders)["retention.ms"]
    assert row["adopt"]["inputs"]["configs"] == {"retention.ms": None}
    assert run(orders, row["adopt"]).state == SUCCEEDED
    assert rows(orders) == {}


def test_partitions_have_no_way_back(changed):
    row = rows(changed)["partitions"]
    assert row["back"] is None
    assert row["back_problem"] == "Partitions can be added, never removed."
    assert row["adopt"]["inputs"] == {"name": "orders", "partitions": 3, "adopt": True}


@pytest.mark.parametrize(
    ("kind", "inputs"),
    [
        ("topic.update", {"configs": {"retention.ms": "5"}}),
        ("topic.update", {"configs": {"cleanup.policy": "compact"}}),
        ("topic.partitions", {"partitions": 4}),
        ("topic.partitions", {"partitions": 2}),
    ],
)
def test_nothing_is_taken_over_that_the_brokers_do_not_have(changed, kind, inputs):
    with pytest.raises(Conflict) as caught:
        changed.plan(kind, name="orders", adopt=True, **inputs)
    assert caught.value.code == "not-as-observed"


def test_what_changes_again_before_it_is_taken_over_makes_the_plan_stale(changed):
    way = rows(changed)["retention.ms"]["adopt"]
    plan = changed.plan(way["kind"], **way["inputs"])
    changed.gateway.alter_topic_configs("orders", {"retention.ms": "7"})
    with pytest.raises(Conflict) as caught:
        changed.start(plan)
    assert caught.value.code == "plan-stale"


def test_replicas_go_back_by_a_reassignment():
    way = ways("orders", "replication_factor", "3", "2")
    inputs = {"topics": ["orders"], "replication_factor": 3}
    assert way["back"] == {"kind": "reassignment", "inputs": inputs}
    assert way["adopt"] is None
    assert way["adopt_problem"]


def test_partitions_of_a_topic_that_was_made_again_with_fewer_are_added():
    way = ways("orders", "partitions", "6", "2")
    assert way["back"]["inputs"] == {"name": "orders", "partitions": 6}
