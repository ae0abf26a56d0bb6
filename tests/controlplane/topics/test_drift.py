"""Where a topic is not as the last verified operation on it left it."""

import pytest

from controlplane.operations.states import SUCCEEDED
from controlplane.topics.drift import Verified, desired_topics
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
